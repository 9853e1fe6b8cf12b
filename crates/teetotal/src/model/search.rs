//! Runs the executions of a model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use teetotal_explore::dpor::{self, Leaf, Settings};
use teetotal_explore::driver::{Flow, StopSignal};
use teetotal_explore::{Coverage, Limits, Stats, StopReason};
use teetotal_live::{Ledger, Live};
use teetotal_memory::{Model, ModelVisitor};
use teetotal_program::ThreadId;

use super::Builder;
use super::perform::Way;
use super::problem::{Problem, problem_of};

/// With a bound on preemptions, how many executions are run to see whether they are all there are.
const EXECUTIONS_IN_FULL: u64 = 100_000;

/// How many are run by chance if they are not.
const SAMPLES: u64 = 20_000;

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
    /// What was in the open.
    pub(super) ledger: Ledger,
}

/// An execution that something is wrong with.
pub(super) struct Wrong {
    pub(super) path: Vec<u32>,
    pub(super) way: Way,
    pub(super) problem: Problem,
}

impl ModelVisitor for Search<'_> {
    type Output = Found;

    fn visit<M: Model>(self) -> Found {
        let begin = Instant::now();
        let max_duration = self.builder.max_duration;
        let ledger = Ledger::default();
        let signal = || {
            // What the search found is of no use if something was hidden from it that it should have seen.
            let is_over = max_duration.is_some_and(|limit| begin.elapsed() >= limit) || ledger.is_out_of_date();
            is_over.then_some(StopReason::Time)
        };
        loop {
            let found = match self.builder.preemption_bound {
                Some(bound) => self.within::<M>(&ledger, &signal, bound),
                None => self.once::<M>(&ledger, &signal, self.limits()),
            };
            if !ledger.is_out_of_date() {
                return found;
            }
            ledger.open();
        }
    }
}

impl Search<'_> {
    /// Searches with what the ledger has in the open.
    fn once<M: Model>(&self, ledger: &Ledger, signal: StopSignal<'_>, limits: Limits) -> Found {
        let wrong: Mutex<Option<Wrong>> = Mutex::new(None);
        let watch = |leaf: &Leaf<'_, Live>| {
            let failed: Vec<ThreadId> = leaf.failures.iter().map(|&(thread, _)| thread).collect();
            let problem = problem_of(leaf.subject, &failed, &leaf.ending);
            if ledger.is_out_of_date() {
                return Flow::Stop(StopReason::Time);
            }
            let Some(problem) = problem else { return Flow::Continue };
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.as_ref().is_none_or(|known| leaf.path < known.path) {
                *wrong = Some(Wrong { path: leaf.path.clone(), way: Way::Moves(leaf.moves()), problem });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || Live::new(Arc::clone(&self.body), ledger);
        let settings = Settings { limits, jobs: self.builder.jobs };
        let (stats, coverage) = dpor::watch::<Live, M>(&make, &settings, signal, &watch);
        let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        Found { stats, coverage, wrong, ledger: ledger.clone() }
    }

    /// Searches everything if that is not too much, and else by chance.
    fn within<M: Model>(&self, ledger: &Ledger, signal: StopSignal<'_>, bound: usize) -> Found {
        let limits = self.limits();
        let at_most = limits.executions.unwrap_or(EXECUTIONS_IN_FULL).min(EXECUTIONS_IN_FULL);
        let found = self.once::<M>(ledger, signal, Limits { executions: Some(at_most), ..limits });
        let is_too_much = found.coverage == Coverage::Stopped(StopReason::Executions(at_most));
        let rest = limits.executions.map_or(SAMPLES, |all| all - at_most);
        if !is_too_much || rest == 0 || ledger.is_out_of_date() {
            return found;
        }
        let Found { stats, .. } = found;
        let mut sampled = self.sample::<M>(ledger, signal, rest.min(SAMPLES), bound);
        sampled.stats.add(&stats);
        sampled
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            executions: self.builder.max_permutations.map(|n| n as u64),
            steps: Some(self.builder.max_branches as u64),
            ..Limits::default()
        }
    }
}
