//! Makes an execution that shows something simpler: fewest context switches, then fewest commits, then fewest steps.
//!
//! What an execution costs is a [`Cost`]. First its steps are put into a straighter order, as far as steps that commute
//! allow ([`straighten`]). Then [`cheapest`] searches all states in the order of cost, which gives the least, unless it
//! must give up; then the straighter order stays. Whatever comes of it is run again and must show the same.

mod cheapest;
mod cost;
mod goal;
mod reached;
mod straighten;

pub use cost::Cost;
pub use goal::Goal;

use std::sync::Arc;

use teetotal_engine::{Limits, Replayed, Schedule, named, run_again, trace_of};
use teetotal_memory::{Family, ModelId, Step};
use teetotal_program::ir::Program;

use crate::minimize::cheapest::{Answer, Cheapest};

/// An execution that shows what was wanted.
#[derive(Clone, Debug)]
pub struct Simple {
    pub schedule: Schedule,
    /// What it did when it was run again.
    pub again: Replayed,
    /// Whether every execution that shows it costs at least as much.
    pub is_minimal: bool,
}

/// For each goal, with an execution that shows it, a simple execution that shows it too and never costs more.
#[must_use]
pub fn minimize(program: &Arc<Program>, model: ModelId, limits: &Limits, known: &[(Goal, Schedule)]) -> Vec<Simple> {
    if matches!(model.info().family, Family::Graphs) {
        // Executions have no states in which they could meet, and each is one graph in an order with few switches.
        let simple = |(_, schedule): &(Goal, Schedule)| {
            let again = trace_of(program, model, schedule);
            Simple { schedule: schedule.clone(), again, is_minimal: false }
        };
        return known.iter().map(simple).collect();
    }
    let straight: Vec<Candidate> =
        known.iter().map(|(goal, schedule)| straight(program, model, goal, schedule)).collect();
    let goals = known.iter().map(|(goal, _)| goal).zip(straight.iter().map(|candidate| candidate.cost)).collect();
    let answers = model.visit_buffers(Cheapest { program, limits, goals });
    let best = known.iter().zip(straight).zip(answers);
    best.map(|(((goal, _), candidate), answer)| {
        if let Answer::Cheapest(schedule) = answer {
            let schedule = named(program, model, limits, schedule);
            if let Some(again) = show(program, model, goal, &schedule) {
                return Simple { schedule, again, is_minimal: true };
            }
        }
        let Candidate { schedule, again, .. } = candidate;
        Simple { schedule, again, is_minimal: false }
    })
    .collect()
}

/// An execution and what it costs.
struct Candidate {
    schedule: Schedule,
    again: Replayed,
    cost: Cost,
}

/// The execution with its steps in a straighter order, if that is one and shows the same.
fn straight(program: &Arc<Program>, model: ModelId, goal: &Goal, schedule: &Schedule) -> Candidate {
    let found = trace_of(program, model, schedule);
    let steps: Vec<Step> = found.trace.steps().iter().map(|record| record.step).collect();
    let known = Cost::of(&steps);
    let straight = model.visit_buffers(straighten::Straighten { found: &found });
    let cost = Cost::of(&straight);
    let straight = Schedule::Steps(straight);
    let better = if cost < known { show(program, model, goal, &straight) } else { None };
    match better {
        Some(again) => Candidate { schedule: straight, again, cost },
        None => Candidate { schedule: schedule.clone(), again: found, cost: known },
    }
}

/// The execution, if it is one and shows what is wanted.
fn show(program: &Arc<Program>, model: ModelId, goal: &Goal, schedule: &Schedule) -> Option<Replayed> {
    let again = run_again(program, model, schedule);
    (again.trace.steps().len() == schedule.len() && goal.is_shown_by(&again)).then_some(again)
}
