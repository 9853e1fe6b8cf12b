//! Runs monitors over executions and gathers what they and the final states say.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_judge::monitors::robustness::Site;
use teetotal_judge::races::DataRace;
use teetotal_judge::{Ending, Finding, Level, Monitor, MonitorId, View};
use teetotal_memory::{ModelId, Step};
use teetotal_program::Value;
use teetotal_program::condition::FinalState;
use teetotal_program::ir::Program;

use crate::construct::{Construct, Constructed};
use crate::driver::{Flow, Observer};
use crate::outcome::{Stats, StopReason};
use crate::schedule::Schedule;
use crate::strategy::Abandon;

/// Gathers the outcome of a search; `W` is how the search says where it found something.
#[expect(missing_debug_implementations, reason = "monitors need not be printable")]
pub struct Collector<W = Schedule> {
    program: Arc<Program>,
    /// The model that is asked about.
    model: ModelId,
    monitors: Vec<Box<dyn Monitor>>,
    stop_at_first: bool,
    pub states: BTreeMap<Vec<Value>, W>,
    pub satisfying: Option<W>,
    pub falsifying: Option<W>,
    /// One execution for each different finding, in the order in which they were found.
    pub findings: Vec<Found<W>>,
    pub stats: Stats,
    /// Makes executions of the model out of delays that are found under sequential consistency.
    constructor: Option<Box<dyn Construct>>,
    /// Whether the constructor ever gave up to find an execution.
    pub gave_up: bool,
    /// How many executions were begun.
    begun: u64,
    /// The final state that is looked at, kept to save allocations.
    values: Vec<Value>,
}

/// Something wrong, and where.
#[derive(Clone, Debug)]
pub struct Found<W> {
    pub monitor: MonitorId,
    pub finding: Finding,
    /// The first execution that shows it; without a step where robustness was decided by a search of the model.
    pub place: W,
    /// For a finding on robustness, an execution of the model.
    pub relaxed: Option<Vec<Step>>,
    /// In how many executions it was seen.
    pub executions: u64,
    /// The last of them.
    last: u64,
}

impl<W> Collector<W> {
    /// `model` is the one that is asked about.
    #[must_use]
    pub fn new(program: &Arc<Program>, model: ModelId, monitors: &[MonitorId], stop_at_first: bool) -> Self {
        Collector {
            program: Arc::clone(program),
            model,
            monitors: monitors.iter().map(|id| (id.info().make)(program, model)).collect(),
            stop_at_first,
            states: BTreeMap::new(),
            satisfying: None,
            falsifying: None,
            findings: Vec::new(),
            stats: Stats::default(),
            constructor: None,
            gave_up: false,
            begun: 0,
            values: Vec::new(),
        }
    }

    /// Delays count where this makes an execution of the model out of them; else all do.
    #[must_use]
    pub fn constructing(self, constructor: Option<Box<dyn Construct>>) -> Self {
        Collector { constructor, ..self }
    }

    /// One that asks the same and has gathered nothing yet; it stops where this one has found nothing.
    pub fn afresh(&self) -> Self {
        let monitors: Vec<MonitorId> = self.monitors.iter().map(|monitor| monitor.id()).collect();
        Collector::new(&self.program, self.model, &monitors, self.findings.is_empty())
            .constructing(self.constructor.as_ref().map(|constructor| constructor.afresh()))
    }

    /// Whether all that `other` found was found here too; final states count where all of them are asked for, or a
    /// condition is about them.
    pub fn has_all_of(&self, other: &Self) -> bool {
        let is_known = |found: &Found<W>| {
            self.findings.iter().any(|known| known.monitor == found.monitor && known.finding.is_like(&found.finding))
        };
        let ends = |stats: &Stats| [stats.completed, stats.blocked, stats.discarded, stats.failed].map(|n| n > 0);
        let witnesses = |of: &Self| [of.satisfying.is_some(), of.falsifying.is_some()];
        let states_matter = !self.stop_at_first || self.program.condition.is_some();
        other.findings.iter().all(is_known)
            && (!states_matter || other.states.keys().all(|values| self.states.contains_key(values)))
            && ends(&other.stats).iter().zip(ends(&self.stats)).all(|(&there, here)| here || !there)
            && witnesses(other).iter().zip(witnesses(self)).all(|(&there, here)| here || !there)
    }

    /// The most that a monitor looks at.
    pub fn needs(&self) -> Level {
        self.monitors.iter().map(|monitor| monitor.id().info().needs).max().unwrap_or(Level::State)
    }

    /// Whether a monitor looks for data races.
    pub fn seeks_races(&self) -> bool {
        self.monitors.iter().any(|monitor| monitor.id() == MonitorId::Races)
    }

    /// Whether a data race was found before.
    pub fn knows_race(&self, race: &DataRace) -> bool {
        self.findings.iter().any(|found| found.finding == Finding::Race(*race))
    }

    /// The program that is searched.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The model whose delays alone make a monitor look at more than states, if there is one.
    pub fn seeks_delays(&self) -> Option<ModelId> {
        let mut ids = self.monitors.iter().map(|monitor| monitor.id());
        let is_content = ids.all(|id| id == MonitorId::Robustness || id.info().needs == Level::State);
        is_content.then_some(self.model)
    }

    /// What was found before of a delay between these places.
    fn known_delay(&mut self, (store_at, access_at): (Site, Site)) -> Option<&mut Found<W>> {
        self.findings.iter_mut().find(|found| match &found.finding {
            Finding::NotRobust(delay) => (delay.store_at, delay.access_at) == (store_at, access_at),
            _ => false,
        })
    }

