//! Faults in what decides robustness.

use super::Mutant;

/// To be planted one at a time.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a forwarded store counts as forced",
        item: "judge::Borderline::load",
        original: "write.thread as usize == thread && may_forward;",
        replacement: "write.thread != write.thread && may_forward;",
    },
    Mutant {
        name: "whatever waits for a barrier forces every store",
        item: "judge::Borderline::force",
        original: "Waits::Barrier => (&self.barred, self.progress[thread].barrier),",
        replacement: "Waits::Barrier => (&self.stores, index),",
    },
    Mutant {
        name: "only the newest write of all is looked at",
        item: "judge::Borderline::overtaken_write",
        original: "let position = writes.partition_point(|write| write.is_in(past));",
        replacement: "let position = 0_usize;",
    },
    Mutant {
        name: "a thread that waits for good is not looked at",
        item: "judge::Robustness::end",
        original: "delays.map(Finding::NotRobust).collect()",
        replacement: "delays.take(0).map(Finding::NotRobust).collect()",
    },
    Mutant {
        name: "Sober takes the stamp of a store that is forwarded",
        item: "judge::Sober::load",
        original: "if !forwards {",
        replacement: "if !forwards || forwards {",
    },
    Mutant {
        name: "the guess is given up at every update of PSO",
        item: "robustness::Guess::forces",
        original: "Waits::Barrier => self.is(thread, BARRED),",
        replacement: "Waits::Barrier => self.is(thread, STORED),",
    },
    Mutant {
        name: "the guess does not see what a read comes before",
        item: "robustness::Guess::order",
        original: "if event.is_write() { ACCESS_AFTER } else { WRITE_AFTER }",
        replacement: "WRITE_AFTER",
    },
    Mutant {
        name: "an execution that is discarded counts against robustness",
        item: "robustness::Looked::end",
        original: "ending != Ending::Discarded && ",
        replacement: "",
    },
    Mutant {
        name: "a graph with a store that its own thread has read is passed over",
        item: "dpor::Graph::is_taken",
        original: "self.node(reader).thread != thread ||",
        replacement: "self.node(reader).thread == thread ||",
    },
    Mutant {
        name: "a graph is passed over although a later store is still pending",
        item: "dpor::Graph::later_stores",
        original: "if waits {\n                    stores.insert(slot);",
        replacement: "if waits {\n                    return None;",
    },
    Mutant {
        name: "what follows a SeqCst store of a graph does not wait for it",
        item: "dpor::Graph::later_stores",
        original: "is_store && is_followed && later.access.order",
        replacement: "is_store && !is_followed && later.access.order",
    },
    Mutant {
        name: "an access of a graph does not wait for stores of its own thread",
        item: "dpor::Graph::is_forced",
        original: "let is_awaited = self.node(store).thread == access.thread &&",
        replacement: "let is_awaited = self.node(store).thread != access.thread &&",
    },
    Mutant {
        name: "no cycle between undivided sections counts",
        item: "robustness::Orders::update",
        original: "step(precedence, false).is_ok()",
        replacement: "step(precedence, false).is_ok() || true",
    },
    Mutant {
        name: "a trace of SC is recognized whatever its coherence order",
        item: "robustness::is_in",
        original: "&& position(trace) == position(prefix)",
        replacement: "",
    },
];
