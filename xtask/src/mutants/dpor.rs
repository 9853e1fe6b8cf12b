//! The faults of dynamic partial-order reduction.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a revisit gives up what is not as by default",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "if !self.is_by_default(slot, past, &mut newest) {",
        replacement: "if false {",
    },
    Mutant {
        name: "what is given up is judged without the past of the write",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "self.node(other).stamp <= node.stamp || past.has(other);",
        replacement: "self.node(other).stamp <= node.stamp;",
    },
    Mutant {
        name: "a write that others read is given up",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: " && !node.readers.iter().any(known)",
        replacement: "",
    },
    Mutant {
        name: "a look in vain is given up whatever came of it",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "Role::Vain => node.source == NONE || known(node.source),",
        replacement: "Role::Vain => true,",
    },
    Mutant {
        name: "after a look in vain the same is looked at again",
        file: "crates/explore/src/dpor/listing.rs",
        original: "is_new &= Some(write) != looked;",
        replacement: "is_new |= Some(write) != looked;",
    },
    Mutant {
        name: "a look in vain comes before what is written next",
        file: "crates/explore/src/dpor/graph.rs",
        original: "if self.node(slot).role == Role::Vain {",
        replacement: "if false {",
    },
    Mutant {
        name: "nobody looks at what was there before, in vain or not",
        file: "crates/explore/src/dpor/walk/tasks.rs",
        original: "self.threads().find_map(|thread| self.look_of(thread))",
        replacement: "self.threads().find_map(|thread| self.look_of(thread).filter(|_| false))",
    },
    Mutant {
        name: "any alternative of a choice is the default",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "Role::Choice(alternative) => alternative == 0,",
        replacement: "Role::Choice(_) => true,",
    },
    Mutant {
        name: "only the newest read is revisited",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "reads.remove(slot);",
        replacement: "reads = Bits::EMPTY;",
    },
    Mutant {
        name: "a revisit keeps only the past of the write",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: ".for_each(|&slot| kept.insert(slot));",
        replacement: ".for_each(|_| {});",
    },
    Mutant {
        name: "two read-modify-writes read from one write",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "follower != NONE && self.node(follower).role == Role::UpdateWrite",
        replacement: "false",
    },
    Mutant {
        name: "a read overlooks the stores of its own thread",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "write == NONE || thread == Some(self.node(write).thread) || past.has(write)",
        replacement: "write == NONE || past.has(write)",
    },
    Mutant {
        name: "only the newest writes can be read",
        file: "crates/explore/src/dpor/alternatives.rs",
        original: "if write == NONE || thread == Some(",
        replacement: "if true || thread == Some(",
    },
    Mutant {
        name: "a write does not come before the one that it is put before",
        file: "crates/explore/src/dpor/graph.rs",
        original: "follower.order.insert(slot);",
        replacement: "let _ = follower;",
    },
    Mutant {
        name: "a read does not come before the write that overwrites what it read",
        file: "crates/explore/src/dpor/graph.rs",
        original: "self.nodes[follower as usize].order.insert(slot);",
        replacement: "let _ = follower;",
    },
    Mutant {
        name: "a write does not come after the readers of the one before it",
        file: "crates/explore/src/dpor/graph.rs",
        original: "node.co_after = follower;\n        node.order |= readers;",
        replacement: "node.co_after = follower;\n        let _ = readers;",
    },
    Mutant {
        name: "a part of a graph forgets the order of its writes",
        file: "crates/explore/src/dpor/graph.rs",
        original: "node.co_before = previous;\n                node.order |= readers;",
        replacement: "node.co_before = previous;\n                let _ = readers;",
    },
    Mutant {
        name: "a spawned thread may run before it is spawned",
        file: "crates/explore/src/dpor/graph.rs",
        original: "(NONE, spawn) => Progress { floor: Bits::one(spawn), ..Progress::START },",
        replacement: "(NONE, _) => Progress::START,",
    },
    Mutant {
        name: "a SeqCst store does not hold back what comes later",
        file: "crates/explore/src/dpor/walk/events.rs",
        original: "if added.access.order == Order::SeqCst {",
        replacement: "if false {",
    },
    Mutant {
        name: "stores of a thread reach memory in any order",
        file: "crates/explore/src/dpor/listing.rs",
        original: "if M::keeps_order(self.graph.node(store).access, access) {",
        replacement: "if false {",
    },
    Mutant {
        name: "a fence waits for nothing",
        file: "crates/explore/src/dpor/walk/events.rs",
        original: "Op::Fence { order: Order::SeqCst } => progress.pending,",
        replacement: "Op::Fence { order: Order::SeqCst } => Bits::EMPTY,",
    },
    Mutant {
        name: "a join does not wait for the buffer",
        file: "crates/explore/src/dpor/walk/events.rs",
        original: "before |= floor | pending;",
        replacement: "before |= floor;",
    },
    Mutant {
        name: "a barrier is passed and not counted",
        file: "crates/explore/src/dpor/walk/events.rs",
        original: "epoch: progress.epoch + u32::from(passes_barrier),",
        replacement: "epoch: progress.epoch + u32::from(passes_barrier) * 0,",
    },
    Mutant {
        name: "a load waits until its own store is in memory",
        file: "crates/explore/src/dpor/walk/events.rs",
        original: "if source_node.thread != thread {",
        replacement: "if true {",
    },
    Mutant {
        name: "the second of two rivals is not tried",
        file: "crates/explore/src/dpor/listing.rs",
        original: "can_be_revisited |= read == rival",
        replacement: "can_be_revisited &= read == rival",
    },
    Mutant {
        name: "a write is given to no waiting thread while others may write",
        file: "crates/explore/src/dpor/listing.rs",
        original: "if self.threads().any(|other| other != thread && other != waiting && self.subject.may_write(other)) {",
        replacement: "if false {",
    },
    Mutant {
        name: "a write given to a read may come between a read-modify-write and its source",
        file: "crates/explore/src/dpor/listing.rs",
        original: "                && !graph.is_updated(write, loc)\n",
        replacement: "                && (true || !graph.is_updated(write, loc))\n",
    },
    Mutant {
        name: "a thread waits although it could go on",
        file: "crates/explore/src/dpor/leaf.rs",
        original: "self.graph.cell(node.loc()).newest == node.source",
        replacement: "true",
    },
    Mutant {
        name: "a pending store is forgotten for one after a barrier",
        file: "crates/memory/src/event.rs",
        original: "self.loc == other.loc && self.epoch == other.epoch",
        replacement: "self.loc == other.loc",
    },
];
