//! What there is to see at the end of an execution.

use teetotal_judge::Ending;
use teetotal_memory::{EventKind, Model, Step, Trace};
use teetotal_program::{Failure, Loc, Subject, ThreadId, Value};

use crate::dpor::Move;
use crate::system::System;

/// One execution of the search.
#[expect(missing_debug_implementations, reason = "a subject need not be printable")]
pub struct Leaf<'l, S> {
    /// The subject at the end of it.
    pub subject: &'l S,
    pub ending: Ending,
    /// What went wrong, thread by thread.
    pub failures: Vec<(ThreadId, Failure)>,
    trace: &'l Trace,
    n_performed: usize,
    memory: &'l dyn Fn(Loc) -> Value,
}

impl<'l, S: Subject> Leaf<'l, S> {
    /// The execution that `system` has come to the end of, whose first `n_performed` events are in `trace`.
    pub(super) fn new<M: Model>(
        system: &'l System<S, M>,
        trace: &'l Trace,
        n_performed: usize,
        memory: &'l dyn Fn(Loc) -> Value,
    ) -> Self {
        let subject = system.subject();
        let threads = (0..subject.n_threads()).map(ThreadId::at);
        let failures = threads.filter_map(|thread| Some((thread, subject.failure(thread)?))).collect();
        Leaf { subject, ending: system.ending(), failures, trace, n_performed, memory }
    }
}

impl<S> Leaf<'_, S> {
    /// Its steps.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        let steps = self.trace.steps().iter().filter(|record| record.event.index() < self.n_performed);
        let moves = steps.map(|record| {
            let event = self.trace.event(record.event);
            match record.step {
                Step::Issue { thread, alternative } => {
                    let child = if let EventKind::Spawn(child) = event.kind { Some(child) } else { None };
                    Move::Issue { thread, alternative, child }
                }
                Step::Commit { thread, loc } => Move::Commit { thread, index: event.index, loc },
            }
        });
        moves.collect()
    }

    /// What memory holds at the end of it.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        (self.memory)(loc)
    }
}
