//! The symbolic search: breadth first over symbolic states.

use std::collections::BTreeSet;

use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Collector, Coverage, Limits, Schedule, StopReason};
use teetotal_judge::View;
use teetotal_memory::{Model, Trace};
use teetotal_program::{ExplicitState, Failure, ThreadId};

use super::accelerate::{self, Cycles};
use super::automaton::Language;
use super::coarse::Grain;
use super::cycle::Item;
use super::expand::World;
use super::keys::Key;
use super::stored::{State, StateId, States};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// Whether steps whose order cannot matter are left out.
    pub reduce: bool,
    /// An automaton with more states than this is taken for one that never stops growing.
    pub automaton_states: usize,
    /// With what languages are made coarser, so that a search over more than can be reached has an end.
    pub coarse: Option<Coarse>,
}

/// How languages are made coarser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coarse {
    pub grain: Grain,
    pub taken_together: TakenTogether,
}

/// Which contents are made one where threads and memory are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TakenTogether {
    /// All.
    All,
    /// Those that have stores to the same locations in the same buffers.
    SameLocations,
    /// Those that have the same stores in the same buffers, in whatever order and number.
    SameStores,
    /// Those of which one has all that the other has.
    Nothing,
}

impl Settings {
    /// With these limits, with reduction, and with automata as large as is of use.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Settings { limits, reduce: true, automaton_states: 60, coarse: None }
    }
}

/// What the search did beside what the collector knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Symbolic states that steps led to, those known already included.
    pub visited: u64,
    /// The longest path.
    pub depth: u64,
    /// Different languages that were made.
    pub languages: u64,
    /// Steps in which a thread went wrong.
    pub failures: u64,
}

/// How many states are expanded between two looks at the stop signal and the limits.
const SIGNAL_INTERVAL: u32 = 16;

pub(super) struct Search<'s, S, M> {
    pub(super) world: World<S, M>,
    pub(super) cycles: Cycles,
    pub(super) states: States,
    pub(super) settings: &'s Settings,
    /// The next state to go on from, in the order in which they were found; of a coarse search, the next to be put into
    /// order.
    next: StateId,
    /// The states to go on from in another order.
    open: BTreeSet<(Key, StateId)>,
    /// How many states were gone on from; their numbers say nothing, since not every one is.
    expanded: u32,
    /// The keys whose states with empty buffers were looked at already.
    pub(super) ended: Vec<bool>,
    /// A loop that was not followed any further.
    pub(super) unbounded: Option<StopReason>,
    pub(super) effort: Effort,
}

impl<'s, S: ExplicitState, M: Model> Search<'s, S, M> {
    pub(super) fn new(mut subject: S, settings: &'s Settings) -> Self {
        subject.restart();
        Search {
            world: World::new(subject, settings),
            cycles: Cycles::default(),
            states: States::default(),
            settings,
            next: 0,
            open: BTreeSet::new(),
            expanded: 0,
            ended: Vec::new(),
            unbounded: None,
            effort: Effort::default(),
        }
    }

    pub(super) fn run(&mut self, collector: &mut Collector, signal: StopSignal<'_>) -> Coverage {
        self.run_for(u64::MAX, collector, signal).expect("there is no end to this work")
    }

    /// Goes on until it has done so much work in all; gives nothing if there is more to do then.
    pub(super) fn run_for(&mut self, work: u64, collector: &mut Collector, signal: StopSignal<'_>) -> Option<Coverage> {
        let mut stopped = if self.states.len() == 0 { self.begin(collector) } else { None };
        while stopped.is_none() && self.has_next() {
            if self.work() > work {
                self.note_effort(collector);
                return None;
            }
            let id = self.take_next();
            stopped = self.expand(id, collector, signal);
        }
        self.note_effort(collector);
        Some(self.coverage(stopped))
    }

    fn has_next(&self) -> bool {
        (self.next as usize) < self.states.len() || !self.open.is_empty()
    }

    /// The state to go on from: the one found first.
    ///
    /// Of a coarse search the one whose threads and memory were met first. More contents may have been added to it, and
    /// the more there are when it is gone on from, the less often it happens again.
    fn take_next(&mut self) -> StateId {
        if self.settings.coarse.is_none() {
            self.next += 1;
            return self.next - 1;
        }
        for id in self.next..self.states.len() as StateId {
            self.open.insert((self.states.get(id).key, id));
        }
        self.next = self.states.len() as StateId;
        self.open.pop_first().expect("there is a next state").1
    }

