//! Shows one execution of each class to the monitors.

use teetotal_judge::{Ending, Level, View};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::ThreadId;

use super::automata::{Automata, Learnable, Taken};
use super::search::Audience;
use crate::collector::Collector;
use crate::driver::{self, Flow, Observer};
use crate::limits::Limits;
use crate::outcome::{Coverage, Schedule};
use crate::stateless::Replay;
use crate::system::System;

/// Shows executions to a collector.
pub(super) struct Show<'c, S, M> {
    collector: &'c mut Collector,
    nothing: Trace,
    /// Performs executions, where monitors look at more than states.
    performing: Option<System<S, M>>,
}

/// The steps of an execution: those at the beginning, and those that were taken.
#[derive(Clone, Copy)]
pub(super) struct Way<'w> {
    pub(super) before: &'w [Step],
    pub(super) taken: &'w [Taken],
}

impl Way<'_> {
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = self.before.to_vec();
        self.taken.iter().for_each(|taken| taken.push_to(&mut steps));
        steps
    }

    fn schedule(&self) -> Schedule {
        Schedule::Steps(self.steps())
    }
}

impl<'c, S: Learnable + Clone, M: Model> Show<'c, S, M> {
    pub(super) fn new(system: &System<S, M>, collector: &'c mut Collector) -> Self {
        let performing = (collector.needs() > Level::State).then(|| system.clone());
        Show { collector, nothing: Trace::default(), performing }
    }

    /// Shows a final state to monitors that look at states only.
    fn state(&mut self, system: &System<S, M>, way: Way<'_>) -> Flow {
        self.collector.begin_execution();
        let flow = self.failures(system, way);
        let view = View { trace: &self.nothing, events: &[], state: system, failure: None };
        let next = self.collector.watch_end(&view, &system.ending(), || way.schedule());
        if flow == Flow::Continue { next } else { flow }
    }

    /// Shows the threads that have failed.
    fn failures(&mut self, system: &System<S, M>, way: Way<'_>) -> Flow {
        let view = |failure| View { trace: &self.nothing, events: &[], state: system, failure };
        let mut flow = Flow::Continue;
        for thread in (0..system.subject().n_threads()).map(ThreadId::at) {
            if let Some(failure) = system.subject().failure(thread) {
                let next = self.collector.watch_step(&view(Some((thread, failure))), || way.schedule());
                flow = if flow == Flow::Continue { next } else { flow };
            }
        }
        flow
    }
}

impl<S: Learnable + Clone, M: Model> Audience<S, M> for Show<'_, S, M> {
    fn execution(&mut self, automata: &mut Automata<S, M>, row: &[u32], way: Way<'_>) -> Flow {
        match &mut self.performing {
            Some(system) => perform(self.collector, system, way),
            None => self.state(automata.load(row), way),
        }
    }

    fn failure(&mut self, automata: &mut Automata<S, M>, row: &[u32], way: Way<'_>) -> Flow {
        if self.performing.is_some() {
            return Flow::Continue;
        }
        self.failures(automata.load(row), way)
    }
}

/// Performs the execution for monitors that look at more than states.
fn perform<S: Learnable, M: Model>(collector: &mut Collector, system: &mut System<S, M>, way: Way<'_>) -> Flow {
    let schedule = way.schedule();
    let limits = Limits { steps: None, ..Limits::default() };
    let mut watch = Watch { collector, schedule: &schedule };
    match driver::run(system, &mut Replay::of_schedule(&schedule), &mut watch, &limits, &|| None) {
        Coverage::Stopped(reason) => Flow::Stop(reason),
        Coverage::Complete => Flow::Continue,
    }
}

/// Lets a collector watch one execution.
struct Watch<'w> {
    collector: &'w mut Collector,
    schedule: &'w Schedule,
}

impl Observer for Watch<'_> {
    fn begin(&mut self) {
        self.collector.begin_execution();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.collector.watch_step(view, || self.schedule.clone())
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.collector.watch_end(view, ending, || self.schedule.clone())
    }
}