    /// Whether delays between these places, store and access, were all found before.
    pub fn knows_delays(&mut self, places: &[(Site, Site)]) -> bool {
        places.iter().all(|&pair| self.known_delay(pair).is_some())
    }

    /// Counts delays that were found before once more in this execution.
    pub fn count_delays(&mut self, places: &[(Site, Site)]) {
        let begun = self.begun;
        for &pair in places {
            if let Some(known) = self.known_delay(pair) {
                known.seen_in(begun);
            }
        }
    }

    /// Another execution begins.
    pub fn begin_execution(&mut self) {
        self.begun += 1;
        self.monitors.iter_mut().for_each(|monitor| monitor.begin());
    }

    /// Adds what `later` gathered in executions that come after all of these.
    pub fn append(&mut self, later: Collector<W>) {
        for (values, place) in later.states {
            self.states.entry(values).or_insert(place);
        }
        self.satisfying = self.satisfying.take().or(later.satisfying);
        self.falsifying = self.falsifying.take().or(later.falsifying);
        for found in later.findings {
            match self.known(found.monitor, &found.finding) {
                Some(known) => known.executions += found.executions,
                None => self.findings.push(found),
            }
        }
        self.gave_up |= later.gave_up;
        self.stats.add(&later.stats);
    }

    /// The same with other words for where something was found.
    pub fn map<V>(self, mut say: impl FnMut(W) -> V) -> Collector<V> {
        Collector {
            program: self.program,
            model: self.model,
            monitors: self.monitors,
            stop_at_first: self.stop_at_first,
            states: self.states.into_iter().map(|(values, place)| (values, say(place))).collect(),
            satisfying: self.satisfying.map(&mut say),
            falsifying: self.falsifying.map(&mut say),
            findings: self.findings.into_iter().map(|found| found.map(&mut say)).collect(),
            stats: self.stats,
            constructor: self.constructor,
            gave_up: self.gave_up,
            begun: self.begun,
            values: self.values,
        }
    }

    /// What was found before and is like `finding`.
    fn known(&mut self, monitor: MonitorId, finding: &Finding) -> Option<&mut Found<W>> {
        self.findings.iter_mut().find(|found| found.monitor == monitor && found.finding.is_like(finding))
    }

    /// Records a finding; returns whether the search continues.
    fn report(&mut self, monitor: MonitorId, finding: Finding, view: &View<'_>, schedule: impl FnOnce() -> W) -> Flow {
        let begun = self.begun;
        if let Some(known) = self.known(monitor, &finding) {
            known.seen_in(begun);
        } else {
            let relaxed = match (&finding, &mut self.constructor) {
                (Finding::NotRobust(delay), Some(constructor)) => {
                    let constructed = constructor.construct(view.trace, delay);
                    self.gave_up |= constructor.gave_up();
                    match constructed {
                        Constructed::Execution(steps) => Some(steps),
                        Constructed::Impossible => return Flow::Continue,
                    }
                }
                _ => None,
            };
            self.findings.push(Found { monitor, finding, place: schedule(), relaxed, executions: 1, last: begun });
        }
        if self.stop_at_first { Flow::Stop(StopReason::Violation) } else { Flow::Continue }
    }

    /// Asks every monitor about a step.
    pub fn watch_step(&mut self, view: &View<'_>, schedule: impl Fn() -> W) -> Flow {
        let found: Vec<_> = self.monitors.iter_mut().filter_map(|m| m.step(view).map(|f| (m.id(), f))).collect();
        self.report_all(found, view, schedule)
    }

    /// Takes in a maximal execution.
    pub fn watch_end(&mut self, view: &View<'_>, ending: &Ending, schedule: impl Fn() -> W) -> Flow {
        self.watch_end_up_to(Level::EveryInterleaving, view, ending, schedule)
    }

    /// The same for monitors that look at no more than `level`, if the others would find nothing.
    pub fn watch_end_up_to(
        &mut self,
        level: Level,
        view: &View<'_>,
        ending: &Ending,
        schedule: impl Fn() -> W,
    ) -> Flow {
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
        let mut found = Vec::new();
        for monitor in self.monitors.iter_mut().filter(|monitor| monitor.id().info().needs <= level) {
            found.extend(monitor.end(view, ending).into_iter().map(|finding| (monitor.id(), finding)));
        }
        self.report_all(found, view, schedule)
    }

    fn report_all(&mut self, found: Vec<(MonitorId, Finding)>, view: &View<'_>, schedule: impl Fn() -> W) -> Flow {
        let mut flow = Flow::Continue;
        for (monitor, finding) in found {
            let next = self.report(monitor, finding, view, &schedule);
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

impl Found<Schedule> {
    /// A finding on robustness that was seen in so many states.
    pub fn of_states(
        monitor: MonitorId,
        finding: Finding,
        place: Schedule,
        relaxed: Vec<Step>,
        executions: u64,
    ) -> Self {
        Found { monitor, finding, place, relaxed: Some(relaxed), executions, last: 0 }
    }
}

impl<W> Found<W> {
    /// Counts the execution with this number, if it was not counted yet.
    fn seen_in(&mut self, begun: u64) {
        self.executions += u64::from(self.last != begun);
        self.last = begun;
    }

    /// The same with other words for where it was found.
    fn map<V>(self, say: impl FnOnce(W) -> V) -> Found<V> {
        let Found { monitor, finding, place, relaxed, executions, last } = self;
        Found { monitor, finding, place: say(place), relaxed, executions, last }
    }
}

/// How an execution counts that ended so: one whose final state the filter rejects is discarded.
pub fn counted(program: &Program, state: &dyn FinalState, ending: &Ending) -> Ending {
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
