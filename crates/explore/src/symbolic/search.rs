//! The symbolic search: breadth first over symbolic states.

use std::rc::Rc;

use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::{Failure, Snapshot, Subject, ThreadId, ThreadSnapshot};

use super::accelerate::{self, Cycles};
use super::automaton::Language;
use super::buffer_language::Effect;
use super::cycle::{Item, Pump};
use super::expand::{Successor, Taken, World};
use super::keys::Key;
use super::stored::{State, StateId, States};
use super::witness;
use crate::collector::Collector;
use crate::driver::{Flow, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, Schedule, StopReason};
use crate::system::ending;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// An automaton with more states than this is taken for one that never stops growing.
    pub automaton_states: usize,
}

impl Settings {
    /// With these limits, and as large automata as are of use.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Settings { limits, automaton_states: 60 }
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

/// Searches all states that `subject` leads to under `M`, with buffers of any length.
pub fn search<S, M>(
    subject: S,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> (Coverage, Effort)
where
    S: Subject + Snapshot + ThreadSnapshot + Clone,
    M: Model,
{
    let mut search = Search::<S, M>::new(subject, settings);
    let coverage = search.run(collector, signal);
    (coverage, search.effort)
}

pub(super) struct Search<'s, S, M> {
    pub(super) world: World<S, M>,
    pub(super) cycles: Cycles,
    pub(super) states: States,
    settings: &'s Settings,
    /// The next state to go on from, in the order in which they were found.
    next: StateId,
    /// The keys whose states with empty buffers were looked at already.
    ended: Vec<bool>,
    /// A loop that was not followed any further.
    unbounded: Option<StopReason>,
    pub(super) effort: Effort,
}

impl<'s, S: Subject + Snapshot + ThreadSnapshot + Clone, M: Model> Search<'s, S, M> {
    pub(super) fn new(mut subject: S, settings: &'s Settings) -> Self {
        subject.restart();
        let buffer = settings.limits.buffer.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        Search {
            world: World::new(subject, buffer),
            cycles: Cycles::default(),
            states: States::default(),
            settings,
            next: 0,
            ended: Vec::new(),
            unbounded: None,
            effort: Effort::default(),
        }
    }

    pub(super) fn run(&mut self, collector: &mut Collector, signal: StopSignal<'_>) -> Coverage {
        let mut stopped = self.begin(collector);
        while stopped.is_none() && (self.next as usize) < self.states.len() {
            let id = self.next;
            self.next += 1;
            stopped = self.expand(id, collector, signal);
        }
        self.note_effort(collector);
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
        for successor in self.world.successors(&languages) {
            let stopped = self.take(id, successor, collector);
            if stopped.is_some() {
                return stopped;
            }
        }
        if id % SIGNAL_INTERVAL == 0 { self.over_limit().or_else(signal) } else { None }
    }

    fn note_effort(&mut self, collector: &mut Collector) {
        self.effort.languages = self.world.buffers.automata.n_languages() as u64;
        collector.stats.states = self.states.len() as u64;
        collector.stats.steps = self.effort.visited;
        collector.stats.bytes = self.memory();
    }

    fn memory(&self) -> u64 {
        self.states.memory() + self.world.keys.memory() + self.world.buffers.memory()
    }

    /// Stores the first state.
    fn begin(&mut self, collector: &mut Collector) -> Option<StopReason> {
        let key = self.world.intern();
        let languages = vec![Language::EPSILON; self.world.at.subject.n_threads()].into();
        let mut failures = (0..self.world.at.subject.n_threads()).map(ThreadId::at);
        let failure = failures.find_map(|thread| self.world.at.subject.failure(thread).map(|failure| (thread, failure)));
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
        self.store(State { key, languages, from: None, pumps: Vec::new(), depth: 0, is_covered: false }, collector)
    }

