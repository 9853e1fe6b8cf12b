//! Shows one execution of each class to the monitors.
//!
//! Where data races are looked for, one execution does not show all that those of its class have: reads may take the
//! same values from other writes. The order solver predicts these, and each that it predicts is performed too.

use teetotal_engine::driver::Flow;
use teetotal_engine::{Collector, Schedule, System, show};
use teetotal_judge::races::{DataRace, Prediction, predict};
use teetotal_judge::{Level, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::{ExplicitState, ThreadId};

use super::search::Audience;
use super::way::Way;

/// Shows executions to a collector.
pub(super) struct Show<'c, S, M> {
    collector: &'c mut Collector,
    nothing: Trace,
    /// Performs executions, where monitors look at more than states.
    performing: Option<System<S, M>>,
    /// Whether races may have been missed, because a question of order was given up.
    pub(super) is_partial: bool,
}

impl<'c, S: ExplicitState, M: Model> Show<'c, S, M> {
    pub(super) fn new(system: &System<S, M>, collector: &'c mut Collector) -> Self {
        let performing = (collector.needs() > Level::State).then(|| system.clone());
        Show { collector, nothing: Trace::default(), performing, is_partial: false }
    }

    /// Performs the executions of this class that have a race which is not known.
    fn predict(&mut self, trace: &Trace) -> Flow {
        let is_known = |race: &DataRace| self.collector.knows_race(race);
        let Prediction { schedules, is_partial, effort } = predict(self.collector.program(), M::ID, trace, &is_known);
        self.collector.stats.solver_calls += effort.questions;
        self.collector.stats.solver_work += effort.frontiers + effort.conflicts;
        self.is_partial |= is_partial;
        for steps in schedules {
            let Some(system) = &mut self.performing else { break };
            let schedule = Schedule::Steps(steps);
            let (flow, _) = show(system, &schedule, self.collector, &|| schedule.clone());
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }

    /// Shows a final state to monitors that look at states only.
    fn state(&mut self, system: &System<S, M>, way: &Way<'_, S, M>) -> Flow {
        self.collector.begin_execution();
        let flow = self.failures(system, way);
        let view = View { trace: &self.nothing, events: &[], state: system, failure: None };
        let next = self.collector.watch_end(&view, &system.ending(), || way.schedule());
        if flow == Flow::Continue { next } else { flow }
    }

    /// Shows the threads that have failed.
    fn failures(&mut self, system: &System<S, M>, way: &Way<'_, S, M>) -> Flow {
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

impl<S: ExplicitState, M: Model> Audience<S, M> for Show<'_, S, M> {
    fn execution(&mut self, state: &System<S, M>, way: &Way<'_, S, M>) -> Flow {
        let Some(system) = &mut self.performing else { return self.state(state, way) };
        let schedule = way.schedule();
        let (flow, trace) = show(system, &schedule, self.collector, &|| schedule.clone());
        if flow == Flow::Continue && self.collector.seeks_races() { self.predict(&trace) } else { flow }
    }

    fn failure(&mut self, state: &System<S, M>, way: &Way<'_, S, M>) -> Flow {
        if self.performing.is_some() {
            return Flow::Continue;
        }
        self.failures(state, way)
    }
}
