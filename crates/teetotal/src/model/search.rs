//! Runs the executions of a model.

use std::sync::{Arc, Mutex, PoisonError};

use teetotal_explore::annotations::{self, Unsupported};
use teetotal_explore::dpor::{Leaf, Rest, Settings};
use teetotal_explore::driver::Flow;
use teetotal_explore::{Coverage, Limits, Stats, StopReason};
use teetotal_live::{Ledger, Live};
use teetotal_memory::{Model, ModelVisitor};

use super::Builder;
use super::checkpoint::{Keeper, Kept};
use super::choice::{Choice, SearchKind, Tally};
use super::perform::Way;
use super::problem::{Problem, problem_of};
use super::watchman::Watchman;

/// How many executions are run before those with few preemptions are, if that is wanted.
const EXECUTIONS_BEFORE_BOUND: u64 = 2_000;

/// A search for what is wrong with a model.
pub(super) struct Search<'s> {
    builder: &'s Builder,
    body: teetotal_live::Model,
    /// What is in the open; more may be when the search has ended.
    ledger: Ledger,
    /// Whether what the first thread does before it starts another is kept from the search.
    hides_beginning: bool,
    /// How many executions read alike, while that decides which search is taken.
    tally: Option<Mutex<Tally>>,
}

/// What a search found.
pub(super) struct Found {
    pub(super) stats: Stats,
    pub(super) coverage: Coverage,
    /// The first execution in the order of the search that something is wrong with.
    pub(super) wrong: Option<Wrong>,
}

/// What came of a search, and which it was.
pub(super) struct Outcome {
    pub(super) found: Found,
    pub(super) choice: Choice,
}

/// An execution that something is wrong with.
pub(super) struct Wrong {
    /// The way to it in the tree of the search.
    pub(super) path: Vec<u32>,
    pub(super) way: Way,
    pub(super) problem: Problem,
}

impl ModelVisitor for Search<'_> {
    type Output = Outcome;

    fn visit<M: Model>(mut self) -> Outcome {
        let ledger = self.ledger.clone();
        let signal = Watchman::new(self.builder, &ledger);
        let keeper = Keeper::of(self.builder).filter(|_| self.builder.preemption_bound.is_none());
        let mut kept = keeper.as_ref().and_then(|keeper| keeper.read(&ledger));
        let mut choice = Choice::first(self.builder);
        loop {
            self.tally = (choice.kind == SearchKind::Auto).then(Mutex::default);
            let found = match (choice.kind, self.builder.preemption_bound) {
                (SearchKind::Mcr, _) => match self.by_annotations::<M>(&ledger, &signal, self.builder.limits()) {
                    Ok(found) => found,
                    Err(Unsupported { reason }) => {
                        choice = Choice::new(SearchKind::Dpor, format!("there is {reason}"));
                        continue;
                    }
                },
                (_, Some(bound)) => self.within::<M>(&ledger, &signal, bound),
                _ => self.in_stretches::<M>(&ledger, &signal, keeper.as_ref(), kept.take()),
            };
            if ledger.is_out_of_date() {
                ledger.open();
                choice = Choice::first(self.builder);
            } else if self.hides_beginning && found.wrong.is_some() {
                // What is shown is to show everything.
                self.hides_beginning = false;
            } else {
                return self.outcome(found, choice);
            }
        }
    }
}

impl<'s> Search<'s> {
    /// Whatever is found to be needed in the open is added to `ledger`.
    pub(super) fn new(builder: &'s Builder, body: &teetotal_live::Model, ledger: &Ledger) -> Self {
        // What is kept of a search has to fit the one that goes on with it.
        let hides_beginning = builder.checkpoint_file.is_none();
        Search { builder, body: Arc::clone(body), ledger: ledger.clone(), hides_beginning, tally: None }
    }