    /// Goes on from a state that a step leads to, unless it is known.
    fn take(&mut self, id: StateId, successor: Successor, collector: &mut Collector) -> Option<StopReason> {
        self.effort.visited += 1;
        let Successor { taken, key, mut languages, failure } = successor;
        if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
            return Some(StopReason::EndlessLoop { thread, instruction });
        }
        if failure.is_some() {
            self.effort.failures += 1;
            let reason = self.report(id, &taken, key, &languages, failure, collector);
            if reason.is_some() {
                return reason;
            }
        }
        if self.states.covering(&mut self.world.buffers, key, &languages).is_some() {
            return None;
        }
        let pumps = self.accelerate(id, &taken, key, &mut languages);
        if !pumps.is_empty() && self.states.covering(&mut self.world.buffers, key, &languages).is_some() {
            return None;
        }
        if let Some(reason) = self.grows_on(key, &languages) {
            self.unbounded.get_or_insert(reason);
            return None;
        }
        let (from, depth) = (Some((id, taken)), self.states.get(id).depth + 1);
        self.store(State { key, languages, from, pumps, depth, is_covered: false }, collector)
    }

    /// Adds what cycles lead to, those that end here for the first time among them.
    fn accelerate(
        &mut self,
        before: StateId,
        taken: &Rc<Taken>,
        key: Key,
        languages: &mut [Language],
    ) -> Vec<Rc<Pump>> {
        if !M::BUFFERS {
            return Vec::new();
        }
        self.world.visit(key);
        let mut pumps = Vec::new();
        if taken.step.is_commit() {
            pumps.extend(self.leave_again(&[Item::Step(Rc::clone(taken))], languages));
        } else {
            self.find_local_cycle(before, taken, key);
        }
        pumps.extend(self.cycles.accelerate(&mut self.world, key, languages));
        if let Some(found) = self.find_cycles(before, taken, key, languages) {
            pumps.extend(found);
            pumps.extend(self.cycles.accelerate(&mut self.world, key, languages));
        }
        pumps
    }

    /// Looks for the last time at which the thread that has moved stood where it stands now.
    fn find_local_cycle(&mut self, before: StateId, taken: &Rc<Taken>, key: Key) {
        let thread = taken.step.thread();
        let local = self.world.keys.locals_of(key)[thread.index()];
        let mut since = Some(before);
        while let Some(id) = since {
            if self.world.keys.locals_of(self.states.get(id).key)[thread.index()] == local {
                let mut items = self.states.path(Some(id), before);
                items.push(Item::Step(Rc::clone(taken)));
                return self.cycles.local.add(local, thread, &items);
            }
            since = self.states.get(id).from.as_ref().map(|(before, _)| *before);
        }
    }

    /// Lets the stores that left on a path leave again and again, if nothing else happened on it.
    fn leave_again(&mut self, path: &[Item], languages: &mut [Language]) -> Option<Rc<Pump>> {
        let mut leaving = Vec::new();
        let mut of = None;
        for item in path {
            let Item::Step(taken) = item else { continue };
            let &[(thread, Effect::Remove { letter, passed })] = &*taken.effects else { return None };
            if *of.get_or_insert(thread) != thread {
                return None;
            }
            leaving.push((letter, passed));
        }
        let thread = of?;
        accelerate::leave_behind(&mut self.world.buffers, thread, leaving, &mut languages[thread.index()])
    }

    /// Looks for cycles that need more than one thread, or in which memory changes on the way.
    ///
    /// Gives how those were accelerated in which stores only leave; `None` if there are no others either.
    fn find_cycles(
        &mut self,
        before: StateId,
        taken: &Rc<Taken>,
        key: Key,
        languages: &mut [Language],
    ) -> Option<Vec<Rc<Pump>>> {
        let mut found = None;
        for since in self.states.ancestors(before, key).take(MAX_ANCESTORS).collect::<Vec<_>>() {
            let smaller = self.states.get(since).languages.clone();
            let differs = |index: &usize| smaller[*index] != languages[*index];
            let differing: Vec<usize> = (0..languages.len()).filter(differs).collect();
            let explained = |&index: &usize| {
                self.cycles.is_closed(&mut self.world, key, ThreadId::at(index), languages)
            };
            if !differing.iter().all(explained) {
                let mut items = self.states.path(Some(since), before);
                items.push(Item::Step(Rc::clone(taken)));
                let pumps = found.get_or_insert_with(Vec::new);
                pumps.extend(self.leave_again(&items, languages));
                self.cycles.add(&mut self.world.buffers, key, items, languages.len());
            }
        }
        found
    }

