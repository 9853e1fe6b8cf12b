//! The search: workers walk, and what they find is put together as if one had walked.
//!
//! Each worker shows what it finds to monitors of its own; the results are joined in the order of the walk.

use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Collector, Coverage, Limits, StopReason};
use teetotal_memory::{ModelId, Step};

use super::checkpoint::{CheckpointError, Checkpoints, Saved, Searched};
use super::consistency::with_rules;
use super::execution::{CompleteGraph, Found, Show};
use super::job::{self, Done, Job, JobEnd, Visitor, Wish};
use super::ledger::{Ledger, Part};
use super::pool::Pool;
use super::walk::Rewindable;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// How many processor cores to use; what is found does not depend on it.
    pub jobs: usize,
}

/// How many steps are taken between two looks at the stop signal.
const SIGNAL_INTERVAL: u64 = 4_096;

/// Shows every trace of `subject` under `model` once; `collector` makes somebody who watches a part of them.
pub fn search<S>(
    model: ModelId,
    subject: &S,
    collector: &(dyn Fn() -> Collector<Found> + Sync),
    settings: &Settings,
    signal: StopSignal<'_>,
    checkpoints: Option<(Searched, &Checkpoints<'_>)>,
) -> Result<(Collector, Coverage), CheckpointError>
where
    S: Rewindable + Clone + Send + Sync + 'static,
{
    let mut ledger = match &checkpoints {
        Some((of, Checkpoints { from: Some(text), .. })) => {
            Saved::read(text, of)?.recreate(model, subject, collector)?
        }
        _ => Ledger::new(),
    };
    // Which executions a limit leaves out must not depend on who is faster.
    let n_workers = if settings.limits.executions.is_some() { 1 } else { settings.jobs };
    let limits = &settings.limits;
    let mut last: Option<Job> = None;
    loop {
        let due =
            checkpoints.as_ref().filter(|_| last.is_none()).map(|(_, c)| Due { interval: c.interval, is_due: c.due });
        let pool = Pool::new(std::mem::take(&mut ledger.open), n_workers, last);
        let executions = AtomicU64::new(ledger.executions());
        let seen = AtomicU64::new(ledger.executions());
        let shared = Shared { pool: &pool, limits, signal, executions, seen, due };
        let parts = shared.work(model, subject, collector, n_workers);
        (ledger.open, last) = pool.into_rest();
        ledger.add(parts);
        let is_over = ledger.open.is_empty() || ledger.is_stopped();
        // What a violation leaves open is soon done or of no interest.
        if let (Some((of, checkpoints)), None, false) = (&checkpoints, &last, ledger.open.is_empty()) {
            (checkpoints.save)(&ledger.to_text(of));
        }
        if is_over {
            return Ok(ledger.put_together(collector()));
        }
    }
}

/// What the workers have in common.
struct Shared<'s> {
    pool: &'s Pool,
    limits: &'s Limits,
    signal: StopSignal<'s>,
    executions: AtomicU64,
    /// Executions that the workers have told of.
    seen: AtomicU64,
    due: Option<Due<'s>>,
}

/// Asked now and then whether a checkpoint is due.
struct Due<'s> {
    /// How many steps a worker takes between two questions.
    interval: u64,
    is_due: &'s (dyn Fn() -> bool + Sync),
}

