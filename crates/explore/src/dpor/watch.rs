//! The search for subjects that are no programs of the intermediate representation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_judge::Ending;
use teetotal_memory::Model;
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Loc, ThreadId, Value};

use super::job::{self, Done, Job, JobEnd, Visitor, Wish};
use super::linear::Move;
use super::pool::Pool;
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
    moves: &'l dyn Fn() -> Vec<Move>,
    memory: &'l dyn Fn(Loc) -> Value,
}

impl<S> Leaf<'_, S> {
    /// Its steps.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        (self.moves)()
    }

    /// What memory holds at the end of it.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        (self.memory)(loc)
    }
}

/// Calls `each` with one execution for every trace of the subjects that `make` makes.
///
/// With a `bound`, ways that need more preemptions are not gone, and what would be found by going back from there is not
/// found either.
pub fn watch<S: Rewindable, M: Model>(
    make: &(dyn Fn() -> S + Sync),
    settings: &Settings,
    bound: Option<u64>,
    signal: StopSignal<'_>,
    each: &(dyn Fn(&Leaf<'_, S>) -> Flow + Sync),
) -> (Stats, Coverage) {
    let n_workers = if settings.limits.executions.is_some() { 1 } else { settings.jobs };
    let pool = Pool::new(vec![Job::all()], n_workers, None);
    let executions = AtomicU64::new(0);
    let total = Mutex::new((Stats::default(), None));
    let work = || {
        while let Some(job) = pool.take() {
            let limit = settings.limits.executions;
            let mut worker = Worker {
                pool: &pool,
                executions: &executions,
                limit,
                bound,
                signal,
                each,
                stats: Stats::default(),
                looked: 0,
            };
            let Done { end, cut, stats } = job::run::<S, M>(make, job.clone(), &settings.limits, &mut worker);
            let stopped = if let JobEnd::Stopped(reason) = end { Some(reason) } else { None };
            if stopped.is_some() {
                pool.end_after(&job);
            }
            worker.stats.add(&stats);
            let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            total.0.add(&worker.stats);
            total.1 = total.1.or(stopped).or(cut);
        }
    };
    if n_workers == 1 {
        work();
    } else {
        std::thread::scope(|scope| (0..n_workers).for_each(|_| drop(scope.spawn(work))));
    }
    let (stats, stopped) = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    (stats, stopped.map_or(Coverage::Complete, Coverage::Stopped))
}

struct Worker<'w, S> {
    pool: &'w Pool,
    executions: &'w AtomicU64,
    limit: Option<u64>,
    bound: Option<u64>,
    signal: StopSignal<'w>,
    each: &'w (dyn Fn(&Leaf<'_, S>) -> Flow + Sync),
    stats: Stats,
    looked: u64,
}

impl<S: Rewindable, M: Model> Visitor<S, M> for Worker<'_, S> {
    fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        if let Some(limit) = self.limit
            && self.executions.fetch_add(1, Ordering::Relaxed) >= limit
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
        let moves = || walk.moves();
        let memory = |loc: Loc| walk.value(Term::Memory(loc));
        let (subject, path) = (&walk.subject, walk.path().into());
        (self.each)(&Leaf { subject, ending, failures, path, moves: &moves, memory: &memory })
    }

    fn wish(&mut self, nodes: u64) -> Wish {
        // Running real code takes long enough to look at the signal each time.
        self.looked = nodes;
        let progress = Progress { executions: self.stats.executions, states: 0 };
        if let Some(reason) = self.signal.stop(progress) {
            return Wish::Stop(reason);
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