    /// Stores a state and looks at whether it is an end.
    fn store(&mut self, state: State, collector: &mut Collector) -> Option<StopReason> {
        let (key, languages) = (state.key, state.languages.clone());
        let id = self.states.add(&mut self.world.buffers, state);
        self.world.visit(key);
        self.look_at_end(id, key, &languages, collector)
    }

    /// Lets the monitors look at the state with empty buffers, if it is here and nothing is possible in it.
    fn look_at_end(
        &mut self,
        id: StateId,
        key: Key,
        languages: &[Language],
        collector: &mut Collector,
    ) -> Option<StopReason> {
        if !languages.iter().all(|&language| self.world.buffers.automata.has_empty_word(language)) {
            return None;
        }
        // A thread that drains has nothing left to drain here.
        self.world.at.draining.fill(false);
        let number = self.world.intern().0 as usize;
        if self.ended.len() <= number {
            self.ended.resize(number + 1, false);
        }
        if std::mem::replace(&mut self.ended[number], true) || !self.world.is_final() {
            self.world.visit(key);
            return None;
        }
        let end: Ending = ending(&self.world.at.subject);
        let point = self.world.at.clone();
        let trace = Trace::default();
        let view = View { trace: &trace, events: &[], state: &point, failure: None };
        let schedule = std::cell::RefCell::new(self);
        let flow = collector.watch_end(&view, &end, || {
            let mut search = schedule.borrow_mut();
            let words = vec![Vec::new(); search.world.at.draining.len()];
            let items = search.states.path(None, id);
            search.schedule(&items, words)
        });
        schedule.borrow_mut().world.visit(key);
        stop_of(flow)
    }

    /// Lets the monitors look at a step in which a thread goes wrong.
    fn report(
        &mut self,
        id: StateId,
        taken: &Rc<Taken>,
        key: Key,
        languages: &[Language],
        failure: Option<(ThreadId, Failure)>,
        collector: &mut Collector,
    ) -> Option<StopReason> {
        self.world.visit(key);
        let point = self.world.at.clone();
        let trace = Trace::default();
        let view = View { trace: &trace, events: &[], state: &point, failure };
        let search = std::cell::RefCell::new(self);
        let flow = collector.watch_step(&view, || {
            let mut search = search.borrow_mut();
            let mut items = search.states.path(None, id);
            items.push(Item::Step(Rc::clone(taken)));
            let shortest = |&language: &Language| search.world.buffers.automata.shortest(language);
            let words = languages.iter().map(|l| shortest(l).expect("no language of a state is empty")).collect();
            search.schedule(&items, words)
        });
        stop_of(flow)
    }

    /// An execution along a path from the beginning.
    fn schedule(&mut self, items: &[Item], words: witness::Words) -> Schedule {
        let start = vec![Language::EPSILON; words.len()];
        Schedule::Steps(witness::steps(&mut self.world, &mut self.cycles, items, &start, words))
    }

    /// Where a loop lets a buffer grow that acceleration does not reach the end of.
    fn grows_on(&mut self, key: Key, languages: &[Language]) -> Option<StopReason> {
        let too_large =
            |&language: &Language| self.world.buffers.automata.n_states(language) > self.settings.automaton_states;
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

/// How many states on the way with the same threads and memory a cycle is looked for from.
const MAX_ANCESTORS: usize = 4;

fn stop_of(flow: Flow) -> Option<StopReason> {
    match flow {
        Flow::Stop(reason) => Some(reason),
        Flow::Continue | Flow::NextExecution => None,
    }
}
