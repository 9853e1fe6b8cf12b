//! The faults of Rust code under the checker.

use super::Mutant;

/// The tests that are to catch them.
pub(super) const TESTS: &[&str] = &[
    "hints",
    "locked_loops",
    "statics",
    "unwinding",
    "honest",
    "waiting",
    "memory",
    "memory_corpus",
    "memory_creation",
    "memory_property",
];

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "what an iteration writes into the stacks of other threads does not count",
        file: "crates/live/src/waiting.rs",
        original: "unsafe { self.surroundings.add(range) };\n            }\n        }\n        for range in &*self.execution.values",
        replacement: "_ = range;\n            }\n        }\n        for range in &*self.execution.values",
    },
    Mutant {
        name: "a loop that counts in a static waits",
        file: "crates/live/src/waiting.rs",
        original: "if is_time { Watches::Everything } else { Watches::Stacks }",
        replacement: "if is_time { Watches::Stacks } else { Watches::Stacks }",
    },
    Mutant {
        name: "the own state of a thread is always the same",
        file: "crates/live/src/waiting.rs",
        original: "self.own = OwnState { of, hash: hash(words) };",
        replacement: "self.own = OwnState { of, hash: words.len() as u64 & 0 };",
    },
    Mutant {
        name: "a store has no lasting effect",
        file: "crates/live/src/waiting.rs",
        original: "What::Store { .. } | What::Spawn { .. } | What::Join { .. } | What::Fail(_) => Deed::Lasting,",
        replacement: "What::Store { .. } => Deed::Neutral,\n        What::Spawn { .. } | What::Join { .. } | What::Fail(_) => Deed::Lasting,",
    },
    Mutant {
        name: "what an iteration changes it need not restore",
        file: "crates/live/src/loops.rs",
        original: "written.iter().all(|(_, first, last, _)| first == last).then_some(restores)",
        replacement: "Some(restores)",
    },
    Mutant {
        name: "what an iteration restores may have been seen",
        file: "crates/live/src/loops.rs",
        original: "let is_seen = iteration.restores && head.is_observed;",
        replacement: "let is_seen = iteration.restores && head.is_observed && false;",
    },
    Mutant {
        name: "data that is not atomic is accessed once in a loop",
        file: "crates/live/src/loops.rs",
        original: "if is_to_repeat && !self.repeats(since, thread) {",
        replacement: "if false && is_to_repeat && !self.repeats(since, thread) {",
    },
    Mutant {
        name: "a loop that is held back leaves nothing out",
        file: "crates/live/src/runtime.rs",
        original: "self.ledger.note_bounded(place, bound);",
        replacement: "_ = (place, bound);",
    },
    Mutant {
        name: "a thread in a failed await is blocked forever whatever it read",
        file: "crates/explore/src/dpor/failed_await.rs",
        original: "!node.role.is_read() || is_own || {",
        replacement: "true || !node.role.is_read() || is_own || {",
    },
    Mutant {
        name: "an iteration that failed spuriously is repeated forever",
        file: "crates/explore/src/dpor/failed_await.rs",
        original: "if failed.is_spurious || !self.iteration(thread, failed)",
        replacement: "if !self.iteration(thread, failed)",
    },
    Mutant {
        name: "statics are those of the execution before",
        file: "crates/live/src/statics.rs",
        original: "copy.flatten().unwrap_or(original)",
        replacement: "copy.flatten().map_or(original, |_| original)",
    },
    Mutant {
        name: "a thread that stops while it unwinds lets all threads panic",
        file: "crates/live/src/unwinding.rs",
        original: "Ok(Panics(unsafe { count.replace(0) }))",
        replacement: "Ok(Panics(unsafe { count.read() }))",
    },
    Mutant {
        name: "a model in which nothing is checked passes",
        file: "crates/teetotal/src/model/conclusion.rs",
        original: "if !report.has_operations {",
        replacement: "if !report.has_operations && false {",
    },
    Mutant {
        name: "a bound that was not set is chosen",
        file: "crates/teetotal/src/model/conclusion.rs",
        original: "StopReason::Turns => builder.fairness_bound.is_some() || builder.preemption_bound.is_some(),",
        replacement: "StopReason::Turns => true,",
    },
    Mutant {
        name: "a search that is resumed forgets which loops were held back",
        file: "crates/teetotal/src/model/checkpoint.rs",
        original: "ledger.take_over(&bounded, &assumed, is_spurious);",
        replacement: "ledger.take_over(&[], &assumed, is_spurious); drop(bounded);",
    },
    Mutant {
        name: "a freed block is given out again at once",
        file: "crates/live/src/heap.rs",
        original: "if !is_shared && !block.stays() {",
        replacement: "if true {",
    },
    Mutant {
        name: "a freed block that others know of is not filled with poison",
        file: "crates/live/src/heap.rs",
        original: "unsafe { poison::fill(block.start, block.size) };\n                let Some(thread)",
        replacement: "let Some(thread)",
    },
    Mutant {
        name: "who made a block does not count",
        file: "crates/live/src/lifetimes.rs",
        original: "races.create(owner, born, key);",
        replacement: "_ = (&mut races, owner, born, key);",
    },
    Mutant {
        name: "a free is no access",
        file: "crates/live/src/lifetimes.rs",
        original: "self.heap.keys_in(id).into_iter().find_map(|key| races.rival(thread, key))",
        replacement: "self.heap.keys_in(id).into_iter().find_map(|key| races.rival(thread, key)).filter(|_| false)",
    },
    Mutant {
        name: "a free need not know the allocation",
        file: "crates/live/src/lifetimes.rs",
        original: "&& !execution.knows_allocation(thread, id)",
        replacement: "&& !execution.knows_allocation(thread, id)\n        && false",
    },
    Mutant {
        name: "a second free is none",
        file: "crates/live/src/heap.rs",
        original: "return Freed::Twice(id);",
        replacement: "return Freed::Unknown;",
    },
    Mutant {
        name: "an access that comes after a free is not looked for",
        file: "crates/live/src/subject.rs",
        original: "if self.execution.heap.take_freed() {",
        replacement: "if self.execution.heap.take_freed() && false {",
    },
    Mutant {
        name: "a freed block is never reused",
        file: "crates/live/src/reuse.rs",
        original: "if choices.is_empty() {",
        replacement: "if choices.is_empty() || true {",
    },
    Mutant {
        name: "only the last freed block is reused",
        file: "crates/live/src/heap.rs",
        original: "lane.given_up.iter().rev().filter(fits).map(",
        replacement: "lane.given_up.iter().rev().filter(fits).take(1).map(",
    },
    Mutant {
        name: "a block that another thread has freed is not reused",
        file: "crates/live/src/reuse.rs",
        original: "self.open.iter().filter(move |free| free.thread != thread && free.class == class).copied()",
        replacement: "self.open.iter().filter(move |free| free.thread != thread && free.class == class && false).copied()",
    },
    Mutant {
        name: "a lock need not be known to be there",
        file: "crates/live/src/subject.rs",
        original: "false => races.unknown_creation(thread, cell.key, request.place, kind),",
        replacement: "false => races.unknown_creation(thread, cell.key, request.place, kind).filter(|_| false),",
    },
    Mutant {
        name: "an address that was read is known to no other thread",
        file: "crates/live/src/subject.rs",
        original: "publish(answer);\n            publish(new);",
        replacement: "publish(new);",
    },
    Mutant {
        name: "a block that is left is no leak",
        file: "crates/live/src/subject.rs",
        original: "if self.setup.leaks {",
        replacement: "if self.setup.leaks && false {",
    },
    Mutant {
        name: "an address that is published after its free is given out again",
        file: "crates/live/src/heap.rs",
        original: "if !block.is_live\n                && let Some(at)",
        replacement: "if false\n                && let Some(at)",
    },
];
