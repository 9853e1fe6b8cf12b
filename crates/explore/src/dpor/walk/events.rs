//! The events that the walk adds, each with what it is ordered after.

use teetotal_memory::{Access, Model};
use teetotal_program::{Op, Order, Status, ThreadId, Value};

use super::super::answer::{Answer, answer, idle};
use super::super::bits::Bits;
use super::super::graph::{NONE, Node, Progress, Role, Slot};
use super::{Rewindable, Walk};

/// What a write is about to be.
#[derive(Clone, Copy)]
pub(in crate::dpor) struct Write<const N: usize> {
    pub(in crate::dpor) node: Node<N>,
    /// The only write it may follow, if it completes a read-modify-write.
    pub(in crate::dpor) source: Option<Slot>,
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// The node of the write that `thread` is about to add.
    pub(in crate::dpor) fn write_of_thread(&self, thread: ThreadId) -> Node<N> {
        self.write_of(thread).node
    }

    /// The write that `thread` is about to add.
    pub(in crate::dpor) fn write_of(&self, thread: ThreadId) -> Write<N> {
        let strand = self.graph.strand(thread);
        let progress = self.graph.progress(thread);
        let past = self.graph.past_after(strand.last, strand);
        if strand.last != NONE && self.graph.node(strand.last).role == Role::UpdateRead {
            let read = self.graph.node(strand.last);
            let mut node = Node::blank(thread, read.place, Role::UpdateWrite, read.access);
            node.written = read.written;
            node.order = Bits::one(strand.last);
            node.past = past;
            return Write { node, source: Some(read.source) };
        }
        let Status::Ready(Op::Store { loc, value, order }) = self.subject.status(thread) else {
            unreachable!("thread {thread} is at a store")
        };
        let access = Access { loc: Some(loc), order, epoch: progress.epoch };
        let mut node = Node::blank(thread, self.subject.place(thread), Role::Store, access);
        node.written = value;
        node.order = progress.floor | self.held_back(progress, access);
        node.past = past;
        Write { node, source: None }
    }

    /// Keeps the state of a thread after its newest node.
    pub(super) fn keep_state(&mut self, thread: ThreadId) {
        if S::RUNS_AGAIN {
            return;
        }
        let slot = self.graph.strand(thread).last;
        self.subject.save_thread(thread, self.graph.state_mut(slot));
    }

    /// Makes `slot`, the newest of its thread and at `op`, a read of `source`, and lets the thread go on if it may.
    pub(super) fn read(&mut self, slot: Slot, op: Op, source: Slot) {
        let Node { thread, before, access, .. } = *self.graph.node(slot);
        let strand = self.graph.strand(thread);
        let loc = self.graph.node(slot).loc();
        let value = self.graph.value_of(source, loc);
        let answer = answer::<S, M>(&self.subject, thread, op, value);
        let progress = self.graph.progress_after(before, strand);
        let held_back = match answer {
            Answer::Load(_) | Answer::Blocked => Bits::EMPTY,
            Answer::Failed | Answer::Updated(_) => self.held_back(progress, access),
        };
        let is_vain = answer == Answer::Blocked && self.subject.waits_for_updates(thread);
        let mut order = progress.floor | held_back;
        let mut past = self.graph.past_after(before, strand);
        past.insert(slot);
        if source != NONE && !is_vain {
            let source_node = self.graph.node(source);
            past |= source_node.past;
            if source_node.thread != thread {
                order.insert(source);
            }
        }
        let node = self.graph.node_mut(slot);
        node.waits = matches!(op, Op::Lock { .. } | Op::Await { .. });
        node.role = match answer {
            Answer::Load(_) | Answer::Failed => Role::Read,
            Answer::Blocked if is_vain => Role::Vain,
            Answer::Blocked => Role::Blocked,
            Answer::Updated(_) => Role::UpdateRead,
        };
        node.idle = idle(op);
        node.read = value;
        node.written = if let Answer::Updated(written) = answer { written } else { 0 };
        node.order = order;
        node.past = past;
        let floor = if is_vain { progress.floor } else { Bits::one(slot) };
        node.after = Progress { floor, pending: progress.pending & !held_back, epoch: progress.epoch };
        self.graph.link_read(slot, source);
        self.graph.keep_reach(slot);
        if matches!(answer, Answer::Load(_) | Answer::Failed) {
            self.subject.reads_from(thread, self.graph.writer(source));
            self.subject.resume(thread, &[value]);
            self.note_failed_await(thread);
        }
        self.keep_state(thread);
    }

