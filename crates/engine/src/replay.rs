//! Runs one execution again, from a schedule that a search found or from a token.

use std::sync::Arc;

use teetotal_judge::{Ending, Finding, MonitorId, View};
use teetotal_memory::{Model, ModelId, ModelVisitor, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Subject, Value};

use crate::collector::{Collector, counted};
use crate::driver::{self, Flow, Observer, values};
use crate::limits::Limits;
use crate::schedule::Schedule;
use crate::stateless::Replay;
use crate::strategy::Abandon;
use crate::system::System;
use crate::token::{Token, TokenError, TokenStep, hash};

/// An execution that a system has performed.
#[derive(Clone, Debug, Default)]
pub struct Performed {
    /// Empty if the execution was stopped.
    pub trace: Trace,
    /// Its steps, as a token has them.
    pub steps: Vec<TokenStep>,
}

/// Performs a schedule as far as it is possible; `system` stands at the end of it then.
pub fn perform<S: Subject, M: Model>(system: &mut System<S, M>, schedule: &Schedule) -> Performed {
    let mut replay = Replay::of_schedule(schedule);
    let (flow, trace) = driver::run_once(system, &mut replay, &mut driver::Unwatched);
    let trace = if matches!(flow, Flow::Stop(_)) { Trace::default() } else { trace };
    Performed { trace, steps: replay.taken }
}

/// Shows a schedule to the monitors of `collector`; what they find was found at `place`. Returns its trace, too.
pub fn show<S: Subject, M: Model, W>(
    system: &mut System<S, M>,
    schedule: &Schedule,
    collector: &mut Collector<W>,
    place: &dyn Fn() -> W,
) -> (Flow, Trace) {
    let mut watch = Watch { collector, place };
    match driver::run_once(system, &mut Replay::of_schedule(schedule), &mut watch) {
        (Flow::NextExecution, trace) => (Flow::Continue, trace),
        shown => shown,
    }
}

/// Lets a collector watch one execution.
struct Watch<'w, W> {
    collector: &'w mut Collector<W>,
    place: &'w dyn Fn() -> W,
}

impl<W> Observer for Watch<'_, W> {
    fn begin(&mut self) {
        self.collector.begin_execution();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.collector.watch_step(view, self.place)
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.collector.watch_end(view, ending, self.place)
    }

    fn abandoned(&mut self, _: &View<'_>, _: Abandon) {
        self.collector.stats.abandoned += 1;
    }
}

/// An execution of a program that was run again.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub trace: Trace,
    pub token: Token,
    /// What the observed terms hold at the end of it.
    pub values: Vec<Value>,
    /// How it ended, if nothing more was possible then.
    pub ending: Option<Ending>,
    /// Whether its final state satisfies the formula of the condition, if it has one and there is one.
    pub satisfies: Option<bool>,
    /// What is wrong with it.
    pub findings: Vec<(MonitorId, Finding)>,
}

/// Runs the execution that a search found.
///
/// # Panics
/// If the schedule is not one of this program under this model.
#[must_use]
pub fn trace_of(program: &Arc<Program>, model: ModelId, schedule: &Schedule) -> Replayed {
    let again = run_again(program, model, schedule);
    assert_eq!(again.trace.steps().len(), schedule.len(), "a schedule that a search found can be run again");
    again
}

/// Runs the steps of a schedule as far as they are possible.
pub fn run_again(program: &Arc<Program>, model: ModelId, schedule: &Schedule) -> Replayed {
    model.visit(Again { program, schedule, buffer: None })
}

/// A schedule that a search with these limits found, for whoever has no limit on buffers.
///
/// A limit makes some steps impossible, so positions among those that are possible mean something else without it.
pub fn named(program: &Arc<Program>, model: ModelId, limits: &Limits, schedule: Schedule) -> Schedule {
    if limits.buffer.is_none() || !matches!(schedule, Schedule::Choices(_)) {
        return schedule;
    }
    let again = model.visit(Again { program, schedule: &schedule, buffer: limits.buffer });
    Schedule::Steps(again.trace.steps().iter().map(|record| record.step).collect())
}

/// Runs the execution that a token stands for.
pub fn replay(program: &Arc<Program>, token: &Token) -> Result<Replayed, TokenError> {
    let again = run_again(program, token.model, &Schedule::Token(token.steps.clone()));
    if again.trace.steps().len() < token.steps.len() {
        return Err(TokenError::NotPossible { position: again.trace.steps().len() + 1 });
    }
    if again.token.hash != token.hash {
        return Err(TokenError::OtherProgram);
    }
    Ok(again)
}

struct Again<'a> {
    program: &'a Arc<Program>,
    schedule: &'a Schedule,
    /// The limit on buffers of the search that found it.
    buffer: Option<u64>,
}

impl ModelVisitor for Again<'_> {
    type Output = Replayed;

    fn visit<M: Model>(self) -> Replayed {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        if let Some(limit) = self.buffer {
            system.limit_buffers(limit as usize);
        }
        let collector = Collector::new(self.program, M::ID, &MonitorId::defaults(), false);
        let mut last = Last { collector, program: self.program, seen: None };
        let mut strategy = Replay::of_schedule(self.schedule);
        let (_, trace) = driver::run_once(&mut system, &mut strategy, &mut last);
        let (trace, (values, ending)) = last.seen.map_or_else(Default::default, |seen| (trace, seen));
        let token = Token { model: M::ID, hash: hash(&trace), steps: strategy.taken };
        let Collector { satisfying, falsifying, .. } = &last.collector;
        let satisfies = satisfying.as_ref().map(|_| true).or(falsifying.as_ref().map(|_| false));
        let findings = last.collector.findings.into_iter().map(|found| (found.monitor, found.finding)).collect();
        Replayed { trace, token, values, ending, satisfies, findings }
    }
}

/// Keeps what there is to see at the last step.
struct Last<'a> {
    collector: Collector,
    program: &'a Program,
    /// What the observed terms hold, and how the execution ended.
    seen: Option<(Vec<Value>, Option<Ending>)>,
}

impl Last<'_> {
    fn keep(&mut self, view: &View<'_>, ending: Option<Ending>) {
        self.seen = Some((values(view.state, &self.program.observed), ending));
    }
}

impl Observer for Last<'_> {
    fn begin(&mut self) {
        self.collector.begin();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.collector.step(view)
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.keep(view, Some(counted(self.program, view.state, ending)));
        self.collector.end(view, ending)
    }

    fn abandoned(&mut self, view: &View<'_>, _: Abandon) {
        self.keep(view, None);
    }
}
