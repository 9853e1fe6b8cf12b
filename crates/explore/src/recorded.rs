//! Every execution of sequential consistency, one for each trace, for those who keep them.

use std::sync::{Arc, Mutex, PoisonError};

use teetotal_judge::{Ending, View};
use teetotal_memory::models::Sc;
use teetotal_memory::{EventKind, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Op, Order, Status, Subject, ThreadId};

use crate::check::CheckError;
use crate::dpor::{self, Leaf, Move, Settings};
use crate::driver::{self, Flow, Observer, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, Schedule};
use crate::stateless::Replay;
use crate::strategy::Abandon;
use crate::system::System;

/// A thread that waits for good.
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

/// Calls `each` with one execution of sequential consistency for every trace of `program`, and with who waits at its end.
///
/// Refuses a program whose steps access memory more than once, which a trace does not show.
pub fn each_execution(
    program: &Arc<Program>,
    limits: &Limits,
    signal: StopSignal<'_>,
    each: &mut (dyn FnMut(&Trace, &[Waiter]) -> Flow + Send),
) -> Result<Coverage, CheckError> {
    if let Some(dpor::Unsupported { reason }) = dpor::unsupported(program) {
        return Err(CheckError::NotRecorded { program: program.name.clone(), reason });
    }
    let subject = || Interpreter::new(Arc::clone(program));
    let recording = Mutex::new((System::<Interpreter, Sc>::new(subject()), each));
    let watch = |leaf: &Leaf<'_, Interpreter>| {
        let mut recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
        let (system, each) = &mut *recording;
        let mut last = Last::default();
        let schedule = Schedule::Steps(leaf.moves().iter().map(step_of).collect());
        let limits = Limits { steps: None, ..Limits::default() };
        driver::run(system, &mut Replay::of_schedule(&schedule), &mut last, &limits, &|| None);
        each(&last.trace, &waiters(system.subject()))
    };
    let settings = Settings { limits: *limits, jobs: 1 };
    let (_, coverage) = dpor::watch::<Interpreter, Sc>(&subject, &settings, signal, &watch);
    Ok(coverage)
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

/// A move, whose names are those of the program.
fn step_of(step: &Move) -> Step {
    match *step {
        Move::Issue { thread, alternative, .. } => Step::Issue { thread, alternative },
        Move::Commit { thread, loc, .. } => Step::Commit { thread, loc },
    }
}

/// Keeps the trace of an execution.
#[derive(Default)]
struct Last {
    trace: Trace,
}

impl Observer for Last {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.trace.clone_from(view.trace);
        Flow::Continue
    }

    fn abandoned(&mut self, view: &View<'_>, _: Abandon) {
        self.trace.clone_from(view.trace);
    }
}
