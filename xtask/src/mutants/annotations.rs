//! The faults of the search by annotations.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "an execution agrees with an annotation if one thread does",
        file: "crates/explore/src/annotations/index.rs",
        original: "lists.iter().flatten().all(",
        replacement: "lists.iter().flatten().any(",
    },
    Mutant {
        name: "what a thread did is not in the past of its join",
        file: "crates/explore/src/annotations/pasts.rs",
        original: "join(&mut clock, self.clock_before(child, last));",
        replacement: "_ = last;",
    },
    Mutant {
        name: "nobody is asked whether it might wait for good",
        file: "crates/explore/src/annotations/changes.rs",
        original: "&& waiting.may_wait(self, id)",
        replacement: "&& false",
    },
    Mutant {
        name: "what is overwritten is thought to wait for nobody",
        file: "crates/explore/src/annotations/waiting.rs",
        original: "Source::Write(write) => other != write && overwrites(other, write),",
        replacement: "Source::Write(write) => other != write,",
    },
    Mutant {
        name: "what a write has in its past is in memory before it, whatever the model",
        file: "crates/explore/src/annotations/waiting.rs",
        original: "changes.keeps_stores || !store.is_store()",
        replacement: "true || changes.keeps_stores || !store.is_store()",
    },
    Mutant {
        name: "the past of a write is not kept",
        file: "crates/explore/src/annotations/changes.rs",
        original: "join(&mut counts, self.pasts.clock(write));",
        replacement: "_ = write;",
    },
    Mutant {
        name: "an update that would write is taken for one that does not",
        file: "crates/explore/src/annotations/planning.rs",
        original: "let is_alike = (outcome.kind, outcome.written.is_some()) == (event.kind, event.written.is_some());",
        replacement: "let is_alike = true;",
    },
    Mutant {
        name: "alternatives are not annotated",
        file: "crates/explore/src/annotations/changes.rs",
        original: "filter(|&taken| event.read != Some(taken.into()))",
        replacement: "filter(|_| false)",
    },
    Mutant {
        name: "the end is not looked for in another order",
        file: "crates/explore/src/annotations/ending.rs",
        original: "Answer::Possible(steps) => return End::Otherwise(steps),",
        replacement: "Answer::Possible(_) => {}",
    },
];
