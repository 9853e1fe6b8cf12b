//! The faults of dynamic partial-order reduction.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a revisit gives up what is not as by default",
        item: "dpor::Graph::backward_revisits",
        original: "if !self.is_maximal(slot, prefix, maximal) {",
        replacement: "if false && !self.is_maximal(slot, prefix, maximal) {",
    },
    Mutant {
        name: "what is given up is judged without the past of the write",
        item: "dpor::Graph::is_maximal",
        original: "self.node(other).stamp <= node.stamp || prefix.has(other);",
        replacement: "self.node(other).stamp <= node.stamp;",
    },
    Mutant {
        name: "a write that others read is given up",
        item: "dpor::Graph::is_maximal",
        original: " && !node.readers.iter().any(is_previous)",
        replacement: "",
    },
    Mutant {
        name: "a look in vain is given up whatever came of it",
        item: "dpor::Graph::is_maximal",
        original: "Role::Retried => node.source == NONE || is_previous(node.source),",
        replacement: "Role::Retried => true,",
    },
    Mutant {
        name: "after a look in vain the same is looked at again",
        item: "dpor::Walk::list_sources",
        original: "is_new &= Some(write) != last_tried;",
        replacement: "is_new |= Some(write) != last_tried;",
    },
    Mutant {
        name: "a look in vain comes before what is written next",
        item: "dpor::Graph::link_read",
        original: "if self.node(slot).role == Role::Retried {",
        replacement: "if false {",
    },
    Mutant {
        name: "nobody looks at what was there before, in vain or not",
        item: "dpor::Walk::next_task",
        original: "self.threads().find_map(|thread| self.retry_of(thread))",
        replacement: "self.threads().find_map(|thread| self.retry_of(thread).filter(|_| false))",
    },
    Mutant {
        name: "any alternative of a choice is the default",
        item: "dpor::Graph::is_maximal",
        original: "Role::Choice(alternative) => alternative == 0,",
        replacement: "Role::Choice(_) => true,",
    },
    Mutant {
        name: "only the newest read is revisited",
        item: "dpor::Graph::backward_revisits",
        original: "reads.remove(slot);",
        replacement: "reads = Bits::EMPTY;",
    },
    Mutant {
        name: "a revisit keeps only the past of the write",
        item: "dpor::Graph::restriction",
        original: ".for_each(|&slot| kept.insert(slot));",
        replacement: ".for_each(|_| {});",
    },
    Mutant {
        name: "two read-modify-writes read from one write",
        item: "dpor::Graph::is_updated",
        original: "follower != NONE && self.node(follower).role == Role::UpdateWrite",
        replacement: "false",
    },
    Mutant {
        name: "a read overlooks the stores of its own thread",
        item: "dpor::Graph::newest_writes",
        original: "write == NONE || thread == Some(self.node(write).thread) || before.has(write)",
        replacement: "write == NONE || before.has(write)",
    },
    Mutant {
        name: "only the newest writes can be read",
        item: "dpor::Graph::newest_writes",
        original: "if write == NONE || thread == Some(",
        replacement: "if true || thread == Some(",
    },
    Mutant {
        name: "a write does not come before the one that it is put before",
        item: "dpor::StoreBuffers::insert_before",
        original: "graph.node_mut(overwriter).label.order.insert(slot);",
        replacement: "if graph.node(slot).role.is_read() { graph.node_mut(overwriter).label.order.insert(slot); }",
    },
    Mutant {
        name: "a read does not come before the write that overwrites what it read",
        item: "dpor::StoreBuffers::insert_before",
        original: "graph.node_mut(overwriter).label.order.insert(slot);",
        replacement: "if graph.node(slot).role.is_write() { graph.node_mut(overwriter).label.order.insert(slot); }",
    },
    Mutant {
        name: "a write does not come after the readers of the one before it",
        item: "dpor::StoreBuffers::place_after",
        original: "*order |= readers;",
        replacement: "let _ = readers;",
    },
    Mutant {
        name: "a part of a graph forgets the order of its writes",
        item: "dpor::Graph::close_gaps",
        original: "C::place_after(self, write, previous);",
        replacement: "let _ = previous;",
    },
    Mutant {
        name: "a spawned thread may run before it is spawned",
        item: "dpor::StoreBuffers::view_after_spawn",
        original: "Progress { floor: Bits::one(spawn), ..Progress::default() }",
        replacement: "Progress { floor: Bits::one(spawn) & Bits::EMPTY, ..Progress::default() }",
    },
    Mutant {
        name: "a SeqCst store does not hold back what comes later",
        item: "dpor::StoreBuffers::view_after_write",
        original: "if write.access.order == Order::SeqCst {",
        replacement: "if false {",
    },
    Mutant {
        name: "stores of a thread reach memory in any order",
        item: "dpor::StoreBuffers::held_back",
        original: "if (graph.rules.keeps_order)(graph.node(store).access, access) {",
        replacement: "if false {",
    },
    Mutant {
        name: "a fence waits for nothing",
        item: "dpor::StoreBuffers::label_other",
        original: "Op::Fence { order: Order::SeqCst } => view.pending,",
        replacement: "Op::Fence { order: Order::SeqCst } => Bits::EMPTY,",
    },
    Mutant {
        name: "a join does not wait for the buffer",
        item: "dpor::StoreBuffers::label_other",
        original: "order |= floor | pending;",
        replacement: "order |= floor;",
    },
    Mutant {
        name: "a barrier is passed and not counted",
        item: "dpor::StoreBuffers::label_other",
        original: "epoch: view.epoch + u32::from(passes_barrier),",
        replacement: "epoch: view.epoch + u32::from(passes_barrier) * 0,",
    },
    Mutant {
        name: "a load waits until its own store is in memory",
        item: "dpor::StoreBuffers::label_read",
        original: "kind != ReadKind::Retried && graph.node(source).thread != node.thread",
        replacement: "kind != ReadKind::Retried",
    },
    Mutant {
        name: "the second of two rivals is not tried",
        item: "dpor::Walk::list_sources",
        original: "can_be_revisited |= read == rival",
        replacement: "can_be_revisited &= read == rival",
    },
    Mutant {
        name: "a write is given to no waiting thread while others may write",
        item: "dpor::Walk::drop_blocked",
        original: "if self.threads().any(|other| other != thread && other != waiting && self.subject.may_write(other)) {",
        replacement: "if false {",
    },
    Mutant {
        name: "a write given to a read may come between a read-modify-write and its source",
        item: "dpor::Walk::list_revisit_places",
        original: "                && !graph.is_updated(write, loc)\n",
        replacement: "                && (true || !graph.is_updated(write, loc))\n",
    },
    Mutant {
        name: "a thread waits although it could go on",
        item: "dpor::Walk::waits_forever",
        original: "self.graph.location(node.loc()).newest == node.source",
        replacement: "true",
    },
    Mutant {
        name: "a pending store is forgotten for one after a barrier",
        item: "memory::Access::is_like",
        original: "self.loc == other.loc && self.epoch == other.epoch",
        replacement: "self.loc == other.loc",
    },
];
