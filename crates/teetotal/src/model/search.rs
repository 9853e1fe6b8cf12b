//! Runs the executions of a model.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use teetotal_dpor::Rest;
use teetotal_engine::auto::{RustAsked, RustChoice, Tally};
use teetotal_engine::driver::Flow;
use teetotal_engine::{Coverage, Execution, Limits, Schedule, SearchId, Stats, StopReason, Unsupported};
use teetotal_live::{Ledger, Live};
use teetotal_memory::Family;

use super::Builder;
use super::checkpoint::{Keeper, Kept};
use super::problem::{Problem, problem_of};
use super::rust_searches::{self, RustSearched, RustTask};
use super::watchman::Watchman;

/// The number of executions that are run before a preemption bound applies.
const EXECUTIONS_BEFORE_BOUND: u64 = 2_000;

/// A search for violations of a model.
pub(super) struct ModelSearch<'s> {
    builder: &'s Builder,
    body: teetotal_live::Model,
    /// What threads have observed; the search may add to it.
    ledger: Ledger,
    /// Whether the operations of the first thread before it starts another one are abstracted from.
    hides_beginning: bool,
    /// Counts executions that read the same, as long as that decides which search is used.
    tally: Option<Mutex<Tally>>,
}

/// The findings of a search.
pub(super) struct Found {
    pub(super) stats: Stats,
    pub(super) coverage: Coverage,
    /// The first failing execution in the order of the search.
    pub(super) wrong: Option<Wrong>,
}

/// The result of a search, and which search it was.
pub(super) struct Outcome {
    pub(super) found: Found,
    pub(super) choice: RustChoice,
}

/// A failing execution.
pub(super) struct Wrong {
    /// The path to it in the search tree.
    pub(super) path: Vec<u32>,
    pub(super) schedule: Schedule,
    pub(super) problem: Problem,
}

impl<'s> ModelSearch<'s> {
    /// Adds what threads observe to `ledger`.
    pub(super) fn new(builder: &'s Builder, body: &teetotal_live::Model, ledger: &Ledger) -> Self {
        // A saved search must fit the one that resumes it.
        let hides_beginning = builder.checkpoint_file.is_none();
        ModelSearch { builder, body: Arc::clone(body), ledger: ledger.clone(), hides_beginning, tally: None }
    }

    /// Searches until no thread observes anything that is abstracted from.
    pub(super) fn run(mut self) -> Outcome {
        let ledger = self.ledger.clone();
        let signal = Watchman::new(self.builder, &ledger);
        let keeper = Keeper::of(self.builder).filter(|_| self.builder.preemption_bound.is_none());
        let mut kept = keeper.as_ref().and_then(|keeper| keeper.read(&ledger));
        let mut choice = self.first_choice();
        loop {
            self.tally = (choice.search == SearchId::Auto).then(Mutex::default);
            let found = match (choice.search, self.builder.preemption_bound) {
                (SearchId::ReadsFrom, _) => match self.by_reads_from(&signal, self.builder.limits()) {
                    Ok(found) => found,
                    Err(unsupported) => {
                        choice = RustChoice::without_reads_from(unsupported);
                        continue;
                    }
                },
                (_, Some(bound)) => self.within(&signal, bound),
                _ => self.in_stretches(&signal, keeper.as_ref(), kept.take()),
            };
            if ledger.is_out_of_date() {
                ledger.open();
                choice = self.first_choice();
            } else if self.hides_beginning && found.wrong.is_some() {
                // An execution that is shown must show everything.
                self.hides_beginning = false;
            } else {
                return self.outcome(found, choice);
            }
        }
    }

    fn first_choice(&self) -> RustChoice {
        first_choice(self.builder)
    }

    /// Returns whether an execution counts at its end, and its problem.
    fn problem_of(&self, execution: &Execution<'_, Live>) -> Result<Option<Problem>, Flow> {
        let problem = problem_of(execution.subject, &execution.ending);
        if self.ledger.is_out_of_date() { Err(Flow::Stop(StopReason::Superseded)) } else { Ok(problem) }
    }

