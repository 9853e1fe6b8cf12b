//! The events that the walk adds.

use teetotal_program::{Op, Order, Status, ThreadId, Value};

use super::super::answer::{Answer, answer, idle};
use super::super::bits::Bits;
use super::super::consistency::{Consistency, ReadKind};
use super::super::graph::{NONE, Node, Role, Slot};
use super::{Rewindable, Walk};

/// What a write is about to be.
#[derive(Clone, Copy)]
pub(crate) struct Write<C: Consistency, const N: usize> {
    pub(crate) node: Node<C, N>,
    /// The only write it may follow, if it completes a read-modify-write.
    pub(crate) source: Option<Slot>,
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// The write that `thread` is about to add; its view is that before it.
    pub(crate) fn write_of(&self, thread: ThreadId) -> Write<C, N> {
        let events = self.graph.events(thread);
        let view = self.graph.view(thread);
        let porf = self.graph.porf_prefix_after(events.last, events);
        if events.last != NONE && self.graph.node(events.last).role == Role::UpdateRead {
            let read = self.graph.node(events.last);
            let mut node = Node::blank(thread, read.place, Role::UpdateWrite, read.access);
            node.written = read.written;
            node.porf = porf;
            node.label = C::label_write(&self.graph, &view, &node);
            node.view = view;
            return Write { node, source: Some(read.source) };
        }
        let Status::Ready(Op::Store { loc, value, order }) = self.subject.status(thread) else {
            unreachable!("thread {thread} is at a store")
        };
        let access = C::access(&view, Some(loc), order);
        let mut node = Node::blank(thread, self.subject.place(thread), Role::Store, access);
        node.written = value;
        node.porf = porf;
        node.label = C::label_write(&self.graph, &view, &node);
        node.view = view;
        Write { node, source: None }
    }

    /// Keeps the state of a thread after its newest node.
    pub(super) fn keep_state(&mut self, thread: ThreadId) {
        if S::RUNS_AGAIN {
            return;
        }
        let slot = self.graph.events(thread).last;
        self.subject.save_thread(thread, self.graph.state_mut(slot));
    }

    /// Makes `slot`, the newest of its thread and at `op`, a read of `source`, and lets the thread go on if it may.
    pub(super) fn read(&mut self, slot: Slot, op: Op, source: Slot) {
        let Node { thread, before, .. } = *self.graph.node(slot);
        let events = self.graph.events(thread);
        let loc = self.graph.node(slot).loc();
        let value = self.graph.value_of(source, loc);
        let answer = answer(&self.subject, self.graph.rules, thread, op, value);
        let order = C::order_of_read(op, self.reading(thread, op).order, answer);
        self.graph.node_mut(slot).access.order = order;
        let is_retried = answer == Answer::Blocked && self.subject.waits_for_updates(thread);
        let kind = if is_retried { ReadKind::Retried } else { answer.kind() };
        let mut porf = self.graph.porf_prefix_after(before, events);
        porf.insert(slot);
        if source != NONE && !is_retried {
            porf |= self.graph.node(source).porf;
        }
        let view = self.graph.view_after(before, events);
        let (label, view) = C::label_read(&self.graph, slot, &view, source, kind);
        let node = self.graph.node_mut(slot);
        node.waits = matches!(op, Op::Lock { .. } | Op::Await { .. });
        node.role = match answer {
            Answer::Load(_) | Answer::Failed => Role::Read,
            Answer::Blocked if is_retried => Role::Retried,
            Answer::Blocked => Role::Blocked,
            Answer::Updated(_) => Role::UpdateRead,
        };
        node.idle = idle(op);
        node.read = value;
        node.written = if let Answer::Updated(written) = answer { written } else { 0 };
        node.porf = porf;
        node.label = label;
        node.view = view;
        self.graph.link_read(slot, source);
        C::added(&mut self.graph, slot);
        self.is_inconsistent |= !C::is_consistent(&self.graph, slot);
        // Code of users never runs in a graph that the model does not have.
        if !self.is_inconsistent && matches!(answer, Answer::Load(_) | Answer::Failed) {
            self.subject.reads_from(thread, self.graph.writer(source));
            self.subject.resume(thread, &[value]);
            self.note_failed_await(thread);
        }
        self.keep_state(thread);
    }

    /// Adds the write that `thread` is about to add, after `previous`.
    pub(super) fn write(&mut self, thread: ThreadId, previous: Slot) -> Slot {
        let Write { node, source } = self.write_of(thread);
        debug_assert!(
            source.is_some() || !self.is_retried_at(node.loc()),
            "thread {thread} stores where another waits for an update"
        );
        let slot = self.graph.add(node);
        let view = C::view_after_write(&self.graph, slot, node.view);
        let added = self.graph.node_mut(slot);
        added.porf.insert(slot);
        added.view = view;
        self.graph.link_write(slot, previous);
        C::added(&mut self.graph, slot);
        self.is_inconsistent |= !C::is_consistent(&self.graph, slot);
        if self.is_inconsistent {
            return slot;
        }
        match source {
            Some(source) => {
                let read = self.graph.node(self.graph.node(slot).before).read;
                self.subject.reads_from(thread, self.graph.writer(source));
                self.subject.resume(thread, &[read]);
            }
            None => self.subject.resume(thread, &[]),
        }
        self.note_failed_await(thread);
        self.keep_state(thread);
        slot
    }

    /// Adds an event that accesses no location.
    pub(super) fn add_other(&mut self, thread: ThreadId, op: Op, chosen: u32) -> Slot {
        let view = self.graph.view(thread);
        let events = self.graph.events(thread);
        let mut porf = self.graph.porf_prefix_after(events.last, events);
        let (role, order) = match op {
            Op::Choose { .. } => (Role::Choice(chosen), Order::Plain),
            Op::Fence { order } => (Role::Fence, order),
            Op::Spawn { order, .. } => (Role::Spawn, order),
            Op::Join { thread: child, order } => (Role::Join(child), order),
            _ => (Role::Other, Order::SeqCst),
        };
        if let Op::Join { thread: child, .. } = op {
            let ended = self.graph.events(child);
            porf |= self.graph.porf_prefix_after(ended.last, ended);
        }
        let rests = self.subject.rests(thread).is_some();
        let mut after = Bits::EMPTY;
        if rests {
            // Whatever was done, but not what waits, comes before.
            let waits = |slot: Slot| matches!(self.graph.node(slot).role, Role::Blocked | Role::Retried);
            self.graph.added.iter().filter(|&&slot| !waits(slot)).for_each(|&slot| after.insert(slot));
            porf |= after;
        }
        let access = C::access(&view, None, order);
        let slot = self.graph.add(Node::blank(thread, self.subject.place(thread), role, access));
        porf.insert(slot);
        let (label, view) = C::label_other(&self.graph, slot, &view, op, after);
        let node = self.graph.node_mut(slot);
        node.waits = matches!(op, Op::Join { .. }) || rests;
        node.porf = porf;
        node.label = label;
        node.view = view;
        C::added(&mut self.graph, slot);
        let answer = [Value::from(chosen)];
        self.subject.resume(thread, if matches!(op, Op::Choose { .. }) { &answer } else { &[] });
        self.note_failed_await(thread);
        self.keep_state(thread);
        if let Op::Spawn { thread: child, .. } = op {
            self.graph.set_spawn(child, slot);
        }
        slot
    }
}
