//! How many executions satisfy the condition of a program, and how many do not.

use std::ops::ControlFlow;

use teetotal_check::Outcome;
use teetotal_judge::axiomatic::visit_executions;
use teetotal_program::condition::Formula;
use teetotal_program::ir::Program;

use crate::state::{self, Shown};

/// Completed executions for and against the formula inside the condition; without a condition all are for it.
///
/// Executions that differ in reads-from or coherence are different, if the axiomatic model can enumerate them within
/// reason; otherwise final states are counted in their place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally {
    /// How many satisfy the formula.
    pub holding: u64,
    /// How many do not.
    pub failing: u64,
}

/// With more executions than this, final states are counted.
const MANY_EXECUTIONS: u64 = 20_000;

/// A program with more states than this has too many executions to try.
const MANY_STATES: u64 = 20_000;

impl Tally {
    /// Of the executions of `program` that a search found.
    #[must_use]
    pub fn of(program: &Program, outcome: &Outcome) -> Tally {
        let formula = program.condition.as_ref().map_or(&Formula::True, |condition| condition.formula());
        let states = of_states(program, outcome, formula);
        if !outcome.coverage.is_complete() || outcome.stats.states > MANY_STATES {
            return states;
        }
        // The search has the last word on what is observed at all; the laws hold both to the same answer.
        of_executions(program, outcome, formula).filter(|tally| tally.word() == states.word()).unwrap_or(states)
    }

    /// `Never`, `Sometimes` or `Always`: what is observed of the formula.
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.holding, self.failing) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    fn add(&mut self, holds: bool) {
        if holds {
            self.holding += 1;
        } else {
            self.failing += 1;
        }
    }
}

fn of_states(program: &Program, outcome: &Outcome, formula: &Formula) -> Tally {
    let mut tally = Tally { holding: 0, failing: 0 };
    if state::shows(program, formula) {
        for values in outcome.states.keys() {
            tally.add(formula.holds(&Shown { program, values }));
        }
    } else {
        tally.holding += u64::from(outcome.satisfying.is_some());
        tally.failing += u64::from(outcome.falsifying.is_some());
    }
    tally
}

/// Nothing if the executions cannot be enumerated or are too many.
fn of_executions(program: &Program, outcome: &Outcome, formula: &Formula) -> Option<Tally> {
    let mut tally = Tally { holding: 0, failing: 0 };
    let mut seen = 0;
    visit_executions(outcome.explored, program, |execution| {
        seen += 1;
        if execution.is_completed() && program.admits(&execution) {
            tally.add(formula.holds(&execution));
        }
        if seen > MANY_EXECUTIONS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .ok()?;
    (seen <= MANY_EXECUTIONS).then_some(tally)
}
