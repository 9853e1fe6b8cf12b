//! What was found, made as simple as it can be, replayed once, and confirmed by the axiomatic model.

use std::sync::Arc;

use teetotal_engine::auto::Attempt;
use teetotal_engine::token::Token;
use teetotal_engine::{Collector, Coverage, Found, Replayed, Schedule, StopReason, trace_of};
use teetotal_judge::axiomatic;
use teetotal_memory::{ModelId, Trace};
use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;

use crate::check::Searched;
use crate::minimize::{Goal, minimize};
use crate::options::{CheckError, Options};
use crate::outcome::{Outcome, Violation, Witness};

/// Replays every witness and every finding once, and asks the axiomatic model about each.
pub(crate) fn finish(
    program: &Arc<Program>,
    options: &Options,
    attempt: &Attempt,
    searched: Searched,
) -> Result<Outcome, CheckError> {
    let Searched { mut collector, coverage, guarantee, fences_suffice } = searched;
    let minimal = simplify(program, options, &mut collector);
    let Collector { states, satisfying, falsifying, findings, stats, gave_up, .. } = collector;
    let explored = options.question().explored();
    let witness =
        |schedule: Option<Schedule>| schedule.map(|schedule| witness(program, explored, schedule)).transpose();
    let (satisfying, falsifying) = (witness(satisfying)?, witness(falsifying)?);
    let mut violations = Vec::new();
    for (found, is_minimal) in findings.into_iter().zip(minimal) {
        violations.push(Violation { is_minimal, ..violation(program, options, found)? });
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

/// Replays an execution that the program asks for.
fn witness(program: &Arc<Program>, model: ModelId, schedule: Schedule) -> Result<Witness, CheckError> {
    let Replayed { trace, token, values, .. } = trace_of(program, model, &schedule);
    ask_axioms(model, &trace, &token, program)?;
    Ok(Witness { schedule, trace, token, values })
}

/// Replays what was found; for a finding on robustness, the execution of the model that shows it.
fn violation(program: &Arc<Program>, options: &Options, found: Found<Schedule>) -> Result<Violation, CheckError> {
    let Found { monitor, finding, place, relaxed, executions, .. } = found;
    let explored = options.question().explored();
    let (model, schedule, seen_in) = match relaxed {
        Some(steps) => {
            let seen_in = Some(place).filter(|place| !place.is_empty());
            let seen_in = seen_in.map(|place| trace_of(program, explored, &place).token);
            (options.model, Schedule::Steps(steps), seen_in)
        }
        None => (explored, place, None),
    };
    let Replayed { trace, token, values, .. } = trace_of(program, model, &schedule);
    ask_axioms(model, &trace, &token, program)?;
    let is_minimal = false;
    Ok(Violation { monitor, finding, schedule, is_minimal, trace, token, values, model, executions, seen_in })
}

/// Replaces the executions that are reported by simple ones; returns for each finding whether none is simpler.
///
/// A finding on robustness keeps the execution that was made for it.
fn simplify(program: &Arc<Program>, options: &Options, collector: &mut Collector) -> Vec<bool> {
    let asks = matches!(program.condition, Some(Condition::Exists(_)));
    let plain = |found: &&Found<Schedule>| found.relaxed.is_none();
    let goal = |found: &Found<Schedule>| (Goal::Finding(found.monitor, found.finding.clone()), found.place.clone());
    let witness = collector.satisfying.iter().filter(|_| asks).map(|way| (Goal::Satisfying, way.clone()));
    let known: Vec<(Goal, Schedule)> = collector.findings.iter().filter(plain).map(goal).chain(witness).collect();
    if !options.minimize || known.is_empty() {
        return vec![false; collector.findings.len()];
    }
    let mut simple = minimize(program, options.question().explored(), &options.limits, &known).into_iter();
    let mut minimal = Vec::new();
    for found in &mut collector.findings {
        let simpler = if found.relaxed.is_none() { simple.next() } else { None };
        minimal.push(simpler.as_ref().is_some_and(|simple| simple.is_minimal));
        if let Some(simple) = simpler {
            found.place = simple.schedule;
        }
    }
    if let Some(witness) = simple.next() {
        collector.satisfying = Some(witness.schedule);
    }
    minimal
}

/// Asks the axiomatic model whether it allows the execution too.
fn ask_axioms(model: ModelId, trace: &Trace, token: &Token, program: &Program) -> Result<(), CheckError> {
    axiomatic::accepts(model, trace, |loc| program.locations[loc.index()].initial).map_err(|rejection| {
        CheckError::Disagreement { model: model.info().name, reason: rejection.to_string(), token: token.to_string() }
    })
}
