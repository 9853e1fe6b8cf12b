//! The threads that are blocked at the end of an execution.

use teetotal_memory::EventKind;
use teetotal_program::{Loc, Op, Order, Status, Subject, ThreadId};

/// A thread that is blocked forever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter {
    pub thread: ThreadId,
    pub loc: Loc,
    /// A load or a lock.
    pub kind: EventKind,
    pub order: Order,
    /// See `Subject::place`.
    pub place: u32,
}

/// The threads of `subject` that wait for a location to change, at the end of an execution.
pub fn waiters<S: Subject>(subject: &S) -> Vec<Waiter> {
    let waiter = |thread: ThreadId| {
        let (loc, kind, order) = match subject.status(thread) {
            Status::Ready(Op::Await { .. }) => {
                let mut locations = Vec::new();
                subject.awaited(thread, &mut locations);
                (*locations.first()?, EventKind::Load, Order::Relaxed)
            }
            Status::Ready(Op::Lock { loc, order }) => (loc, EventKind::Lock, order),
            _ => return None,
        };
        Some(Waiter { thread, loc, kind, order, place: subject.place(thread) })
    };
    (0..subject.n_threads()).map(ThreadId::at).filter_map(waiter).collect()
}
