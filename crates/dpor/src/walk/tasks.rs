//! What the walk adds next: whose turn it is, and who waits.

use std::mem::discriminant;

use teetotal_program::{Op, Status, ThreadId};

use super::super::alternatives::Alternative;
use super::super::answer::{Answer, answer, reads};
use super::super::consistency::Consistency;
use super::super::graph::{NONE, Role, Slot};
use super::{Rewindable, Walk};

/// What a level adds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// The next operation of a thread.
    Perform(ThreadId, Op),
    /// The write of a read-modify-write whose read is there.
    Complete(ThreadId),
    /// The write of `thread`, and `read` reads from it.
    Revisit { thread: ThreadId, read: Slot },
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// The event to add next: of the first thread that has one, but first what completes a read-modify-write.
    pub(super) fn next_task(&self) -> Option<Task> {
        let is_half = |thread: &ThreadId| {
            let last = self.graph.events(*thread).last;
            last != NONE && self.graph.node(last).role == Role::UpdateRead
        };
        if self.graph.n_halves > 0
            && let Some(thread) = self.threads().find(is_half)
        {
            return Some(Task::Complete(thread));
        }
        let ready = || self.threads().filter(|&thread| self.ready(thread).is_some_and(|op| !self.waits(thread, op)));
        if let Some(thread) = ready().find(|&thread| self.subject.rests(thread).is_none()) {
            return Some(Task::Perform(thread, self.ready(thread)?));
        }
        if let Some(task) = self.threads().find_map(|thread| self.retry_of(thread)) {
            return Some(task);
        }
        if !self.waits_forever() {
            return None;
        }
        let thread = ready().min_by_key(|&thread| self.subject.rests(thread))?;
        Some(Task::Perform(thread, self.ready(thread)?))
    }

    /// Whether `thread`, at `op`, waits for an update of what it would read, so that other threads come first.
    fn waits(&self, thread: ThreadId, op: Op) -> bool {
        matches!(op, Op::Lock { .. } | Op::Await { .. }) && self.subject.waits_for_updates(thread) && {
            let loc = self.reading(thread, op).loc.index();
            let value = self.graph.value_of(self.graph.location(loc).newest, loc);
            answer(&self.subject, self.graph.rules, thread, op, value) == Answer::Blocked
        }
    }

    /// Lets `thread`, which waits for an update while no other thread can run, try what was there before, once.
    fn retry_of(&self, thread: ThreadId) -> Option<Task> {
        let op = self.ready(thread).filter(|&op| self.waits(thread, op))?;
        let loc = self.reading(thread, op).loc.index();
        let last_tried = self.last_tried(thread);
        let mut write = self.graph.location(loc).newest;
        while last_tried.is_some() {
            if Some(write) == last_tried {
                return None;
            }
            let value = self.graph.value_of(write, loc);
            if answer(&self.subject, self.graph.rules, thread, op, value) != Answer::Blocked {
                break;
            }
            write = self.graph.node(write).co_before;
        }
        Some(Task::Perform(thread, op))
    }

    /// The write that `thread` read last, if it is to retry; what comes before that write in coherence was tried.
    pub(crate) fn last_tried(&self, thread: ThreadId) -> Option<Slot> {
        let last = self.graph.events(thread).last;
        (last != NONE && self.graph.node(last).role == Role::Retried).then(|| self.graph.node(last).source)
    }

    /// Whether a thread is to retry a read of this location.
    pub(super) fn is_retried_at(&self, loc: usize) -> bool {
        self.threads().map(|thread| self.graph.events(thread).last).any(|last| {
            last != NONE && self.graph.node(last).role == Role::Retried && self.graph.node(last).loc() == loc
        })
    }

    /// The operation that `thread` can perform next.
    fn ready(&self, thread: ThreadId) -> Option<Op> {
        let last = self.graph.events(thread).last;
        if last != NONE && (self.graph.node(last).role == Role::Blocked || self.graph.node(last).failed.is_some()) {
            return None;
        }
        match self.subject.status(thread) {
            Status::Ready(Op::Join { thread: child, .. }) if self.subject.status(child) != Status::Finished => None,
            Status::Ready(op) => Some(op),
            _ => None,
        }
    }

    /// Whether the subject stands where `task` has it; real code that is run again may do something else.
    pub(super) fn still_fits(&self, task: Task) -> bool {
        if !S::RUNS_AGAIN {
            return true;
        }
        let ready = |thread| if let Status::Ready(op) = self.subject.status(thread) { Some(op) } else { None };
        match task {
            Task::Perform(thread, op) => ready(thread).is_some_and(|now| discriminant(&now) == discriminant(&op)),
            Task::Complete(_) => true,
            Task::Revisit { thread, read } => {
                let last = self.graph.events(thread).last;
                let is_half = last != NONE && self.graph.node(last).role == Role::UpdateRead;
                let writes = is_half || matches!(ready(thread), Some(Op::Store { .. }));
                writes && ready(self.graph.node(read).thread).is_some_and(reads)
            }
        }
    }

    /// Whether an alternative is one of what the subject stands at now, which may be at another location.
    pub(super) fn still_has(&self, task: Task, alternative: Alternative) -> bool {
        if !S::RUNS_AGAIN {
            return true;
        }
        let (Task::Perform(thread, _) | Task::Complete(thread) | Task::Revisit { thread, .. }) = task;
        let is_read_there = match task {
            Task::Revisit { read, .. } => self.stands_at(self.graph.node(read).thread) == self.stands_at(thread),
            _ => true,
        };
        let is_write_there = match alternative {
            Alternative::Source(write) | Alternative::After(write) if write != NONE => {
                self.stands_at(thread) == Some(self.graph.node(write).loc())
            }
            _ => true,
        };
        is_read_there && is_write_there
    }

    /// The location that a thread is about to access.
    fn stands_at(&self, thread: ThreadId) -> Option<usize> {
        let last = self.graph.events(thread).last;
        if last != NONE && self.graph.node(last).role == Role::UpdateRead {
            return Some(self.graph.node(last).loc());
        }
        match self.subject.status(thread) {
            Status::Ready(Op::Store { loc, .. }) => Some(loc.index()),
            Status::Ready(op) if reads(op) => Some(self.reading(thread, op).loc.index()),
            _ => None,
        }
    }
}
