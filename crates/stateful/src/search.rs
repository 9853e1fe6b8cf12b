//! The rounds of the search over states.

use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Collector, Coverage, Limits, Schedule, StopReason, System};
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::ExplicitState;

use crate::expand::{Point, Worker};
use crate::history::{Forgetful, History};
use crate::store::{AtOnce, Later};
use crate::visited::{Shard, StateId, Visited, Way, hash_of, shard_of};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// How many workers; results do not depend on it.
    pub jobs: usize,
    /// Whether steps whose order cannot matter are left out.
    pub reduce: bool,
}

/// How many states are expanded in a round at most.
const ROUND: usize = 1 << 16;

/// More workers than this are of no use.
const MAX_JOBS: usize = 64;

/// Below this many states in a round, other workers are not worth waking.
const WORTH_SHARING: usize = 512;

/// Searches all states that `start` leads to.
pub fn search<S, M>(
    start: &System<S, M>,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> Coverage
where
    S: ExplicitState,
    M: Model,
{
    search_with(start, Forgetful, collector, settings, signal, &mut |_, _| {})
}

/// Searches all states with what `history` remembers of the way to them; `at_end` sees each maximal one.
pub fn search_with<S, M, H>(
    start: &System<S, M>,
    history: H,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
    at_end: &mut dyn FnMut(&H, &Ending),
) -> Coverage
where
    S: ExplicitState,
    M: Model,
    H: History,
{
    let mut start = Point { system: start.clone(), history };
    if let Some(limit) = settings.limits.buffer {
        start.system.limit_buffers(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    let workers = (0..settings.jobs.clamp(1, MAX_JOBS)).map(|_| Worker::new(&start, settings.reduce)).collect();
    let search = Search { start, visited: Visited::new(), queue: Vec::new(), workers, collector, settings, at_end };
    search.run(signal)
}

struct Search<'s, S, M, H> {
    start: Point<S, M, H>,
    visited: Visited,
    /// Every state in the order in which it was found.
    queue: Vec<StateId>,
    workers: Vec<Worker<S, M, H>>,
    collector: &'s mut Collector,
    settings: &'s Settings,
    at_end: &'s mut dyn FnMut(&H, &Ending),
}

impl<S, M, H> Search<'_, S, M, H>
where
    S: ExplicitState,
    M: Model,
    H: History,
{
    fn run(mut self, signal: StopSignal<'_>) -> Coverage {
        let mut stopped = self.begin();
        let (mut next, mut layer_end, mut depth) = (0, self.queue.len(), 0);
        while next < self.queue.len() && stopped.is_none() {
            let until = layer_end.min(next + ROUND);
            self.expand(next, until);
            stopped = self.judge().or_else(|| self.over_limit(depth)).or_else(|| signal.stop(self.progress()));
            next = until;
            if next == layer_end {
                layer_end = self.queue.len();
                depth += 1;
            }
        }
        self.collector.stats.states = self.visited.len() as u64;
        self.collector.stats.bytes = self.visited.memory();
        if stopped.is_none() && self.workers.iter().any(Worker::limit_reached) {
            stopped = self.settings.limits.buffer.map(StopReason::Buffer);
        }
        stopped.map_or(Coverage::Complete, Coverage::Stopped)
    }

    /// Stores the first state.
    fn begin(&mut self) -> Option<StopReason> {
        let mut bytes = Vec::new();
        self.start.save(&mut bytes);
        let hash = hash_of(&bytes);
        let way = Way { parent: None, choice: 0 };
        self.queue.extend(self.visited.shards[shard_of(hash)].insert(hash, &bytes, way));
        let failure = self.start.system.initial_failure()?;
        if let (thread, teetotal_program::Failure::EndlessLoop { instruction }) = failure {
            return Some(StopReason::EndlessLoop { thread, instruction });
        }
        let trace = Trace::default();
        let view = View { trace: &trace, events: &[], state: &self.start.system, failure: Some(failure) };
        stop_of(self.collector.watch_step(&view, || Schedule::Choices(Vec::new())))
    }

    /// Takes the steps from a stretch of the queue, and adds what is new.
    fn expand(&mut self, from: usize, until: usize) {
        self.workers.iter_mut().for_each(|worker| worker.found.clear());
        if self.workers.len() > 1 && until - from >= WORTH_SHARING {
            self.expand_together(from, until);
            return self.insert_together();
        }
        let worker = &mut self.workers[0];
        for position in from..until {
            let id = self.queue[position];
            worker.expand(id, &mut AtOnce { visited: &mut self.visited, queue: &mut self.queue });
        }
    }

    /// Each worker takes the steps from a part.
    fn expand_together(&mut self, from: usize, until: usize) {
        let ids = &self.queue[from..until];
        let visited = &self.visited;
        let parts = ids.chunks(ids.len().div_ceil(self.workers.len()));
        std::thread::scope(|scope| {
            for ((number, worker), part) in self.workers.iter_mut().enumerate().zip(parts) {
                scope.spawn(move || {
                    let mut batches = std::mem::take(&mut worker.batches);
                    batches.clear(number);
                    part.iter().for_each(|&id| worker.expand(id, &mut Later { visited, batches: &mut batches }));
                    worker.batches = batches;
                });
            }
        });
    }

    /// Adds what is new, each worker to some of the shards.
    fn insert_together(&mut self) {
        let workers = &self.workers;
        let insert = |shards: &mut [Shard], first: usize| {
            let mut new: Vec<(u64, StateId)> = Vec::new();
            for (index, shard) in (first..).zip(shards) {
                workers.iter().for_each(|worker| worker.batches.insert_into(index, shard, &mut new));
            }
            new.sort_unstable_by_key(|&(sequence, _)| sequence);
            new
        };
        let share = self.visited.shards.len().div_ceil(workers.len());
        let mut new: Vec<(u64, StateId)> = std::thread::scope(|scope| {
            let parts = (0..).step_by(share).zip(self.visited.shards.chunks_mut(share));
            let parts: Vec<_> = parts.map(|(first, shards)| scope.spawn(move || insert(shards, first))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("inserting does not panic")).collect()
        });
        // Merging runs that are sorted already is all that is left to this sort.
        new.sort_by_key(|&(sequence, _)| sequence);
        self.queue.extend(new.into_iter().map(|(_, id)| id));
    }

    /// Lets the monitors look at what the round found.
    fn judge(&mut self) -> Option<StopReason> {
        let mut stop = None;
        let worth_a_look =
            |worker: &Worker<S, M, H>| !worker.found.terminals.is_empty() || !worker.found.failures.is_empty();
        let mut at = self.workers.iter().any(worth_a_look).then(|| self.start.clone());
        let mut enabled = Vec::new();
        let trace = Trace::default();
        let workers = std::mem::take(&mut self.workers);
        for found in workers.iter().map(|worker| &worker.found) {
            self.collector.stats.steps += found.steps;
            if let Some((thread, instruction)) = found.endless {
                stop = stop.or(Some(StopReason::EndlessLoop { thread, instruction }));
            }
            let Some(at) = &mut at else { continue };
            for &(id, choice) in &found.failures {
                at.load(self.visited.bytes_of(id));
                at.system.enabled(&mut enabled);
                let failure = at.perform(enabled[choice as usize]);
                let view = View { trace: &trace, events: &[], state: &at.system, failure };
                let flow = self.collector.watch_step(&view, || schedule_to(&self.visited, id, Some(choice)));
                stop = stop.or(stop_of(flow));
            }
            for &id in &found.terminals {
                at.load(self.visited.bytes_of(id));
                let ending = at.system.ending();
                (self.at_end)(&at.history, &ending);
                let view = View { trace: &trace, events: &[], state: &at.system, failure: None };
                let flow = self.collector.watch_end(&view, &ending, || schedule_to(&self.visited, id, None));
                stop = stop.or(stop_of(flow));
            }
        }
        self.workers = workers;
        stop
    }

    fn progress(&self) -> Progress {
        Progress { executions: self.collector.stats.executions, states: self.visited.len() as u64 }
    }

    fn over_limit(&self, depth: u64) -> Option<StopReason> {
        let Limits { states, memory, steps, .. } = self.settings.limits;
        let (stored, bytes) = (self.visited.len() as u64, self.visited.memory());
        let over_states = states.filter(|&limit| stored > limit).map(StopReason::States);
        let full = self.visited.is_nearly_full().then_some(bytes);
        let over_memory = memory.filter(|&limit| bytes > limit).or(full).map(StopReason::Memory);
        let over_steps = steps.filter(|&limit| depth >= limit).map(StopReason::Steps);
        over_states.or(over_memory).or(over_steps)
    }
}

/// The choices that lead to a state, and one more.
fn schedule_to(visited: &Visited, id: StateId, last: Option<u32>) -> Schedule {
    let mut choices = Vec::with_capacity(64);
    choices.extend(last);
    let mut way = visited.way_to(id);
    while let Some(parent) = way.parent {
        choices.push(way.choice);
        way = visited.way_to(parent);
    }
    choices.reverse();
    Schedule::Choices(choices)
}

fn stop_of(flow: Flow) -> Option<StopReason> {
    match flow {
        Flow::Stop(reason) => Some(reason),
        Flow::Continue | Flow::NextExecution => None,
    }
}