    /// Searches with one execution for all in which every read takes its value from the same write.
    fn by_annotations<M: Model>(
        &self,
        ledger: &Ledger,
        signal: &Watchman<'_>,
        limits: Limits,
    ) -> Result<Found, Unsupported> {
        let mut wrong = None;
        let mut watch = |leaf: &annotations::Leaf<'_, Live>| {
            let problem = problem_of(leaf.subject, &leaf.ending);
            if ledger.is_out_of_date() {
                return Flow::Stop(StopReason::Time);
            }
            let Some(problem) = problem else { return Flow::Continue };
            wrong = Some(Wrong { path: Vec::new(), way: Way::Moves(leaf.moves()), problem });
            Flow::Stop(StopReason::Violation)
        };
        let subject = self.live(ledger);
        let search = || annotations::watch::<Live, M>(subject, &limits, signal, &mut watch);
        let (stats, coverage) = signal.during_mcr(search)?;
        Ok(Found { stats, coverage, wrong })
    }

    /// After an execution with which nothing is wrong: tries the other search where that seems to be worth it, and gives
    /// what it found if that is all.
    fn try_annotations<M: Model>(
        &self,
        leaf: &Leaf<'_, Live>,
        ledger: &Ledger,
        signal: &Watchman<'_>,
    ) -> Option<Found> {
        let tally = || self.tally.as_ref().map(|tally| tally.lock().unwrap_or_else(PoisonError::into_inner));
        let budget = tally()?.count(|| leaf.subject.fingerprint())?;
        let limits = self.builder.limits();
        let executions = Some(limits.executions.map_or(budget, |limit| limit.min(budget)));
        let attempt = self.by_annotations::<M>(ledger, signal, Limits { executions, ..limits });
        match attempt {
            Ok(found) if found.wrong.is_some() || found.coverage.is_complete() => {
                tally()?.go_over();
                Some(found)
            }
            Ok(found) => {
                tally()?.abandoned += found.stats.executions;
                None
            }
            Err(unsupported) => {
                tally()?.refuse(unsupported);
                None
            }
        }
    }

    fn outcome(self, mut found: Found, choice: Choice) -> Outcome {
        let Some(tally) = self.tally.map(into_inner) else { return Outcome { found, choice } };
        found.stats.abandoned += tally.abandoned;
        Outcome { found, choice: tally.choice() }
    }

    /// The model at its beginning.
    fn live(&self, ledger: &Ledger) -> Live {
        let live = self.builder.live(&self.body, ledger);
        if self.hides_beginning { live.with_hidden_beginning(self.builder.max_branches) } else { live }
    }

    /// Searches from where it was, and keeps how far it is now and then.
    fn in_stretches<M: Model>(
        &self,
        ledger: &Ledger,
        signal: &Watchman<'_>,
        keeper: Option<&Keeper>,
        kept: Option<Kept>,
    ) -> Found {
        let mut kept = kept.unwrap_or(Kept { stats: Stats::default(), cut: None, rest: Rest::all() });
        loop {
            signal.begin(kept.stats.executions);
            let limits = self.builder.limits();
            let executions = limits.executions.map(|limit| limit.saturating_sub(kept.stats.executions));
            let rest = std::mem::replace(&mut kept.rest, Rest::all());
            let (found, rest) = self.once::<M>(ledger, signal, Limits { executions, ..limits }, None, rest);
            kept.rest = rest;
            kept.stats.add(&found.stats);
            if let Coverage::Stopped(StopReason::Steps(steps)) = found.coverage {
                kept.cut = Some(steps);
            }
            if ledger.is_out_of_date() {
                return found;
            }
            if let (Some(keeper), false) = (keeper, kept.rest.is_empty()) {
                keeper.write(&kept, ledger);
            }
            if !signal.is_paused() || found.wrong.is_some() {
                let coverage = whole(found.coverage, &kept, limits.executions);
                keeper.iter().for_each(|keeper| keeper.finish(&coverage));
                return Found { stats: kept.stats, coverage, ..found };
            }
        }
    }

    /// Searches `rest` with what the ledger has in the open; gives what is then left.
    fn once<M: Model>(
        &self,
        ledger: &Ledger,
        signal: &Watchman<'_>,
        limits: Limits,
        bound: Option<u64>,
        rest: Rest,
    ) -> (Found, Rest) {
        let wrong: Mutex<Option<Wrong>> = Mutex::new(None);
        let instead: Mutex<Option<Found>> = Mutex::new(None);
        let watch = |leaf: &Leaf<'_, Live>| {
            let problem = problem_of(leaf.subject, &leaf.ending);
            if ledger.is_out_of_date() {
                return Flow::Stop(StopReason::Time);
            }
            signal.note(|| leaf.share());
            let Some(problem) = problem else {
                let Some(found) = self.try_annotations::<M>(leaf, ledger, signal) else { return Flow::Continue };
                *instead.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                return Flow::Stop(StopReason::Time);
            };
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.as_ref().is_none_or(|known| leaf.path < known.path) {
                *wrong = Some(Wrong { path: leaf.path.clone(), way: Way::Moves(leaf.moves()), problem });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || self.live(ledger);
        let settings = Settings { limits, jobs: self.builder.jobs };
        let (stats, coverage, rest) = rest.watch::<Live, M>(&make, &settings, bound, signal, &watch);
        let found = match into_inner(instead) {
            Some(mut found) => {
                found.stats.abandoned += stats.executions;
                found
            }
            None => Found { stats, coverage, wrong: into_inner(wrong) },
        };
        (found, rest)
    }

    /// Searches everything if that is not too much, and else what has few preemptions.
    fn within<M: Model>(&self, ledger: &Ledger, signal: &Watchman<'_>, bound: usize) -> Found {
        let limits = self.builder.limits();
        let in_full = limits.executions.or(Some(EXECUTIONS_BEFORE_BOUND));
        let limited = Limits { executions: in_full, ..limits };
        let (found, _) = self.once::<M>(ledger, signal, limited, None, Rest::all());
        match found.coverage {
            Coverage::Stopped(StopReason::Executions(_)) => {
                self.once::<M>(ledger, signal, limits, Some(bound as u64), Rest::all()).0
            }
            _ => found,
        }
    }
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What the coverage of the last stretch says of all.
fn whole(coverage: Coverage, kept: &Kept, limit: Option<u64>) -> Coverage {
    match (coverage, kept.cut, limit) {
        (Coverage::Stopped(StopReason::Executions(_)), _, Some(limit)) => {
            Coverage::Stopped(StopReason::Executions(limit))
        }
        (Coverage::Complete, Some(steps), _) => Coverage::Stopped(StopReason::Steps(steps)),
        (coverage, ..) => coverage,
    }
}
