//! The faults of the search by annotations.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "an execution agrees with an annotation if one thread does",
        item: "rf::Index::agreeing",
        original: "lists.iter().flatten().all(|list| list.binary_search(number).is_ok())",
        replacement: "lists.iter().flatten().any(|list| list.binary_search(number).is_ok())",
    },
    Mutant {
        name: "what a thread did is not in the past of its join",
        item: "rf::Pasts::add",
        original: "join(&mut clock, self.clock_before(child, last));",
        replacement: "_ = last;",
    },
    Mutant {
        name: "nobody is asked whether it might wait for good",
        item: "rf::Changes::of",
        original: "&& waiting.may_wait(self, id)",
        replacement: "&& false",
    },
    Mutant {
        name: "what is overwritten is thought to wait for nobody",
        item: "rf::Waiting::may_be_missing_or_early",
        original: "Source::Write(write) => other != write && overwrites(other, write),",
        replacement: "Source::Write(write) => other != write,",
    },
    Mutant {
        name: "what a write has in its past is in memory before it, whatever the model",
        item: "rf::waiting::overwrites",
        original: "changes.keeps_stores || !store.is_store()",
        replacement: "true || changes.keeps_stores || !store.is_store()",
    },
    Mutant {
        name: "the past of a write is not kept",
        item: "rf::Changes::change",
        original: "join(&mut counts, self.pasts.clock(write));",
        replacement: "_ = write;",
    },
    Mutant {
        name: "an update that would write is taken for one that does not",
        item: "rf::Planner::ask",
        original: "let is_alike = (outcome.kind, outcome.written.is_some()) == (event.kind, event.written.is_some());",
        replacement: "let is_alike = true;",
    },
    Mutant {
        name: "alternatives are not annotated",
        item: "rf::Changes::of",
        original: "filter(|&taken| event.read != Some(taken.into()))",
        replacement: "filter(|_| false)",
    },
    Mutant {
        name: "the end is not looked for in another order",
        item: "rf::ending::find",
        original: "Answer::Possible(steps) => return End::Otherwise(steps),",
        replacement: "Answer::Possible(_) => {}",
    },
];
