//! The search: workers walk, each shows what it finds to monitors of its own, and the results are put together in the
//! order of the walk, so that they are those of one worker.

use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_judge::Level;
use teetotal_memory::{Model, Step, Trace};

use super::job::{self, Done, Job, JobEnd, Visitor, Wish};
use super::leaf::Found;
use super::pool::Pool;
use super::walk::{Rewindable, Walk};
use crate::collector::Collector;
use crate::driver::{Flow, Progress, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, StopReason};
use crate::system::System;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// How many processor cores to use; what is found does not depend on it.
    pub jobs: usize,
}

/// How many nodes are added between two looks at the stop signal.
const SIGNAL_INTERVAL: u64 = 4_096;

/// Shows every trace of `subject` once; `collector` makes somebody who watches a part of them.
pub fn search<S, M: Model>(
    subject: &S,
    collector: &(dyn Fn() -> Collector<Found> + Sync),
    settings: &Settings,
    signal: StopSignal<'_>,
) -> (Collector, Coverage)
where
    S: Rewindable + Clone + Send + Sync,
{
    // Which executions a limit leaves out must not depend on who is faster.
    let n_workers = if settings.limits.executions.is_some() { 1 } else { settings.jobs };
    let pool = Pool::new(vec![Job::all()], n_workers);
    let shared = Shared {
        pool: &pool,
        limits: &settings.limits,
        signal,
        executions: AtomicU64::new(0),
        seen: AtomicU64::new(0),
    };
    let work = || {
        let mut parts = Vec::new();
        while let Some(job) = pool.take() {
            parts.push(shared.do_job::<S, M>(subject, job, collector()));
        }
        parts
    };
    let mut parts: Vec<Part> = if n_workers == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
        })
    };
    parts.sort_by(|a, b| a.job.order(&b.job));
    put_together(parts, collector())
}

/// What one job gave.
struct Part {
    job: Job,
    collector: Collector<Found>,
    stopped: Option<StopReason>,
    cut: Option<StopReason>,
}

/// Puts the parts together up to the first that stopped the search.
fn put_together(parts: Vec<Part>, mut all: Collector<Found>) -> (Collector, Coverage) {
    let mut coverage = Coverage::Complete;
    for part in parts {
        all.append(part.collector);
        if let (Coverage::Complete, Some(reason)) = (&coverage, part.stopped.or(part.cut)) {
            coverage = Coverage::Stopped(reason);
        }
        if part.stopped == Some(StopReason::Violation) {
            return (all.map(|found| found.schedule), Coverage::Stopped(StopReason::Violation));
        }
    }
    (all.map(|found| found.schedule), coverage)
}

/// What the workers have in common.
struct Shared<'s> {
    pool: &'s Pool,
    limits: &'s Limits,
    signal: StopSignal<'s>,
    executions: AtomicU64,
    /// Executions that the workers have told of.
    seen: AtomicU64,
}

impl Shared<'_> {
    fn do_job<S, M: Model>(&self, subject: &S, job: Job, collector: Collector<Found>) -> Part
    where
        S: Rewindable + Clone,
    {
        let nothing = Trace::default();
        let system = (collector.needs() > Level::State).then(|| System::new(subject.clone()));
        let mut worker =
            Worker { shared: self, job: job.clone(), collector, nothing: &nothing, system, looked: 0, seen: 0 };
        let Done { end, cut, stats } = job::run::<S, M>(subject, job.clone(), self.limits, &mut worker);
        worker.tell();
        worker.collector.stats.add(&stats.as_stats());
        let stopped = match end {
            JobEnd::Done => None,
            JobEnd::Stopped(reason) => {
                self.pool.end_after(&job);
                Some(reason)
            }
        };
        Part { job, collector: worker.collector, stopped, cut }
    }
}

struct Worker<'w, S, M> {
    shared: &'w Shared<'w>,
    job: Job,
    collector: Collector<Found>,
    nothing: &'w Trace,
    /// Performs executions, where monitors look at more than states.
    system: Option<System<S, M>>,
    /// How many nodes there were at the last look at the signal.
    looked: u64,
    /// Executions that the others have not been told of.
    seen: u64,
}

impl<S, M> Worker<'_, S, M> {
    /// Tells of the executions since the last time; gives how many all workers have told of.
    fn tell(&mut self) -> u64 {
        let new = std::mem::take(&mut self.seen);
        self.shared.seen.fetch_add(new, Ordering::Relaxed) + new
    }
}

impl<S: Rewindable, M: Model> Visitor<S, M> for Worker<'_, S, M> {
    fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        self.seen += 1;
        if let Some(limit) = self.shared.limits.executions {
            let executions = self.shared.executions.fetch_add(1, Ordering::Relaxed);
            if executions >= limit {
                return Flow::Stop(StopReason::Executions(limit));
            }
        }
        match &mut self.system {
            Some(system) => walk.perform(&mut self.collector, system),
            None => walk.show(&mut self.collector, self.nothing),
        }
    }

    fn wish(&mut self, nodes: u64) -> Wish {
        if nodes - self.looked >= SIGNAL_INTERVAL {
            self.looked = nodes;
            let progress = Progress { executions: self.tell(), states: 0 };
            if let Some(reason) = self.shared.signal.stop(progress) {
                return Wish::Stop(reason);
            }
            if !self.shared.pool.counts(&self.job) {
                return Wish::Stop(StopReason::Violation);
            }
        }
        if self.shared.pool.is_hungry() { Wish::Share } else { Wish::GoOn }
    }

    fn give(&mut self, job: Job) {
        self.shared.pool.put(job);
    }
}

/// Calls `each` with one execution for every trace of `subject`.
pub fn visit<S: Rewindable + Clone, M: Model>(
    subject: &S,
    limits: &Limits,
    each: &mut dyn FnMut(Vec<Step>),
) -> Coverage {
    let Done { end, cut, .. } = job::run::<S, M>(subject, Job::all(), limits, &mut Each(each));
    let stopped = if let JobEnd::Stopped(reason) = end { Some(reason) } else { cut };
    stopped.map_or(Coverage::Complete, Coverage::Stopped)
}

struct Each<'e>(&'e mut dyn FnMut(Vec<Step>));

impl<S: Rewindable, M: Model> Visitor<S, M> for Each<'_> {
    fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        (self.0)(walk.steps());
        Flow::Continue
    }
}
