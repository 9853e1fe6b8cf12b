//! When a thread may go first alone, because nothing that others do can matter to its step.
//!
//! This is the simplest case of the argument in `docs/theory/reduction.md`, for all contents of a symbolic state at once:
//! the step must be possible with each of them. A store that joins its buffer is always of this kind.

use teetotal_memory::Model;
use teetotal_program::{Foresight, Future, LocSet, Op, Order, Rewind, Snapshot, Status, ThreadId, Value};

use super::automaton::Language;
use super::expand::World;

/// What a step reads and writes in memory.
#[derive(Clone, Copy, Default)]
struct Access {
    read: LocSet,
    written: LocSet,
}

impl<S: Foresight + Snapshot + Rewind + Clone, M: Model> World<S, M> {
    /// A thread whose operation is enough to look at.
    ///
    /// Where the thread goes back in a loop by it, all steps must be taken all the same.
    pub(super) fn goes_alone(&mut self, languages: &[Language]) -> Option<ThreadId> {
        let threads = || (0..languages.len()).map(ThreadId::at);
        if threads().any(|thread| self.at.subject.future(thread).is_global) {
            return None;
        }
        threads().find(|&thread| {
            let Some(access) = self.access_with_all(thread, languages[thread.index()]) else { return false };
            threads().filter(|&other| other != thread).all(|other| {
                let pending = self.buffers.locations(languages[other.index()]);
                !conflicts(access, self.at.subject.future(other), pending)
            })
        })
    }

    /// What the operation of `thread` accesses, if it is possible with every content of its buffer.
    fn access_with_all(&mut self, thread: ThreadId, own: Language) -> Option<Access> {
        let Status::Ready(op) = self.at.subject.status(thread) else { return None };
        let is_empty = own == Language::EPSILON;
        if self.at.draining[thread.index()] && !is_empty {
            return None;
        }
        match op {
            Op::Load { loc, .. } => Some(Access { read: LocSet::of(loc), ..Access::default() }),
            Op::Store { loc, .. } if !M::BUFFERS => Some(Access { written: LocSet::of(loc), ..Access::default() }),
            Op::Store { .. } if self.buffer_limit.is_some() => None,
            Op::Store { .. } | Op::Choose { .. } => Some(Access::default()),
            Op::Fence { order } if order != Order::SeqCst || is_empty => Some(Access::default()),
            Op::Rmw { loc, .. } | Op::Unlock { loc, .. } if is_empty => {
                Some(Access { read: LocSet::of(loc), written: LocSet::of(loc) })
            }
            Op::Await { .. } if self.buffer_limit.is_some() => None,
            Op::Await { alternatives } => self.access_of_await(thread, own, alternatives),
            _ => None,
        }
    }

    /// What an await accesses, if some alternative is open to each content.
    fn access_of_await(&mut self, thread: ThreadId, own: Language, alternatives: u32) -> Option<Access> {
        let subject = &self.at.subject;
        let mut locations = Vec::new();
        subject.awaited(thread, &mut locations);
        let read = locations.into_iter().map(LocSet::of).fold(LocSet::default(), LocSet::union);
        let written = if M::BUFFERS { LocSet::default() } else { subject.stores_at_once(thread) };
        let looks = self.looks(thread, own);
        let is_open = |values: &[Value]| (0..alternatives).any(|a| self.at.subject.accepts(thread, values, a));
        looks.iter().all(|(values, _)| is_open(values)).then_some(Access { read, written })
    }
}

/// Whether a thread that may still do so much, with such stores pending, may come to depend on an access.
fn conflicts(access: Access, future: Future, pending: LocSet) -> bool {
    let at_once = future.updates.union(future.locks);
    let touched = access.read.union(access.written);
    access.written.meets(future.loads.union(at_once))
        || access.read.meets(at_once)
        || touched.meets(future.stores)
        || touched.meets(pending)
}