    /// Searches with `rf`: one execution for each reads-from relation.
    fn by_reads_from(&self, signal: &Watchman<'_>, limits: Limits) -> Result<Found, Unsupported> {
        let wrong = Mutex::new(None);
        let sink = |execution: &Execution<'_, Live>| {
            let problem = match self.problem_of(execution) {
                Ok(Some(problem)) => problem,
                Ok(None) => return Flow::Continue,
                Err(flow) => return flow,
            };
            *lock(&wrong) = Some(Wrong { path: Vec::new(), schedule: Schedule::Moves(execution.moves()), problem });
            Flow::Stop(StopReason::Violation)
        };
        let make = || self.live();
        let task = self.task(&make, limits, signal, &sink);
        let searched = signal.during_reads_from(|| rust_searches::run(SearchId::ReadsFrom, &task))?;
        Ok(Found { stats: searched.stats, coverage: searched.coverage, wrong: into_inner(wrong) })
    }

    /// After an execution without a failure: tries the other search if that looks promising, and returns its result if
    /// it was complete.
    fn try_reads_from(&self, execution: &Execution<'_, Live>, signal: &Watchman<'_>) -> Option<Found> {
        let tally = || self.tally.as_ref().map(lock);
        let budget = tally()?.count(|| execution.subject.fingerprint())?;
        let limits = self.builder.limits();
        let executions = Some(limits.executions.map_or(budget, |limit| limit.min(budget)));
        match self.by_reads_from(signal, Limits { executions, ..limits }) {
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

    fn outcome(self, mut found: Found, choice: RustChoice) -> Outcome {
        let Some(tally) = self.tally.map(into_inner) else { return Outcome { found, choice } };
        found.stats.abandoned += tally.abandoned;
        Outcome { found, choice: tally.choice() }
    }

    /// Returns the model in its initial state.
    fn live(&self) -> Live {
        let live = self.builder.live(&self.body, &self.ledger);
        if self.hides_beginning { live.with_hidden_beginning(self.builder.max_branches) } else { live }
    }

    /// Searches all executions of the model.
    fn task<'t>(
        &'t self,
        make: &'t (dyn Fn() -> Live + Sync),
        limits: Limits,
        signal: &'t Watchman<'_>,
        sink: &'t (dyn Fn(&Execution<'_, Live>) -> Flow + Sync),
    ) -> RustTask<'t> {
        let Builder { model, jobs, .. } = *self.builder;
        RustTask { make, model, limits, jobs, bound: None, rest: Rest::all(), signal, sink }
    }

    /// Resumes the search, and saves it periodically.
    fn in_stretches(&self, signal: &Watchman<'_>, keeper: Option<&Keeper>, kept: Option<Kept>) -> Found {
        let mut kept = kept.unwrap_or(Kept { stats: Stats::default(), cut: None, rest: Rest::all() });
        loop {
            signal.begin(kept.stats.executions);
            let limits = self.builder.limits();
            let executions = limits.executions.map(|limit| limit.saturating_sub(kept.stats.executions));
            let rest = std::mem::replace(&mut kept.rest, Rest::all());
            let (found, rest) = self.once(signal, Limits { executions, ..limits }, None, rest);
            kept.rest = rest;
            kept.stats.add(&found.stats);
            if let Coverage::Stopped(StopReason::Steps(steps)) = found.coverage {
                kept.cut = Some(steps);
            }
            if self.ledger.is_out_of_date() {
                return found;
            }
            if let (Some(keeper), false) = (keeper, kept.rest.is_empty()) {
                keeper.write(&kept, &self.ledger);
            }
            if !signal.is_paused() || found.wrong.is_some() {
                let coverage = whole(found.coverage, &kept, limits.executions);
                keeper.iter().for_each(|keeper| keeper.finish(&coverage));
                return Found { stats: kept.stats, coverage, ..found };
            }
        }
    }

    /// Searches `rest` with what the ledger has observed; returns what is left.
    fn once(&self, signal: &Watchman<'_>, limits: Limits, bound: Option<u64>, rest: Rest) -> (Found, Rest) {
        let wrong: Mutex<Option<Wrong>> = Mutex::new(None);
        let instead: Mutex<Option<Found>> = Mutex::new(None);
        let sink = |execution: &Execution<'_, Live>| {
            let problem = match self.problem_of(execution) {
                Ok(problem) => problem,
                Err(flow) => return flow,
            };
            signal.note(|| execution.share());
            let Some(problem) = problem else {
                let Some(found) = self.try_reads_from(execution, signal) else { return Flow::Continue };
                *lock(&instead) = Some(found);
                return Flow::Stop(StopReason::Superseded);
            };
            let mut wrong = lock(&wrong);
            if wrong.as_ref().is_none_or(|known| execution.path < known.path) {
                let (path, schedule) = (execution.path.clone(), Schedule::Moves(execution.moves()));
                *wrong = Some(Wrong { path, schedule, problem });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || self.live();
        let task = RustTask { bound, rest, ..self.task(&make, limits, signal, &sink) };
        let searched = rust_searches::run(SearchId::Dpor, &task);
        let RustSearched { stats, coverage, rest } = searched.expect("`dpor` takes all Rust code");
        let found = match into_inner(instead) {
            Some(mut found) => {
                found.stats.abandoned += stats.executions;
                found
            }
            None => Found { stats, coverage, wrong: into_inner(wrong) },
        };
        (found, rest)
    }

    /// Searches everything if there are few executions, and otherwise those within the preemption bound.
    fn within(&self, signal: &Watchman<'_>, bound: usize) -> Found {
        let limits = self.builder.limits();
        let in_full = limits.executions.or(Some(EXECUTIONS_BEFORE_BOUND));
        let limited = Limits { executions: in_full, ..limits };
        let (found, _) = self.once(signal, limited, None, Rest::all());
        match found.coverage {
            Coverage::Stopped(StopReason::Executions(_)) => {
                self.once(signal, limits, Some(bound as u64), Rest::all()).0
            }
            _ => found,
        }
    }
}

/// Returns the search to begin with.
pub(super) fn first_choice(builder: &Builder) -> RustChoice {
    RustChoice::first(&RustAsked {
        search: builder.search,
        robustness: builder.robustness,
        is_of_graphs: matches!(builder.model.info().family, Family::Graphs),
        is_bounded: builder.preemption_bound.is_some(),
        is_kept: builder.checkpoint_file.is_some(),
        jobs: builder.jobs,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the coverage of the whole search, given that of its last part.
fn whole(coverage: Coverage, kept: &Kept, limit: Option<u64>) -> Coverage {
    match (coverage, kept.cut, limit) {
        (Coverage::Stopped(StopReason::Executions(_)), _, Some(limit)) => {
            Coverage::Stopped(StopReason::Executions(limit))
        }
        (Coverage::Complete, Some(steps), _) => Coverage::Stopped(StopReason::Steps(steps)),
        (coverage, ..) => coverage,
    }
}
