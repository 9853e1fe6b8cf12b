//! Rust code under the checker.
//!
//! [`model`] runs a closure that starts threads and uses the look-alikes of [`crate::sync`], [`crate::thread`] and
//! [`crate::cell`], once for every execution of the memory model that differs in what is read or in the order of writes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use teetotal_explore::dpor::{self, Leaf, Move, Settings};
use teetotal_explore::driver::Flow;
use teetotal_explore::{Coverage, Limits, Stats, StopReason};
use teetotal_judge::Ending;
use teetotal_live::Live;
use teetotal_memory::{Model, ModelId, ModelVisitor};
use teetotal_program::ThreadId;

mod shown;

/// Runs `f` once for every execution under PSO, which has every execution of SC and TSO too.
///
/// # Panics
/// If an execution panics, deadlocks or has a data race, with the execution; or if not all executions could be run.
///
/// ```
/// use teetotal::sync::Arc;
/// use teetotal::sync::atomic::{AtomicUsize, Ordering};
/// use teetotal::thread;
///
/// teetotal::model(|| {
///     let n = Arc::new(AtomicUsize::new(0));
///     let adds: Vec<_> = (0..2)
///         .map(|_| {
///             let n = n.clone();
///             thread::spawn(move || n.fetch_add(1, Ordering::Relaxed))
///         })
///         .collect();
///     for add in adds {
///         add.join().unwrap();
///     }
///     assert_eq!(n.load(Ordering::Relaxed), 2);
/// });
/// ```
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}

/// How to run a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The memory model.
    pub model: ModelId,
    /// At most this many executions.
    pub max_permutations: Option<usize>,
    /// At most this long.
    pub max_duration: Option<Duration>,
    /// At most this many operations in one execution.
    pub max_branches: usize,
    /// How many processor cores to use.
    pub jobs: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// What a search of a model found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model that was searched under.
    pub model: ModelId,
    /// How many executions were run.
    pub executions: u64,
    /// Whether these are all.
    pub coverage: Coverage,
    /// What the search did.
    pub stats: Stats,
    /// What is wrong, with the execution that shows it, as text.
    pub failure: Option<String>,
}

impl Builder {
    /// Every execution under PSO.
    #[must_use]
    pub fn new() -> Self {
        Builder { model: ModelId::Pso, max_permutations: None, max_duration: None, max_branches: 1_000, jobs: 1 }
    }

    /// Runs the executions of `f`.
    ///
    /// # Panics
    /// If something is wrong with one of them, or if not all could be run although nobody set a bound.
    #[track_caller]
    pub fn check<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        let report = self.explore(f);
        if let Some(failure) = &report.failure {
            panic!("{failure}");
        }
        match report.coverage {
            Coverage::Stopped(StopReason::Steps(steps)) => panic!(
                "an execution has more than {steps} operations\n\
                 help: a loop that waits should call `teetotal::hint::spin_loop` or `teetotal::thread::yield_now`; \
                 for longer executions set `Builder::max_branches`"
            ),
            Coverage::Stopped(StopReason::NotDeterministic) => panic!(
                "the model did something else when it was run again\n\
                 help: a model must not use random numbers, time, addresses or anything else that changes from run to \
                 run"
            ),
            _ => report,
        }
    }

    /// Runs the executions of `f` and says what is wrong with the first that something is wrong with.
    pub fn explore<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.model.visit(Search { builder: self, body: Arc::new(f) })
    }
}

struct Search<'s> {
    builder: &'s Builder,
    body: teetotal_live::Model,
}

/// The first execution in the order of the search that something is wrong with.
struct Wrong {
    path: Vec<u32>,
    moves: Vec<Move>,
    what: What,
}

/// What is wrong.
pub(crate) enum What {
    /// A thread panicked or raced, with what it said.
    Failed(String),
    /// These threads wait for good.
    Deadlock(Vec<ThreadId>),
    /// Things were not given back.
    Leak(Vec<(&'static str, i64)>),
}

impl ModelVisitor for Search<'_> {
    type Output = Report;

    fn visit<M: Model>(self) -> Report {
        let Search { builder, body } = self;
        let limits = Limits {
            executions: builder.max_permutations.map(|n| n as u64),
            steps: Some(builder.max_branches as u64),
            ..Limits::default()
        };
        let begin = Instant::now();
        let max_duration = builder.max_duration;
        let signal = || max_duration.filter(|&limit| begin.elapsed() >= limit).map(|_| StopReason::Time);
        let wrong: Mutex<Option<Wrong>> = Mutex::new(None);
        let watch = |leaf: &Leaf<'_, Live>| {
            let Some(what) = what_is_wrong(leaf) else { return Flow::Continue };
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.as_ref().is_none_or(|known| leaf.path < known.path) {
                *wrong = Some(Wrong { path: leaf.path.clone(), moves: leaf.moves(), what });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || Live::new(Arc::clone(&body));
        let settings = Settings { limits, jobs: builder.jobs };
        let (stats, coverage) = dpor::watch::<Live, M>(&make, &settings, &signal, &watch);
        let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failure = wrong.map(|wrong| shown::show::<M>(make(), &wrong.moves, &wrong.what, stats.executions));
        Report { model: M::ID, executions: stats.executions, coverage, stats, failure }
    }
}

/// What is wrong with an execution, if anything is.
fn what_is_wrong(leaf: &Leaf<'_, Live>) -> Option<What> {
    if let Some(&(thread, _)) = leaf.failures.first() {
        let message = leaf.subject.message(thread).unwrap_or("it went wrong").to_owned();
        return Some(What::Failed(message));
    }
    if let Ending::Blocked(blocked) = &leaf.ending {
        // In another execution their time is over.
        if blocked.iter().any(|&thread| leaf.subject.is_timed(thread)) {
            return None;
        }
        return Some(What::Deadlock(blocked.clone()));
    }
    let leaks = leaf.subject.leaks();
    (!leaks.is_empty()).then_some(What::Leak(leaks))
}
