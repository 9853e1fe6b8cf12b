//! Runs the executions of a model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use teetotal_explore::dpor::{self, Leaf, Settings};
use teetotal_explore::driver::Flow;
use teetotal_explore::{Coverage, Limits, Stats, StopReason};
use teetotal_live::Live;
use teetotal_memory::{Model, ModelVisitor};
use teetotal_program::ThreadId;

use super::Builder;
use super::perform::Way;
use super::problem::{Problem, problem_of};

/// A search for what is wrong with a model.
pub(super) struct Search<'s> {
    pub(super) builder: &'s Builder,
    pub(super) body: teetotal_live::Model,
}

/// What a search found.
pub(super) struct Found {
    pub(super) stats: Stats,
    pub(super) coverage: Coverage,
    /// The first execution in the order of the search that something is wrong with.
    pub(super) wrong: Option<Wrong>,
}

/// An execution that something is wrong with.
pub(super) struct Wrong {
    path: Vec<u32>,
    pub(super) way: Way,
    pub(super) problem: Problem,
}

impl ModelVisitor for Search<'_> {
    type Output = Found;

    fn visit<M: Model>(self) -> Found {
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
            let failed: Vec<ThreadId> = leaf.failures.iter().map(|&(thread, _)| thread).collect();
            let Some(problem) = problem_of(leaf.subject, &failed, &leaf.ending) else { return Flow::Continue };
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.as_ref().is_none_or(|known| leaf.path < known.path) {
                *wrong = Some(Wrong { path: leaf.path.clone(), way: Way::Moves(leaf.moves()), problem });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || Live::new(Arc::clone(&body));
        let settings = Settings { limits, jobs: builder.jobs };
        let (stats, coverage) = dpor::watch::<Live, M>(&make, &settings, &signal, &watch);
        let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        Found { stats, coverage, wrong }
    }
}
