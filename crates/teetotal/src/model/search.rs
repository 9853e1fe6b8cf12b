//! Runs the executions of a model.

use std::sync::{Arc, Mutex, PoisonError};

use teetotal_explore::dpor::{self, Leaf, Settings};
use teetotal_explore::driver::{Flow, StopSignal};
use teetotal_explore::{Coverage, Limits, Stats, StopReason};
use teetotal_live::{Ledger, Live};
use teetotal_memory::{Model, ModelVisitor};

use super::Builder;
use super::perform::Way;
use super::problem::{Problem, problem_of};
use super::watchman::Watchman;

/// How many executions are run before those with few preemptions are, if that is wanted.
const EXECUTIONS_BEFORE_BOUND: u64 = 2_000;

/// A search for what is wrong with a model.
pub(super) struct Search<'s> {
    builder: &'s Builder,
    body: teetotal_live::Model,
    /// Whether what the first thread does before it starts another is kept from the search.
    hides_beginning: bool,
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
    /// The way to it in the tree of the search.
    pub(super) path: Vec<u32>,
    pub(super) way: Way,
    pub(super) problem: Problem,
}

impl ModelVisitor for Search<'_> {
    type Output = Found;

    fn visit<M: Model>(mut self) -> Found {
        let ledger = Ledger::default();
        let signal = Watchman::new(self.builder, &ledger);
        loop {
            let found = match self.builder.preemption_bound {
                Some(bound) => self.within::<M>(&ledger, &signal, bound),
                None => self.once::<M>(&ledger, &signal, self.limits(), None),
            };
            if ledger.is_out_of_date() {
                ledger.open();
            } else if self.hides_beginning && found.wrong.is_some() {
                // What is shown is to show everything.
                self.hides_beginning = false;
            } else {
                return found;
            }
        }
    }
}

impl<'s> Search<'s> {
    pub(super) fn new(builder: &'s Builder, body: &teetotal_live::Model) -> Self {
        Search { builder, body: Arc::clone(body), hides_beginning: true }
    }

    /// The model at its beginning.
    fn live(&self, ledger: &Ledger) -> Live {
        let live = self.builder.live(&self.body, ledger);
        if self.hides_beginning { live.with_hidden_beginning(self.builder.max_branches) } else { live }
    }

    /// Searches with what the ledger has in the open.
    fn once<M: Model>(&self, ledger: &Ledger, signal: StopSignal<'_>, limits: Limits, bound: Option<u64>) -> Found {
        let wrong: Mutex<Option<Wrong>> = Mutex::new(None);
        let watch = |leaf: &Leaf<'_, Live>| {
            let problem = problem_of(leaf.subject, &leaf.ending, &|loc| leaf.memory(loc));
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
        let make = || self.live(ledger);
        let settings = Settings { limits, jobs: self.builder.jobs };
        let (stats, coverage) = dpor::watch::<Live, M>(&make, &settings, bound, signal, &watch);
        let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        Found { stats, coverage, wrong, ledger: ledger.clone() }
    }

    /// Searches everything if that is not too much, and else what has few preemptions.
    fn within<M: Model>(&self, ledger: &Ledger, signal: StopSignal<'_>, bound: usize) -> Found {
        let limits = self.limits();
        let in_full = limits.executions.or(Some(EXECUTIONS_BEFORE_BOUND));
        let found = self.once::<M>(ledger, signal, Limits { executions: in_full, ..limits }, None);
        match found.coverage {
            Coverage::Stopped(StopReason::Executions(_)) => self.once::<M>(ledger, signal, limits, Some(bound as u64)),
            _ => found,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            executions: self.builder.max_permutations.map(|n| n as u64),
            steps: Some(self.builder.max_branches as u64),
            ..Limits::default()
        }
    }
}
