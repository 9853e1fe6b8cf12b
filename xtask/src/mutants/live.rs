//! The faults of Rust code under the checker.

use super::Mutant;

/// The tests that are to catch them.
pub(super) const TESTS: &[&str] = &["hints", "livelocks", "locked_loops", "statics", "unwinding", "honest", "waiting"];

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
        original: "What::Store { at, value, .. } => Deed::Store { key: at.key, new: *value },",
        replacement: "What::Store { .. } => Deed::Neutral,",
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
        name: "data behind a lock that is restored was not changed",
        file: "crates/live/src/runtime.rs",
        original: "noted.changes_data = true;",
        replacement: "noted.changes_data = false;",
    },
    Mutant {
        name: "a loop that repeats what it changes is not held back",
        file: "crates/live/src/loops.rs",
        original: "(repeats && rounds >= bound).then_some(",
        replacement: "(false && repeats && rounds >= bound).then_some(",
    },
    Mutant {
        name: "a loop that changes data behind a lock repeats itself",
        file: "crates/live/src/loops.rs",
        original: "            && !self.noted_since(since).any(lasts)\n",
        replacement: "            && (true || !self.noted_since(since).any(lasts))\n",
    },
    Mutant {
        name: "a cycle that writes is no livelock",
        file: "crates/live/src/cycles.rs",
        original: "let recurs = self.is_livelock(first);",
        replacement: "let recurs = false && self.is_livelock(first);",
    },
    Mutant {
        name: "threads of a cycle may read what others change",
        file: "crates/live/src/cycles.rs",
        original: "accesses.iter().all(is_steady) && (0..self.threads.len())",
        replacement: "(true || accesses.iter().all(is_steady)) && (0..self.threads.len())",
    },
    Mutant {
        name: "a cycle may write what a blocked thread waits for",
        file: "crates/live/src/cycles.rs",
        original: "!failed.is_spurious && !own.loops.failed_reads(thread).any(|(key, _)| is_written(key))",
        replacement: "!failed.is_spurious && (true || !own.loops.failed_reads(thread).any(|(key, _)| is_written(key)))",
    },
    Mutant {
        name: "a cycle may count in what is not compared",
        file: "crates/live/src/cycles.rs",
        original: "self.n_effects += u64::from(noted.has_effect);",
        replacement: "self.n_effects += u64::from(noted.has_effect && false);",
    },
    Mutant {
        name: "a cycle may count behind a lock",
        file: "crates/live/src/cycles.rs",
        original: "self.balance = self.balance.wrapping_add(noted.balance);",
        replacement: "self.balance = self.balance.wrapping_add(noted.balance & 0);",
    },
    Mutant {
        name: "a cycle may count in statics",
        file: "crates/live/src/cycles.rs",
        original: "if !self.follows && !self.is_untouched_since",
        replacement: "if false && !self.is_untouched_since",
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
];
