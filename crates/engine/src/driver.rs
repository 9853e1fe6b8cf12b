//! The loop of every stateless search: a strategy chooses, the system performs, an observer watches.

use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::condition::FinalState;
use teetotal_program::{Failure, Subject, ThreadId, Value};

use crate::limits::Limits;
use crate::outcome::{Coverage, StopReason};
use crate::strategy::{Abandon, Choice, Strategy};
use crate::system::System;

/// Watches executions and may end the search.
pub trait Observer {
    /// Another execution begins.
    fn begin(&mut self) {}

    /// A step was performed.
    fn step(&mut self, _view: &View<'_>) -> Flow {
        Flow::Continue
    }

    /// Nothing more is possible.
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow;

    /// The strategy wants no more of this execution.
    fn abandoned(&mut self, _view: &View<'_>, _reason: Abandon) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn end(&mut self, _: &View<'_>, _: &Ending) -> Flow {
        Flow::Continue
    }
}

/// Whether a search continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Continue,
    /// This execution is not worth going on with.
    NextExecution,
    Stop(StopReason),
}

/// Told now and then how far a search is, and asked whether it is to stop. A closure without arguments is one too.
pub trait Signal: Sync {
    /// Why the search is to stop, if it is.
    fn stop(&self, progress: Progress) -> Option<StopReason>;
}

impl<F: Fn() -> Option<StopReason> + Sync> Signal for F {
    fn stop(&self, _: Progress) -> Option<StopReason> {
        self()
    }
}

/// What a search has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Executions that were begun.
    pub executions: u64,
    /// Different states stored.
    pub states: u64,
}

/// A signal that another owner keeps.
pub type StopSignal<'a> = &'a dyn Signal;

/// How many steps are performed between two looks at the stop signal.
const SIGNAL_INTERVAL: u64 = 4_096;

/// Runs executions until the strategy has no more, a limit is reached, or the signal asks to stop.
pub fn run<S: Subject, M: Model>(
    system: &mut System<S, M>,
    strategy: &mut dyn Strategy,
    observer: &mut dyn Observer,
    limits: &Limits,
    signal: StopSignal<'_>,
) -> Coverage {
    if let Some(limit) = limits.buffer {
        system.limit_buffers(limit as usize);
    }
    let (trace, enabled) = (Trace::default(), Vec::new());
    let mut run = Run { system, observer, limits, signal, trace, enabled, steps: 0, executions: 0 };
    let mut stopped = None;
    while strategy.begin() {
        if limits.executions.is_some_and(|limit| run.executions >= limit) {
            return Coverage::Stopped(StopReason::Executions(run.executions));
        }
        run.executions += 1;
        match run.execution(strategy) {
            // It counted when it was run for the first time.
            Flow::NextExecution if !strategy.is_new() => run.executions -= 1,
            Flow::Stop(reason @ (StopReason::Steps(_) | StopReason::EndlessLoop { .. })) => {
                // Only this execution is cut short; the others may still show something.
                stopped.get_or_insert(reason);
            }
            Flow::Stop(reason) => return Coverage::Stopped(reason),
            Flow::Continue | Flow::NextExecution => {}
        }
        strategy.end(&run.trace);
    }
    if run.system.machine().limit_reached() {
        stopped = stopped.or(limits.buffer.map(StopReason::Buffer));
    }
    stopped.or(strategy.left_out()).map_or(Coverage::Complete, Coverage::Stopped)
}

/// Runs one execution, however long, as far as the strategy has steps for it. Returns its trace, too.
pub fn run_once<S: Subject, M: Model>(
    system: &mut System<S, M>,
    strategy: &mut dyn Strategy,
    observer: &mut dyn Observer,
) -> (Flow, Trace) {
    let limits = &Limits { steps: None, ..Limits::default() };
    let (trace, enabled) = (Trace::default(), Vec::new());
    let mut run = Run { system, observer, limits, signal: &|| None, trace, enabled, steps: 0, executions: 1 };
    let flow = run.execution(strategy);
    (flow, run.trace)
}

/// One run of the loop.
struct Run<'r, S, M> {
    system: &'r mut System<S, M>,
    observer: &'r mut dyn Observer,
    limits: &'r Limits,
    signal: StopSignal<'r>,
    trace: Trace,
    enabled: Vec<Step>,
    /// Performed in all executions so far.
    steps: u64,
    executions: u64,
}

impl<S: Subject, M: Model> Run<'_, S, M> {
    fn execution(&mut self, strategy: &mut dyn Strategy) -> Flow {
        self.system.restart();
        self.trace.clear();
        self.observer.begin();
        if let Some(failure) = self.system.initial_failure() {
            let flow = self.failed(failure);
            if flow != Flow::Continue {
                return flow;
            }
        }
        loop {
            self.system.enabled(&mut self.enabled);
            if self.enabled.is_empty() && !strategy.is_new() {
                self.observer.abandoned(&view(self.system, &self.trace, 0, None), Abandon::SeenBefore);
                return Flow::NextExecution;
            }
            if self.enabled.is_empty() {
                let ending = self.system.ending();
                return self.observer.end(&view(self.system, &self.trace, 0, None), &ending);
            }
            let step = match strategy.choose(&self.enabled, &self.trace) {
                Choice::Take(index) => self.enabled[index],
                Choice::Abandon(reason) => {
                    self.observer.abandoned(&view(self.system, &self.trace, 0, None), reason);
                    return Flow::NextExecution;
                }
            };
            let flow = self.perform(step);
            if flow != Flow::Continue {
                return flow;
            }
        }
    }

    fn perform(&mut self, step: Step) -> Flow {
        let known = self.trace.events().len();
        let failure = self.system.perform(step, &mut self.trace);
        let new = self.trace.events().len() - known;
        self.steps += 1;
        if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
            return Flow::Stop(StopReason::EndlessLoop { thread, instruction });
        }
        let flow = self.observer.step(&view(self.system, &self.trace, new, failure));
        if flow != Flow::Continue {
            return flow;
        }
        let depth = self.trace.steps().len() as u64;
        if self.limits.steps.is_some_and(|limit| depth > limit) {
            return Flow::Stop(StopReason::Steps(depth - 1));
        }
        if self.steps.is_multiple_of(SIGNAL_INTERVAL)
            && let Some(reason) = self.signal.stop(Progress { executions: self.executions, states: 0 })
        {
            return Flow::Stop(reason);
        }
        Flow::Continue
    }

    /// A thread went wrong before the first step.
    fn failed(&mut self, failure: (ThreadId, Failure)) -> Flow {
        if let (thread, Failure::EndlessLoop { instruction }) = failure {
            return Flow::Stop(StopReason::EndlessLoop { thread, instruction });
        }
        self.observer.step(&view(self.system, &self.trace, 0, Some(failure)))
    }
}

/// What there is to see, with the last `new` events as those of the last step.
fn view<'v, S: Subject, M: Model>(
    system: &'v System<S, M>,
    trace: &'v Trace,
    new: usize,
    failure: Option<(ThreadId, Failure)>,
) -> View<'v> {
    let state: &dyn FinalState = system;
    View { trace, events: &trace.events()[trace.events().len() - new..], state, failure }
}

/// What the observed terms hold.
#[must_use]
pub fn values(state: &dyn FinalState, observed: &[teetotal_program::condition::Term]) -> Vec<Value> {
    observed.iter().map(|&term| state.value(term)).collect()
}
