//! Runs monitors over executions and gathers what they and the final states say.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_judge::{Ending, Finding, Level, Monitor, MonitorId, View};
use teetotal_program::Value;
use teetotal_program::condition::FinalState;
use teetotal_program::ir::Program;

use crate::driver::{Flow, Observer};
use crate::outcome::{Schedule, Stats, StopReason};
use crate::strategy::Abandon;

/// Gathers the outcome of a search; `W` is how the search says where it found something.
#[expect(missing_debug_implementations, reason = "monitors need not be printable")]
pub struct Collector<W = Schedule> {
    program: Arc<Program>,
    monitors: Vec<Box<dyn Monitor>>,
    stop_at_first: bool,
    pub states: BTreeMap<Vec<Value>, W>,
    pub satisfying: Option<W>,
    pub falsifying: Option<W>,
    /// One execution for each different finding, in the order in which they were found.
    pub findings: Vec<(MonitorId, Finding, W)>,
    pub stats: Stats,
    /// The final state that is looked at, kept to save allocations.
    values: Vec<Value>,
}

impl<W> Collector<W> {
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
            values: Vec::new(),
        }
    }

    /// The most that a monitor looks at.
    pub(crate) fn needs(&self) -> Level {
        self.monitors.iter().map(|monitor| monitor.id().info().needs).max().unwrap_or(Level::State)
    }

    /// Another execution begins.
    pub(crate) fn begin_execution(&mut self) {
        self.monitors.iter_mut().for_each(|monitor| monitor.begin());
    }

    /// Adds what `later` gathered in executions that come after all of these.
    pub(crate) fn append(&mut self, later: Collector<W>) {
        for (values, place) in later.states {
            self.states.entry(values).or_insert(place);
        }
        self.satisfying = self.satisfying.take().or(later.satisfying);
        self.falsifying = self.falsifying.take().or(later.falsifying);
        for (monitor, finding, place) in later.findings {
            if !self.findings.iter().any(|(m, f, _)| *m == monitor && *f == finding) {
                self.findings.push((monitor, finding, place));
            }
        }
        self.stats.add(&later.stats);
    }

    /// The same with other words for where something was found.
    pub(crate) fn map<V>(self, mut say: impl FnMut(W) -> V) -> Collector<V> {
        Collector {
            program: self.program,
            monitors: self.monitors,
            stop_at_first: self.stop_at_first,
            states: self.states.into_iter().map(|(values, place)| (values, say(place))).collect(),
            satisfying: self.satisfying.map(&mut say),
            falsifying: self.falsifying.map(&mut say),
            findings: self.findings.into_iter().map(|(m, finding, place)| (m, finding, say(place))).collect(),
            stats: self.stats,
            values: self.values,
        }
    }

    /// Takes note of findings that are new; gives whether the search goes on.
    pub(crate) fn report(&mut self, monitor: MonitorId, finding: Finding, schedule: impl FnOnce() -> W) -> Flow {
        if !self.findings.iter().any(|(m, f, _)| *m == monitor && *f == finding) {
            self.findings.push((monitor, finding, schedule()));
        }
        if self.stop_at_first { Flow::Stop(StopReason::Violation) } else { Flow::Continue }
    }

    /// Asks every monitor about a step.
    pub(crate) fn watch_step(&mut self, view: &View<'_>, schedule: impl Fn() -> W) -> Flow {
        let found: Vec<_> = self.monitors.iter_mut().filter_map(|m| m.step(view).map(|f| (m.id(), f))).collect();
        self.report_all(found, schedule)
    }

    /// Takes in a maximal execution.
    pub(crate) fn watch_end(&mut self, view: &View<'_>, ending: &Ending, schedule: impl Fn() -> W) -> Flow {
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

    fn report_all(&mut self, found: Vec<(MonitorId, Finding)>, schedule: impl Fn() -> W) -> Flow {
        let mut flow = Flow::Continue;
        for (monitor, finding) in found {
            let next = self.report(monitor, finding, &schedule);
            flow = if flow == Flow::Continue { next } else { flow };
        }
        flow
    }

    fn note_final_state(&mut self, view: &View<'_>, schedule: &impl Fn() -> W) {
        self.values.clear();
        self.values.extend(self.program.observed.iter().map(|&term| view.state.value(term)));
        if !self.states.contains_key(&self.values) {
            self.states.insert(self.values.clone(), schedule());
        }
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

impl Observer for Collector<Schedule> {
    fn begin(&mut self) {
        self.begin_execution();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.stats.steps += 1;
        self.watch_step(view, || schedule_of(view))
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.watch_end(view, ending, || schedule_of(view))
    }

    fn abandoned(&mut self, _: &View<'_>, reason: Abandon) {
        match reason {
            Abandon::SeenBefore => self.stats.abandoned += 1,
            Abandon::EndOfSchedule | Abandon::NotPossible => self.stats.executions += 1,
        }
    }
}
