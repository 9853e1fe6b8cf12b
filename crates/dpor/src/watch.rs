//! The search for subjects that are no programs of the intermediate representation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Coverage, Execution, Stats, StopReason};
use teetotal_judge::Ending;
use teetotal_memory::ModelId;

use super::consistency::with_rules;
use super::execution::{CompleteGraph, ending, failures};
use super::job::{self, Done, Job, JobEnd, Visitor, Wish};
use super::pool::Pool;
use super::rest::Rest;
use super::search::Settings;
use super::walk::Rewindable;

impl Rest {
    /// Calls `each` with one execution for every trace in it of the subjects that `make` makes; returns what is then left.
    ///
    /// With a `bound`, alternatives that need more preemptions are left out, and what would be found by going back from there is
    /// not found either.
    pub fn watch<S: Rewindable>(
        self,
        model: ModelId,
        make: &(dyn Fn() -> S + Sync),
        settings: &Settings,
        bound: Option<u64>,
        signal: StopSignal<'_>,
        each: &(dyn Fn(&Execution<'_, S>) -> Flow + Sync),
    ) -> (Stats, Coverage, Rest) {
        let n_workers = if settings.limits.executions.is_some() { 1 } else { settings.jobs.max(1) };
        let pool = Pool::new(self.0, n_workers, None);
        let executions = AtomicU64::new(0);
        let total = Mutex::new((Stats::default(), None));
        let work = || {
            while let Some(job) = pool.take() {
                let (limit, stats) = (settings.limits.executions, Stats::default());
                let mut worker = Worker { pool: &pool, executions: &executions, limit, bound, signal, each, stats };
                let Done { end, cut, stats } =
                    with_rules!(model, rules => job::run(make, rules, job.clone(), &settings.limits, &mut worker));
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
pub fn watch<S: Rewindable>(
    model: ModelId,
    make: &(dyn Fn() -> S + Sync),
    settings: &Settings,
    signal: StopSignal<'_>,
    each: &(dyn Fn(&Execution<'_, S>) -> Flow + Sync),
) -> (Stats, Coverage) {
    let (stats, coverage, _) = Rest::all().watch(model, make, settings, None, signal, each);
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
    each: &'w (dyn Fn(&Execution<'_, S>) -> Flow + Sync),
    stats: Stats,
}

impl<S: Rewindable> Visitor<S> for Worker<'_, S> {
    fn graph(&mut self, graph: &dyn CompleteGraph<S>) -> Flow {
        let executions = self.executions.fetch_add(1, Ordering::Relaxed);
        if let Some(limit) = self.limit
            && executions >= limit
        {
            return Flow::Stop(StopReason::Executions(limit));
        }
        let subject = graph.subject();
        let ending = ending(subject);
        self.stats.executions += 1;
        match ending {
            Ending::Completed => self.stats.completed += 1,
            Ending::Blocked(_) => self.stats.blocked += 1,
            Ending::Discarded => self.stats.discarded += 1,
            Ending::Failed => self.stats.failed += 1,
        }
        let failures = failures(subject).collect();
        (self.each)(&Execution { subject, ending, failures, path: graph.path().into(), more: graph })
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
