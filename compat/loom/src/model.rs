//! How to run a model.

use std::path::PathBuf;
use std::time::Duration;

use teetotal::model as inner;

/// How to run a model, with the fields of loom.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// How many threads a model may have. There is no limit here, and nothing is made of it.
    pub max_threads: usize,
    /// How many operations an execution may have. A model that has more fails.
    pub max_branches: usize,
    /// How many executions are run at most.
    pub max_permutations: Option<usize>,
    /// How long executions are run at most.
    pub max_duration: Option<Duration>,
    /// How often a thread may be interrupted in one execution, in a search that need not be complete.
    ///
    /// All executions are run if there are not too many; only otherwise it is those with few interruptions.
    pub preemption_bound: Option<usize>,
    /// The file in which the search is kept.
    pub checkpoint_file: Option<PathBuf>,
    /// After how many executions it is kept.
    pub checkpoint_interval: usize,
    /// Whether only what is between [`crate::explore`] and [`crate::stop_exploring`] is searched. Everything is.
    pub expect_explicit_explore: bool,
    /// Whether places in the source are known. They are.
    pub location: bool,
    /// Whether it is said each second how far the search is.
    pub log: bool,
}

impl Builder {
    /// What is searched when nothing else is said.
    #[must_use]
    pub fn new() -> Self {
        let inner = inner::Builder::like_loom();
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: inner.max_branches,
            max_permutations: inner.max_permutations,
            max_duration: inner.max_duration,
            preemption_bound: inner.preemption_bound,
            checkpoint_file: inner.checkpoint_file,
            checkpoint_interval: inner.checkpoint_interval,
            expect_explicit_explore: false,
            location: false,
            log: inner.log,
        }
    }

    /// Sets the file of a checkpoint.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs the executions of `f`.
    ///
    /// # Panics
    /// If something is wrong with one of them.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let mut inner = inner::Builder::like_loom();
        inner.max_branches = self.max_branches;
        inner.max_permutations = self.max_permutations;
        inner.max_duration = self.max_duration;
        inner.preemption_bound = self.preemption_bound;
        inner.checkpoint_file.clone_from(&self.checkpoint_file);
        inner.checkpoint_interval = self.checkpoint_interval;
        inner.log = self.log;
        inner.check(f);
    }
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// Runs every execution of `f`.
///
/// # Panics
/// If something is wrong with one of them.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