    /// What is said at the end, or where it stopped before.
    fn coverage(&self, mut stopped: Option<StopReason>) -> Coverage {
        stopped = stopped.or_else(|| self.over_limit()).or(self.unbounded);
        if stopped.is_none() && self.world.limit_reached {
            stopped = self.settings.limits.buffer.map(StopReason::Buffer);
        }
        stopped.map_or(Coverage::Complete, Coverage::Stopped)
    }

    /// Takes every step from a state, unless another one has all its contents.
    fn expand(&mut self, id: StateId, collector: &mut Collector, signal: StopSignal<'_>) -> Option<StopReason> {
        let State { key, is_covered, depth, .. } = *self.states.get(id);
        if is_covered {
            return None;
        }
        self.effort.depth = self.effort.depth.max(depth.into());
        self.world.visit(key);
        let languages = self.states.get(id).languages.clone();
        for successor in self.world.successors(&languages, self.settings.reduce) {
            let stopped = self.take(id, successor, collector);
            if stopped.is_some() {
                return stopped;
            }
        }
        self.expanded = self.expanded.wrapping_add(1);
        if !self.expanded.is_multiple_of(SIGNAL_INTERVAL) {
            return None;
        }
        let progress = Progress { executions: 0, states: self.states.len() as u64 };
        self.over_limit().or_else(|| signal.stop(progress))
    }

    /// How much was done, in steps and parts of automata.
    fn work(&self) -> u64 {
        self.effort.visited + self.world.buffers.automata.work()
    }

    fn note_effort(&mut self, collector: &mut Collector) {
        self.effort.languages = self.world.buffers.automata.n_languages() as u64;
        collector.stats.states = self.states.len() as u64;
        collector.stats.steps = self.effort.visited;
        collector.stats.bytes = self.memory();
    }

    pub(super) fn memory(&self) -> u64 {
        self.states.memory() + self.world.keys.memory() + self.world.buffers.memory()
    }

    /// Stores the first state.
    fn begin(&mut self, collector: &mut Collector) -> Option<StopReason> {
        let key = self.world.intern();
        let mut languages: Box<[Language]> = vec![Language::EPSILON; self.world.at.subject.n_threads()].into();
        let mut failures = (0..self.world.at.subject.n_threads()).map(ThreadId::at);
        let failure =
            failures.find_map(|thread| self.world.at.subject.failure(thread).map(|failure| (thread, failure)));
        if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
            return Some(StopReason::EndlessLoop { thread, instruction });
        }
        let trace = Trace::default();
        if failure.is_some() {
            let view = View { trace: &trace, events: &[], state: &self.world.at, failure };
            let flow = collector.watch_step(&view, || Schedule::Steps(Vec::new()));
            if let Flow::Stop(reason) = flow {
                return Some(reason);
            }
        }
        let mut pumps = Vec::new();
        if self.settings.coarse.is_none() {
            self.find_loops(key, &languages);
            pumps = self.cycles.accelerate(&mut self.world, key, &mut languages);
        }
        let items = pumps.into_iter().map(Item::Pump).collect();
        self.store(State { key, languages, from: None, items, depth: 0, is_covered: false }, collector)
    }

    /// Stores a state, which the world is at, and looks at whether it is an end.
    pub(super) fn store(&mut self, state: State, collector: &mut Collector) -> Option<StopReason> {
        let (key, languages) = (state.key, state.languages.clone());
        let id = self.states.add(&mut self.world.buffers, state);
        self.look_at_end(id, key, &languages, collector)
    }

    /// Where a loop lets a buffer grow that acceleration does not reach the end of.
    pub(super) fn grows_on(&mut self, key: Key, languages: &[Language]) -> Option<StopReason> {
        let too_large = |&language: &Language| accelerate::is_too_large(&self.world, language);
        let thread = ThreadId::at(languages.iter().position(too_large)?);
        self.world.visit(key);
        Some(StopReason::UnboundedLoop { thread, instruction: self.world.at.subject.place(thread) })
    }

    fn over_limit(&self) -> Option<StopReason> {
        let Limits { states, memory, steps, .. } = self.settings.limits;
        let stored = self.states.len() as u64;
        let over_states = states.filter(|&limit| stored > limit).map(StopReason::States);
        let over_steps = steps.filter(|&limit| self.effort.depth > limit).map(StopReason::Steps);
        let over_memory = memory.filter(|&limit| self.memory() > limit).map(StopReason::Memory);
        over_states.or(over_memory).or(over_steps)
    }
}

pub(super) fn stop_of(flow: Flow) -> Option<StopReason> {
    match flow {
        Flow::Stop(reason) => Some(reason),
        Flow::Continue | Flow::NextExecution => None,
    }
}
