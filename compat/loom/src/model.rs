//! Running models.

use std::path::PathBuf;
use std::time::Duration;

use teetotal::model as inner;

/// Settings for the check of a model, with the fields of loom.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Ignored; any number of threads is possible.
    pub max_threads: usize,
    /// The maximum number of operations in one execution; a longer execution fails the model.
    pub max_branches: usize,
    /// The maximum number of executions.
    pub max_permutations: Option<usize>,
    /// The maximum duration of the search.
    pub max_duration: Option<Duration>,
    /// The maximum number of preemptions in one execution; the search may then be incomplete.
    ///
    /// It applies once there are too many executions to run all.
    pub preemption_bound: Option<usize>,
    /// The file in which the search is saved.
    pub checkpoint_file: Option<PathBuf>,
    /// The number of executions between saves.
    pub checkpoint_interval: usize,
    /// Ignored; everything is explored, not only between [`crate::explore`] and [`crate::stop_exploring`].
    pub expect_explicit_explore: bool,
    /// Ignored; places in the source are always known.
    pub location: bool,
    /// Whether to print progress every second.
    pub log: bool,
}

impl Builder {
    /// Returns the defaults, with changes from the environment.
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

    /// Sets the file in which the search is saved.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Checks every execution of `f`.
    ///
    /// # Panics
    /// If an execution fails.
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

/// Checks every execution of `f`.
///
/// # Panics
/// If an execution fails.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