    /// Adds the write that `thread` is about to add, after `previous`.
    pub(super) fn write(&mut self, thread: ThreadId, previous: Slot) -> Slot {
        let Write { node, source } = self.write_of(thread);
        let mut after = self.graph.progress(thread);
        // Whatever waits for a store would wait for a later one like it, which waits for it in turn.
        let is_like = |store: &Slot| self.graph.node(*store).access.is_like(node.access);
        let passed = after.pending.iter().find(is_like);
        debug_assert!(
            source.is_some() || !self.is_looked_at_in_vain(node.loc()),
            "thread {thread} stores where another waits for an update"
        );
        let slot = self.graph.add(node);
        let added = self.graph.node_mut(slot);
        added.past.insert(slot);
        if source.is_none() && M::BUFFERS {
            passed.into_iter().for_each(|store| after.pending.remove(store));
            after.pending.insert(slot);
            if added.access.order == Order::SeqCst {
                after.floor |= std::mem::replace(&mut after.pending, Bits::EMPTY);
            }
        } else {
            after.floor = Bits::one(slot);
        }
        added.after = after;
        self.graph.link_write(slot, previous);
        self.graph.keep_reach(slot);
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
    pub(super) fn order(&mut self, thread: ThreadId, op: Op, taken: u32) {
        let progress = self.graph.progress(thread);
        let strand = self.graph.strand(thread);
        let mut past = self.graph.past_after(strand.last, strand);
        let (role, order) = match op {
            Op::Choose { .. } => (Role::Choice(taken), Order::Plain),
            Op::Fence { order } => (Role::Fence, order),
            Op::Spawn { order, .. } => (Role::Spawn, order),
            Op::Join { thread: child, order } => (Role::Join(child), order),
            _ => (Role::Other, Order::SeqCst),
        };
        let access = Access { loc: None, order, epoch: progress.epoch };
        let held_back = match op {
            Op::Fence { order: Order::SeqCst } => progress.pending,
            Op::Join { order, .. } if !order.releases() => Bits::EMPTY,
            Op::Spawn { .. } | Op::Join { .. } => self.held_back(progress, access),
            _ => Bits::EMPTY,
        };
        let mut before = progress.floor | held_back;
        if let Op::Join { thread: child, .. } = op {
            let ended = self.graph.strand(child);
            let Progress { floor, pending, .. } = self.graph.progress(child);
            before |= floor | pending;
            past |= self.graph.past_after(ended.last, ended);
        }
        let rests = self.subject.rests(thread).is_some();
        if rests {
            // Whatever was done, but not what waits, comes before.
            let waits = |slot: Slot| matches!(self.graph.node(slot).role, Role::Blocked | Role::Vain);
            for &slot in self.graph.added.iter().filter(|&&slot| !waits(slot)) {
                before.insert(slot);
                past.insert(slot);
            }
        }
        let mut node = Node::blank(thread, self.subject.place(thread), role, access);
        node.order = before;
        let slot = self.graph.add(node);
        self.graph.keep_reach(slot);
        past.insert(slot);
        let passes_barrier = matches!(op, Op::Fence { order: Order::Release | Order::AcqRel });
        let node = self.graph.node_mut(slot);
        node.waits = matches!(op, Op::Join { .. }) || rests;
        node.past = past;
        node.after = Progress {
            floor: Bits::one(slot),
            pending: progress.pending & !held_back,
            epoch: progress.epoch + u32::from(passes_barrier),
        };
        let answer = [Value::from(taken)];
        self.subject.resume(thread, if matches!(op, Op::Choose { .. }) { &answer } else { &[] });
        self.note_failed_await(thread);
        self.keep_state(thread);
        if let Op::Spawn { thread: child, .. } = op {
            self.graph.set_spawn(child, slot);
        }
    }
}
