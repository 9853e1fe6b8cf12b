//! The accesses at which threads wait when an execution has ended.

use std::sync::Arc;

use teetotal_memory::{EventKind, ModelId, Trace};
use teetotal_program::ir::{Instruction, Interpreter, Program};
use teetotal_program::{Op, Status, Subject, ThreadId};

use super::{Attempt, Waits};

/// A thread that waits.
pub(super) struct Stuck {
    pub(super) attempt: Attempt,
    pub(super) place: u32,
    /// How many events the thread has.
    pub(super) index: u32,
}

/// Every thread that waits for a location to change after `trace`, which is an execution of `program`.
pub(super) fn attempts(program: &Arc<Program>, model: ModelId, trace: &Trace) -> Vec<Stuck> {
    let waits = |i: &Instruction| matches!(i, Instruction::Await { .. } | Instruction::Lock { .. });
    if !program.threads.iter().flat_map(|thread| &thread.code).any(waits) {
        return Vec::new();
    }
    let mut subject = Interpreter::new(Arc::clone(program));
    let mut counts = vec![0; program.n_threads()];
    for event in trace.events() {
        counts[event.thread.index()] += 1;
        match event.read {
            Some(value) => subject.resume(event.thread, &[value]),
            None => subject.resume(event.thread, &[]),
        }
    }
    let stuck = |index: usize| {
        let thread = ThreadId::at(index);
        let (loc, waits) = match subject.status(thread) {
            Status::Ready(Op::Await { .. }) => {
                let mut locations = Vec::new();
                subject.awaited(thread, &mut locations);
                (*locations.first()?, Waits::Nothing)
            }
            Status::Ready(Op::Lock { loc, order }) => (loc, Waits::of_kind(model, EventKind::Lock, order)),
            _ => return None,
        };
        let attempt = Attempt { thread, loc, waits, waits_to_write: waits, is_store: false };
        Some(Stuck { attempt, place: subject.place(thread), index: counts[index] })
    };
    (0..program.n_threads()).filter_map(stuck).collect()
}
