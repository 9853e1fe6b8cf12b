//! What was found, as simple as it can be, replayed, and confirmed by the axiomatic twin.

use std::sync::Arc;

use teetotal_judge::axiomatic;
use teetotal_memory::{ModelId, Trace};
use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;

use super::{CheckError, Options, Searched};
use crate::collector::{Collector, Found};
use crate::minimize::{Goal, minimize};
use crate::outcome::{Coverage, Outcome, Schedule, StopReason, Violation};
use crate::replay::{Replayed, trace_of};
use crate::token::Token;

/// Replays every witness and every finding, so that each has the consent of the twin.
pub(super) fn finish(program: &Arc<Program>, options: &Options, searched: Searched) -> Result<Outcome, CheckError> {
    let Searched { mut collector, coverage, guarantee, fences_suffice } = searched;
    let minimal = simplify(program, options, &mut collector);
    let Collector { states, satisfying, falsifying, findings, stats, constructor, .. } = collector;
    let explored = options.explored();
    for witness in [&satisfying, &falsifying].into_iter().flatten() {
        let Replayed { trace, token, .. } = trace_of(program, explored, witness);
        consult_twin(explored, &trace, &token, program)?;
    }
    let mut violations = Vec::new();
    for (found, is_minimal) in findings.into_iter().zip(minimal) {
        violations.push(Violation { is_minimal, ..violation(program, options, found)? });
    }
    let coverage = match (coverage, constructor.gave_up) {
        (Coverage::Complete, true) => Coverage::Stopped(StopReason::Continuation),
        (coverage, _) => coverage,
    };
    Ok(Outcome {
        model: options.model,
        explored,
        search: options.search,
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

/// Replays what was found; for a finding on robustness, the execution of the model that shows it.
fn violation(program: &Arc<Program>, options: &Options, found: Found<Schedule>) -> Result<Violation, CheckError> {
    let Found { monitor, finding, place, relaxed, executions, .. } = found;
    let explored = options.explored();
    let (model, schedule, seen_in) = match relaxed {
        Some(steps) => {
            let seen_in = Some(place).filter(|place| !place.is_empty());
            let seen_in = seen_in.map(|place| trace_of(program, explored, &place).token);
            (options.model, Schedule::Steps(steps), seen_in)
        }
        None => (explored, place, None),
    };
    let Replayed { trace, token, values, .. } = trace_of(program, model, &schedule);
    consult_twin(model, &trace, &token, program)?;
    let is_minimal = false;
    Ok(Violation { monitor, finding, schedule, is_minimal, trace, token, values, model, executions, seen_in })
}

/// Replaces the executions that are reported by simple ones; gives for each finding whether none is simpler.
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
    let mut simple = minimize(program, options.explored(), &options.limits, &known).into_iter();
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

/// Asks the axiomatic twin whether it allows the execution too.
fn consult_twin(model: ModelId, trace: &Trace, token: &Token, program: &Program) -> Result<(), CheckError> {
    axiomatic::accepts(model, trace, |loc| program.locations[loc.index()].initial).map_err(|rejection| {
        CheckError::Disagreement { model: model.info().name, reason: rejection.to_string(), token: token.to_string() }
    })
}
