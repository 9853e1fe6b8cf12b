//! Rust code under the checker.
//!
//! [`model`] runs a closure that starts threads and uses the look-alikes of [`crate::sync`], [`crate::thread`] and
//! [`crate::cell`], once for every execution of the memory model that differs in what is read or in the order of writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use teetotal_explore::{Coverage, Stats, StopReason};
use teetotal_live::{Ledger, Live};
use teetotal_memory::ModelId;

mod environment;
mod failure;
mod perform;
mod problem;
mod relevant;
mod replay;
mod search;
mod source_text;
mod storyboard;
mod watchman;

use failure::Failing;
use search::{Found, Search};

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
    /// At most this many preemptions in one execution, if there are too many executions to run all.
    ///
    /// A preemption is a switch to another thread although the one that runs can go on. Ways that need more are left out,
    /// with what would be found only by going back from there.
    pub preemption_bound: Option<usize>,
    /// How many processor cores to use.
    pub jobs: usize,
    /// How many bytes the stack of a thread has.
    pub stack_size: usize,
    /// There for loom's users: nothing is made of it.
    pub checkpoint_file: Option<PathBuf>,
    /// There for loom's users: nothing is made of it.
    pub checkpoint_interval: usize,
    /// There for loom's users: any number of threads is possible.
    pub max_threads: usize,
    /// There for loom's users: everything is explored.
    pub expect_explicit_explore: bool,
    /// There for loom's users: places in the source are always known.
    pub location: bool,
    /// Says on standard error each second how many executions were run.
    pub log: bool,
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
    /// Every execution under PSO, unless the environment says otherwise.
    ///
    /// # Panics
    /// If an environment variable of ours or of loom's has a value that means nothing.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        let mut builder = Builder {
            model: ModelId::Pso,
            max_permutations: None,
            max_duration: None,
            max_branches: 1_000,
            preemption_bound: None,
            jobs: 1,
            stack_size: teetotal_live::STACK_SIZE,
            checkpoint_file: None,
            checkpoint_interval: 20_000,
            max_threads: usize::MAX,
            expect_explicit_explore: false,
            location: true,
            log: false,
        };
        environment::apply(&mut builder);
        builder
    }

    /// There for loom's users: nothing is made of it.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
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
        let body: teetotal_live::Model = Arc::new(f);
        if let Some(token) = environment::replayed() {
            return replay::replay(self, &body, &token);
        }
        let report = self.search(&body);
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
        self.search(&(Arc::new(f) as teetotal_live::Model))
    }

    /// The model at its beginning.
    fn live(&self, body: &teetotal_live::Model, ledger: &Ledger) -> Live {
        Live::new(Arc::clone(body), ledger).with_stack_size(self.stack_size)
    }

    fn search(&self, body: &teetotal_live::Model) -> Report {
        let Found { stats, coverage, wrong, ledger } = self.model.visit(Search::new(self, body));
        let failure = wrong.map(|wrong| {
            let executions = stats.executions;
            self.model.visit(Failing { builder: self, body, wrong: &wrong, ledger: &ledger, executions })
        });
        Report { model: self.model, executions: stats.executions, coverage, stats, failure }
    }
}
