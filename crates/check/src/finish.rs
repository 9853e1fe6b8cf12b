//! What was found, made as simple as it can be, run again, and confirmed by the axiomatic model.

use std::sync::Arc;

use teetotal_engine::auto::Attempt;
use teetotal_engine::token::Token;
use teetotal_engine::{Collector, Coverage, Found, Replayed, Schedule, StopReason, trace_of};
use teetotal_judge::axiomatic;
use teetotal_memory::{ModelId, Trace};
use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;

use crate::check::Searched;
use crate::minimize::{Goal, Simple, minimize};
use crate::options::{CheckError, Options};
use crate::outcome::{Outcome, Violation, Witness};

/// Runs every witness and every finding again, if that was not done, and asks the axiomatic model about each.
pub(crate) fn finish(
    program: &Arc<Program>,
    options: &Options,
    attempt: &Attempt,
    searched: Searched,
) -> Result<Outcome, CheckError> {
    let Searched { collector, coverage, guarantee, fences_suffice } = searched;
    let (simple_findings, simple_witness) = simplify(program, options, &collector);
    let Collector { states, satisfying, falsifying, findings, stats, gave_up, .. } = collector;
    let explored = options.question().explored();
    let witness = |found: Option<Shown>| found.map(|found| witness(program, explored, found)).transpose();
    let satisfying = simple_witness.map(Shown::from).or(satisfying.map(Shown::from));
    let (satisfying, falsifying) = (witness(satisfying)?, witness(falsifying.map(Shown::from))?);
    let mut violations = Vec::new();
    for (found, simple) in findings.into_iter().zip(simple_findings) {
        violations.push(violation(program, options, found, simple)?);
    }
    let coverage = match (coverage, gave_up) {
        (Coverage::Complete, true) => Coverage::Stopped(StopReason::Continuation),
        (coverage, _) => coverage,
    };
    Ok(Outcome {
        model: options.model,
        explored,
        search: attempt.search,
        search_reason: attempt.reason,
        coverage,
        states,
        satisfying,
        falsifying,
        violations,
        fences_suffice,
        guarantee,
        stats,
    })
}

/// An execution that is to be reported.
struct Shown {
    schedule: Schedule,
    /// What it did when it was run again, if it was.
    again: Option<Replayed>,
}

impl Shown {
    /// What the execution does under `model`.
    fn run_again(&mut self, program: &Arc<Program>, model: ModelId) -> Replayed {
        self.again.take().unwrap_or_else(|| trace_of(program, model, &self.schedule))
    }
}

impl From<Schedule> for Shown {
    fn from(schedule: Schedule) -> Self {
        Shown { schedule, again: None }
    }
}

impl From<Simple> for Shown {
    fn from(Simple { schedule, again, .. }: Simple) -> Self {
        Shown { schedule, again: Some(again) }
    }
}

/// An execution that the program asks for.
fn witness(program: &Arc<Program>, model: ModelId, mut found: Shown) -> Result<Witness, CheckError> {
    let Replayed { trace, token, values, .. } = found.run_again(program, model);
    ask_axioms(model, &trace, &token, program)?;
    Ok(Witness { schedule: found.schedule, trace, token, values })
}

/// What was found, in a simple execution if there is one; for a finding on robustness, in the execution of the model that
/// shows it.
fn violation(
    program: &Arc<Program>,
    options: &Options,
    found: Found<Schedule>,
    simple: Option<Simple>,
) -> Result<Violation, CheckError> {
    let Found { monitor, finding, place, relaxed, executions, .. } = found;
    let explored = options.question().explored();
    let is_minimal = simple.as_ref().is_some_and(|simple| simple.is_minimal);
    let (model, mut shown, seen_in) = match relaxed {
        Some(steps) => {
            let seen_in = Some(place).filter(|place| !place.is_empty());
            let seen_in = seen_in.map(|place| trace_of(program, explored, &place).token);
            (options.model, Shown::from(Schedule::Steps(steps)), seen_in)
        }
        None => (explored, simple.map_or_else(|| Shown::from(place), Shown::from), None),
    };
    let Replayed { trace, token, values, .. } = shown.run_again(program, model);
    ask_axioms(model, &trace, &token, program)?;
    let schedule = shown.schedule;
    Ok(Violation { monitor, finding, schedule, is_minimal, trace, token, values, model, executions, seen_in })
}

/// Simple executions that show each of the findings, and the witness that the program asks for.
///
/// A finding on robustness keeps the execution that was made for it.
fn simplify(program: &Arc<Program>, options: &Options, collector: &Collector) -> (Vec<Option<Simple>>, Option<Simple>) {
    let asks = matches!(program.condition, Some(Condition::Exists(_)));
    let plain = |found: &&Found<Schedule>| found.relaxed.is_none();
    let goal = |found: &Found<Schedule>| (Goal::Finding(found.monitor, found.finding.clone()), found.place.clone());
    let witness = collector.satisfying.iter().filter(|_| asks).map(|way| (Goal::Satisfying, way.clone()));
    let known: Vec<(Goal, Schedule)> = collector.findings.iter().filter(plain).map(goal).chain(witness).collect();
    if !options.minimize || known.is_empty() {
        return (vec![None; collector.findings.len()], None);
    }
    let mut simple = minimize(program, options.question().explored(), &options.limits, &known).into_iter();
    let of_finding = |found: &Found<Schedule>| if found.relaxed.is_none() { simple.next() } else { None };
    (collector.findings.iter().map(of_finding).collect(), simple.next())
}

/// Asks the axiomatic model whether it allows the execution too.
fn ask_axioms(model: ModelId, trace: &Trace, token: &Token, program: &Program) -> Result<(), CheckError> {
    axiomatic::accepts(model, trace, |loc| program.locations[loc.index()].initial).map_err(|rejection| {
        CheckError::Disagreement { model: model.info().name, reason: rejection.to_string(), token: token.to_string() }
    })
}
