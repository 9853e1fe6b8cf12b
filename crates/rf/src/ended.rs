//! What there is to see at the end of an execution.

use teetotal_engine::{Execution, More, Move, System};
use teetotal_memory::{Model, Trace};
use teetotal_program::{Loc, Subject, ThreadId, Value};

/// The end of an execution that `system` has come to, whose first `n_performed` events are in `trace`.
pub(super) struct Ended<'e, S, M> {
    pub(super) system: &'e System<S, M>,
    pub(super) trace: &'e Trace,
    pub(super) n_performed: usize,
}

impl<S: Subject, M: Model> Ended<'_, S, M> {
    pub(super) fn execution(&self) -> Execution<'_, S> {
        let subject = self.system.subject();
        let threads = (0..subject.n_threads()).map(ThreadId::at);
        let failures = threads.filter_map(|thread| Some((thread, subject.failure(thread)?))).collect();
        Execution { subject, ending: self.system.ending(), failures, path: Vec::new(), more: self }
    }
}

impl<S: Subject, M: Model> More for Ended<'_, S, M> {
    fn moves(&self) -> Vec<Move> {
        let steps = self.trace.steps().iter().filter(|record| record.event.index() < self.n_performed);
        steps.map(|record| Move::of(record, self.trace)).collect()
    }

    fn memory(&self, loc: Loc) -> Value {
        self.system.machine().memory(loc)
    }
}
