//! Runs monitors over executions and gathers what they and the final states say.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_judge::{Ending, Finding, Monitor, MonitorId, View};
use teetotal_program::Value;
use teetotal_program::condition::FinalState;
use teetotal_program::ir::Program;

use crate::driver::{Flow, Observer, values};
use crate::outcome::{Schedule, Stats, StopReason};
use crate::strategy::Abandon;

/// Gathers the outcome of a search.
#[expect(missing_debug_implementations, reason = "monitors need not be printable")]
pub struct Collector {
    program: Arc<Program>,
    monitors: Vec<Box<dyn Monitor>>,
    stop_at_first: bool,
    pub states: BTreeMap<Vec<Value>, Schedule>,
    pub satisfying: Option<Schedule>,
    pub falsifying: Option<Schedule>,
    /// One schedule for each different finding, in the order in which they were found.
    pub findings: Vec<(MonitorId, Finding, Schedule)>,
    pub stats: Stats,
}

impl Collector {
    #[must_use]
    pub fn new(program: &Arc<Program>, monitors: &[MonitorId], stop_at_first: bool) -> Self {
        Collector {
            program: Arc::clone(program),
            monitors: monitors.iter().map(|id| (id.info().make)(program)).collect(),
            stop_at_first,
            states: BTreeMap::new(),
            satisfying: None,
            falsifying: None,
            findings: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Takes note of findings that are new; gives whether the search goes on.
    pub(crate) fn report(&mut self, monitor: MonitorId, finding: Finding, schedule: impl FnOnce() -> Schedule) -> Flow {
        if !self.findings.iter().any(|(m, f, _)| *m == monitor && *f == finding) {
            self.findings.push((monitor, finding, schedule()));
        }
        if self.stop_at_first { Flow::Stop(StopReason::Violation) } else { Flow::Continue }
    }

    /// Asks every monitor about a step.
    pub(crate) fn watch_step(&mut self, view: &View<'_>, schedule: impl Fn() -> Schedule) -> Flow {
        let found: Vec<_> = self.monitors.iter_mut().filter_map(|m| m.step(view).map(|f| (m.id(), f))).collect();
        self.report_all(found, schedule)
    }

    /// Takes in a maximal execution.
    pub(crate) fn watch_end(&mut self, view: &View<'_>, ending: &Ending, schedule: impl Fn() -> Schedule) -> Flow {
        let ending = &counted(&self.program, view.state, ending);
        self.stats.executions += 1;
        match ending {
            Ending::Completed => {
                self.stats.completed += 1;
                self.note_final_state(view, &schedule);
            }
            Ending::Blocked(_) => self.stats.blocked += 1,
            Ending::Discarded => self.stats.discarded += 1,
            Ending::Failed => self.stats.failed += 1,
        }
        let found: Vec<_> = self.monitors.iter_mut().filter_map(|m| m.end(view, ending).map(|f| (m.id(), f))).collect();
        self.report_all(found, schedule)
    }

    fn report_all(&mut self, found: Vec<(MonitorId, Finding)>, schedule: impl Fn() -> Schedule) -> Flow {
        let mut flow = Flow::Continue;
        for (monitor, finding) in found {
            let next = self.report(monitor, finding, &schedule);
            flow = if flow == Flow::Continue { next } else { flow };
        }
        flow
    }

    fn note_final_state(&mut self, view: &View<'_>, schedule: &impl Fn() -> Schedule) {
        let values = values(view.state, &self.program.observed);
        self.states.entry(values).or_insert_with(schedule);
        if let Some(condition) = &self.program.condition {
            let holds = condition.formula().holds(view.state);
            let witness = if holds { &mut self.satisfying } else { &mut self.falsifying };
            witness.get_or_insert_with(schedule);
        }
    }
}

/// How an execution counts that ended so: one whose final state the filter rejects is discarded.
pub(crate) fn counted(program: &Program, state: &dyn FinalState, ending: &Ending) -> Ending {
    match ending {
        Ending::Completed if !program.admits(state) => Ending::Discarded,
        _ => ending.clone(),
    }
}

/// The schedule of the execution in `view`.
fn schedule_of(view: &View<'_>) -> Schedule {
    Schedule::Steps(view.trace.steps().iter().map(|record| record.step).collect())
}

impl Observer for Collector {
    fn begin(&mut self) {
        self.monitors.iter_mut().for_each(|monitor| monitor.begin());
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.stats.steps += 1;
        self.watch_step(view, || schedule_of(view))
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.watch_end(view, ending, || schedule_of(view))
    }

    fn abandoned(&mut self, _: &View<'_>, _: Abandon) {
        self.stats.executions += 1;
    }
}
