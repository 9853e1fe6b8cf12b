//! Every trace of a program without loops, found from the axioms alone.
//!
//! A trace is grown event by event, in an order that puts every write before what reads from it; all three models allow
//! that, because reads-from and program order together have no cycle in any of them. Where a thread stands at a read,
//! either its source is there already and is chosen, or the read waits for a write that is still to come; so each
//! choice of sources is met once. Coherence is chosen at the end. An order of moments (see [`crate::axiomatic`]) grows
//! along and cuts off whatever would close a cycle.
//!
//! The executions given are the maximal ones: each thread that was started has finished, failed, been discarded, or
//! stands at an await, lock or join that is impossible in the final memory, when all stores have reached it.

mod coherence;
mod graph;
mod reads;
mod search;

use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;

use teetotal_memory::{ModelId, Trace};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Status, Subject, ThreadId, Value};

use crate::axiomatic::enumerate::search::Search;

/// A maximal execution.
#[derive(Clone, Debug)]
pub struct Execution {
    /// Its events with reads-from and coherence.
    ///
    /// Its steps are no schedule: all commits are recorded after all events, location by location.
    pub trace: Trace,
    /// The program at the end; a thread that is still ready is blocked.
    pub subject: Interpreter,
}

impl Execution {
    /// Whether every thread that was started has finished.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        let statuses = (0..self.subject.n_threads()).map(|thread| self.subject.status(ThreadId::at(thread)));
        statuses.into_iter().all(|status| matches!(status, Status::Finished | Status::NotStarted))
    }
}

impl FinalState for Execution {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => {
                let last = self.trace.coherence(loc).last().and_then(|&id| self.trace.event(id).written);
                last.unwrap_or(self.subject.program().locations[loc.index()].initial)
            }
        }
    }
}

/// Why executions are not enumerated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnumerateError {
    Loop { program: String },
    Exclusive { program: String, thread: String },
    SpawnedTwice { program: String, thread: ThreadId },
    TooMany { program: String, limit: usize },
}

impl fmt::Display for EnumerateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnumerateError::Loop { program } => {
                write!(formatter, "the executions of `{program}` cannot be enumerated, because it has a loop")
            }
            EnumerateError::Exclusive { program, thread } => write!(
                formatter,
                "the executions of `{program}` cannot be enumerated, because thread `{thread}` has an exclusive region"
            ),
            EnumerateError::SpawnedTwice { program, thread } => write!(
                formatter,
                "the executions of `{program}` cannot be enumerated, because thread {thread} is spawned twice"
            ),
            EnumerateError::TooMany { program, limit } => {
                write!(formatter, "`{program}` has more than {limit} executions")
            }
        }
    }
}

impl Error for EnumerateError {}

/// Every maximal execution of `program` under `model`, each trace once, unless there are more than `limit`.
pub fn enumerate(model: ModelId, program: &Program, limit: usize) -> Result<Vec<Execution>, EnumerateError> {
    let mut executions = Vec::new();
    let mut too_many = false;
    visit_executions(model, program, |execution| {
        too_many = executions.len() == limit;
        if too_many {
            return ControlFlow::Break(());
        }
        executions.push(execution);
        ControlFlow::Continue(())
    })?;
    if too_many { Err(EnumerateError::TooMany { program: program.name.clone(), limit }) } else { Ok(executions) }
}

/// Calls `visit` with every maximal execution of `program` under `model`, each trace once, until it breaks off.
pub fn visit_executions(
    model: ModelId,
    program: &Program,
    visit: impl FnMut(Execution) -> ControlFlow<()>,
) -> Result<(), EnumerateError> {
    if !program.is_loop_free() {
        return Err(EnumerateError::Loop { program: program.name.clone() });
    }
    if let Some(thread) = program.threads.iter().find(|thread| thread.places.iter().any(|place| place.exclusive)) {
        return Err(EnumerateError::Exclusive { program: program.name.clone(), thread: thread.name.clone() });
    }
    Search::new(model, program, visit).run()
}
