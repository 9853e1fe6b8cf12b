//! The search for subjects that are no programs of the intermediate representation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_judge::Ending;
use teetotal_judge::monitors::robustness::Site;
use teetotal_memory::{Model, ModelId};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Loc, ThreadId, Value};

use super::job::{self, Done, Job, JobEnd, Visitor, Wish};
use super::linear::Move;
use super::pool::Pool;
use super::rest::Rest;
use super::search::Settings;
use super::walk::{Rewindable, Walk};
use crate::driver::{Flow, Progress, StopSignal};
use crate::outcome::{Coverage, Stats, StopReason};

/// One execution of the search.
#[expect(missing_debug_implementations, reason = "a subject need not be printable")]
pub struct Leaf<'l, S> {
    /// The subject at the end of it.
    pub subject: &'l S,
    pub ending: Ending,
    /// What went wrong, thread by thread.
    pub failures: Vec<(ThreadId, Failure)>,
    /// The way to it; of several executions, the one with the least comes first in a search by one worker.
    pub path: Vec<u32>,
    share: &'l dyn Fn() -> f64,
    moves: &'l dyn Fn() -> Vec<Move>,
    memory: &'l dyn Fn(Loc) -> Value,
    delays: &'l dyn Fn(ModelId) -> Vec<(Site, Site)>,
}

impl<S> Leaf<'_, S> {
    /// How much of the walk comes before it, between 0 and 1, if all alternatives are worth the same.
    #[must_use]
    pub fn share(&self) -> f64 {
        (self.share)()
    }

    /// Its steps.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        (self.moves)()
    }

    /// Where stores stand that an access could overtake under `model`, and where these accesses stand.
    ///
    /// Nothing is said of executions of a model with buffers.
    #[must_use]
    pub fn delays(&self, model: ModelId) -> Vec<(Site, Site)> {
        (self.delays)(model)
    }

    /// What memory holds at the end of it.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        (self.memory)(loc)
    }
}

impl Rest {
    /// Calls `each` with one execution for every trace in it of the subjects that `make` makes; gives what is then left.
    ///
    /// With a `bound`, ways that need more preemptions are not gone, and what would be found by going back from there is
    /// not found either.
    pub fn watch<S: Rewindable, M: Model>(
        self,
        make: &(dyn Fn() -> S + Sync),
        settings: &Settings,
        bound: Option<u64>,
        signal: StopSignal<'_>,
        each: &(dyn Fn(&Leaf<'_, S>) -> Flow + Sync),
    ) -> (Stats, Coverage, Rest) {
        let n_workers = if settings.limits.executions.is_some() { 1 } else { settings.jobs.max(1) };
        let pool = Pool::new(self.0, n_workers, None);
        let executions = AtomicU64::new(0);
        let total = Mutex::new((Stats::default(), None));
        let work = || {
            while let Some(job) = pool.take() {
                let (limit, stats) = (settings.limits.executions, Stats::default());
                let mut worker = Worker { pool: &pool, executions: &executions, limit, bound, signal, each, stats };
                let Done { end, cut, stats } = job::run::<S, M>(make, job.clone(), &settings.limits, &mut worker);
                let stopped = if let JobEnd::Stopped(reason) = end { Some(reason) } else { None };
                match stopped {
                    Some(StopReason::Violation) => pool.end_after(&job),
                    Some(_) => pool.recall(),
                    None => {}
                }
                worker.stats.add(&stats);
                let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                total.0.add(&worker.stats);
                total.1 = [total.1, stopped, cut].into_iter().flatten().min_by_key(weight);
            }
        };
        if n_workers == 1 {
            work();
        } else {
            std::thread::scope(|scope| (0..n_workers).for_each(|_| drop(scope.spawn(work))));
        }
        let (stats, stopped) = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (rest, _) = pool.into_rest();
        (stats, stopped.map_or(Coverage::Complete, Coverage::Stopped).with_divergences(&stats), Rest(rest))
    }
}

/// Calls `each` with one execution for every trace of the subjects that `make` makes.
pub fn watch<S: Rewindable, M: Model>(
    make: &(dyn Fn() -> S + Sync),
    settings: &Settings,
    signal: StopSignal<'_>,
    each: &(dyn Fn(&Leaf<'_, S>) -> Flow + Sync),
) -> (Stats, Coverage) {
    let (stats, coverage, _) = Rest::all().watch::<S, M>(make, settings, None, signal, each);
    (stats, coverage)
}

/// What is most worth knowing comes first; of equals, what was known first.
fn weight(reason: &StopReason) -> u8 {
    match reason {
        StopReason::Violation | StopReason::NotDeterministic => 0,
        StopReason::Steps(_) | StopReason::EndlessLoop { .. } => 1,
        _ => 2,
    }
}

struct Worker<'w, S> {
    pool: &'w Pool,
    executions: &'w AtomicU64,
    limit: Option<u64>,
    bound: Option<u64>,
    signal: StopSignal<'w>,
    each: &'w (dyn Fn(&Leaf<'_, S>) -> Flow + Sync),
    stats: Stats,
}

impl<S: Rewindable, M: Model> Visitor<S, M> for Worker<'_, S> {
    fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        let executions = self.executions.fetch_add(1, Ordering::Relaxed);
        if let Some(limit) = self.limit
            && executions >= limit
        {
            return Flow::Stop(StopReason::Executions(limit));
        }
        let ending = walk.ending();
        self.stats.executions += 1;
        match ending {
            Ending::Completed => self.stats.completed += 1,
            Ending::Blocked(_) => self.stats.blocked += 1,
            Ending::Discarded => self.stats.discarded += 1,
            Ending::Failed => self.stats.failed += 1,
        }
        let threads = (0..walk.subject.n_threads()).map(ThreadId::at);
        let failures = threads.filter_map(|thread| Some((thread, walk.subject.failure(thread)?))).collect();
        let share = || {
            let parts = walk.levels.iter().scan(1.0, |width, level| {
                *width /= f64::from(level.of.max(1));
                Some(*width * f64::from(level.taken))
            });
            parts.sum()
        };
        let moves = || walk.moves();
        let memory = |loc: Loc| walk.value(Term::Memory(loc));
        let delays = |model| walk.delays(model);
        let (subject, path) = (&walk.subject, walk.path().into());
        let (share, moves, memory, delays) = (&share, &moves, &memory, &delays);
        (self.each)(&Leaf { subject, ending, failures, path, share, moves, memory, delays })
    }

    fn wish(&mut self, _nodes: u64) -> Wish {
        // Running real code takes long enough to look at the signal each time.
        let progress = Progress { executions: self.executions.load(Ordering::Relaxed), states: 0 };
        if let Some(reason) = self.signal.stop(progress) {
            return Wish::Stop(reason);
        }
        if self.pool.is_recalled() {
            return Wish::Yield;
        }
        if self.pool.is_hungry() { Wish::Share } else { Wish::GoOn }
    }

    fn bound(&self) -> Option<u64> {
        self.bound
    }

    fn give(&mut self, job: Job) {
        self.pool.put(job);
    }
}