impl Shared<'_> {
    /// Does jobs until there are none left, or they are wanted back.
    fn work<S>(
        &self,
        model: ModelId,
        subject: &S,
        collector: &(dyn Fn() -> Collector<Found> + Sync),
        n_workers: usize,
    ) -> Vec<Part>
    where
        S: Rewindable + Clone + Send + Sync + 'static,
    {
        let work = || {
            let mut parts = Vec::new();
            while let Some(job) = self.pool.take() {
                parts.push(self.do_job(model, subject, job, collector()));
            }
            parts
        };
        if n_workers == 1 {
            return work();
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
        })
    }

    fn do_job<S>(&self, model: ModelId, subject: &S, job: Job, collector: Collector<Found>) -> Part
    where
        S: Rewindable + Clone + 'static,
    {
        let start = job.start().collect();
        let show = with_rules!(model, rules => Show::new(subject, model, rules, collector));
        let mut worker = Worker { shared: self, job: job.clone(), show, signal_seen: None, asked: 0, seen: 0 };
        let Done { end, cut, stats } =
            with_rules!(model, rules => job::run(&|| subject.clone(), rules, job.clone(), self.limits, &mut worker));
        worker.tell();
        let mut collector = worker.show.collector;
        collector.stats.add(&stats);
        let stopped = match end {
            JobEnd::Done => None,
            JobEnd::Stopped(reason) => {
                match reason {
                    StopReason::Violation => self.pool.end_after(&job),
                    _ => self.pool.recall(),
                }
                Some(reason)
            }
        };
        Part { start, collector, stopped, cut }
    }
}

struct Worker<'w> {
    shared: &'w Shared<'w>,
    job: Job,
    show: Show,
    /// How many steps there were at the last look at the signal; it is looked at in every part, however small.
    signal_seen: Option<u64>,
    /// How many there were when it was last asked whether a checkpoint is due.
    asked: u64,
    /// Executions that the others have not been told of.
    seen: u64,
}

impl Worker<'_> {
    /// Tells of the executions since the last time; returns how many all workers have told of.
    fn tell(&mut self) -> u64 {
        let new = std::mem::take(&mut self.seen);
        self.shared.seen.fetch_add(new, Ordering::Relaxed) + new
    }
}

impl<S: Rewindable> Visitor<S> for Worker<'_> {
    fn graph(&mut self, graph: &dyn CompleteGraph<S>) -> Flow {
        self.seen += 1;
        if let Some(limit) = self.shared.limits.executions {
            let executions = self.shared.executions.fetch_add(1, Ordering::Relaxed);
            if executions >= limit {
                return Flow::Stop(StopReason::Executions(limit));
            }
        }
        self.show.graph(graph)
    }

    fn wish(&mut self, steps: u64) -> Wish {
        if self.signal_seen.is_none_or(|signal_seen| steps - signal_seen >= SIGNAL_INTERVAL) {
            self.signal_seen = Some(steps);
            let progress = Progress { executions: self.tell(), states: 0 };
            if let Some(reason) = self.shared.signal.stop(progress) {
                return Wish::Stop(reason);
            }
            if !self.shared.pool.counts(&self.job) {
                return Wish::Stop(StopReason::Violation);
            }
        }
        if let Some(due) = &self.shared.due
            && steps - self.asked >= due.interval
        {
            self.asked = steps;
            if (due.is_due)() {
                self.shared.pool.recall();
            }
        }
        if self.shared.pool.is_recalled() {
            return Wish::Yield;
        }
        if self.shared.pool.is_hungry() { Wish::Share } else { Wish::GoOn }
    }

    fn give(&mut self, job: Job) {
        self.shared.pool.put(job);
    }
}

/// Calls `each` with one execution for every trace of `subject` under `model`.
pub fn visit<S: Rewindable + Clone>(
    model: ModelId,
    subject: &S,
    limits: &Limits,
    each: &mut dyn FnMut(Vec<Step>),
) -> Coverage {
    let Done { end, cut, .. } =
        with_rules!(model, rules => job::run(&|| subject.clone(), rules, Job::all(), limits, &mut Each(each)));
    let stopped = if let JobEnd::Stopped(reason) = end { Some(reason) } else { cut };
    stopped.map_or(Coverage::Complete, Coverage::Stopped)
}

struct Each<'e>(&'e mut dyn FnMut(Vec<Step>));

impl<S> Visitor<S> for Each<'_> {
    fn graph(&mut self, graph: &dyn CompleteGraph<S>) -> Flow {
        (self.0)(graph.steps());
        Flow::Continue
    }
}
