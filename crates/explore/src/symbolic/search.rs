//! The symbolic search: depth first over symbolic states.

use std::rc::Rc;

use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::{Failure, Snapshot, Subject, ThreadId};

use super::accelerate::{Cycles, Item};
use super::automaton::Language;
use super::expand::{Successor, World};
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

/// How many steps are taken between two looks at the stop signal and the limits.
const SIGNAL_INTERVAL: u64 = 256;

/// Searches all states that `subject` leads to under `M`, with buffers of any length.
pub fn search<S, M>(
    subject: S,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> (Coverage, Effort)
where
    S: Subject + Snapshot + Clone,
    M: Model,
{
    let mut search = Search::<S, M>::new(subject, settings);
    let coverage = search.run(collector, signal);
    (coverage, search.effort)
}

/// A state with the steps that are still to be taken from it.
struct Frame {
    id: StateId,
    open: std::vec::IntoIter<Successor>,
}

pub(super) struct Search<'s, S, M> {
    pub(super) world: World<S, M>,
    pub(super) cycles: Cycles,
    pub(super) states: States,
    settings: &'s Settings,
    stack: Vec<Frame>,
    /// The keys whose states with empty buffers were looked at already.
    ended: Vec<bool>,
    /// A loop that was not followed any further.
    unbounded: Option<StopReason>,
    pub(super) effort: Effort,
}

impl<'s, S: Subject + Snapshot + Clone, M: Model> Search<'s, S, M> {
    pub(super) fn new(mut subject: S, settings: &'s Settings) -> Self {
        subject.restart();
        let buffer = settings.limits.buffer.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        Search {
            world: World::new(subject, buffer),
            cycles: Cycles::default(),
            states: States::default(),
            settings,
            stack: Vec::new(),
            ended: Vec::new(),
            unbounded: None,
            effort: Effort::default(),
        }
    }

    pub(super) fn run(&mut self, collector: &mut Collector, signal: StopSignal<'_>) -> Coverage {
        let mut stopped = self.begin(collector);
        while stopped.is_none()
            && let Some(frame) = self.stack.last_mut()
        {
            let id = frame.id;
            let next = if self.states.get(id).is_covered { None } else { frame.open.next() };
            match next {
                Some(successor) => stopped = self.take(id, successor, collector),
                None => {
                    self.states.get_mut(id).is_open = false;
                    self.stack.pop();
                }
            }
            if self.effort.visited.is_multiple_of(SIGNAL_INTERVAL) && stopped.is_none() {
                stopped = self.over_limit().or_else(signal);
            }
        }
        self.note_effort(collector);
        stopped = stopped.or_else(|| self.over_limit()).or(self.unbounded);
        if stopped.is_none() && self.world.limit_reached {
            stopped = self.settings.limits.buffer.map(StopReason::Buffer);
        }
        stopped.map_or(Coverage::Complete, Coverage::Stopped)
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
        self.store(State { key, languages, from: None, pumps: Vec::new(), is_open: true, is_covered: false }, collector)
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
        let from = Some((id, taken));
        self.store(State { key, languages, from, pumps, is_open: true, is_covered: false }, collector)
    }

    /// Adds what cycles lead to, those that end here for the first time among them.
    fn accelerate(
        &mut self,
        before: StateId,
        taken: &Rc<super::expand::Taken>,
        key: Key,
        languages: &mut [Language],
    ) -> Vec<Rc<super::accelerate::Pump>> {
        if !M::BUFFERS {
            return Vec::new();
        }
        let open = self.states.with_key(key).iter().rev().copied().filter(|&id| self.states.get(id).is_open);
        for since in open.take(MAX_ANCESTORS).collect::<Vec<_>>() {
            let mut items = self.states.path(Some(since), before);
            items.push(Item::Step(Rc::clone(taken)));
            self.cycles.add(&mut self.world.buffers, key, items, languages.len());
        }
        self.cycles.accelerate(&mut self.world, key, languages)
    }

    /// Stores a state, looks at whether it is an end, and makes it the next to go on from.
    fn store(&mut self, state: State, collector: &mut Collector) -> Option<StopReason> {
        let (key, languages) = (state.key, state.languages.clone());
        let id = self.states.add(&mut self.world.buffers, state);
        self.world.visit(key);
        let reason = self.look_at_end(id, key, &languages, collector);
        let open = self.world.successors(&languages).into_iter();
        self.stack.push(Frame { id, open });
        self.effort.depth = self.effort.depth.max(self.stack.len() as u64 - 1);
        reason
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
        taken: &Rc<super::expand::Taken>,
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
        let over_steps = steps.filter(|&limit| self.stack.len() as u64 > limit).map(StopReason::Steps);
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
