//! Counts of executions that satisfy the condition of a program, and of those that do not.

use std::ops::ControlFlow;

use teetotal_check::Outcome;
use teetotal_judge::axiomatic::visit_executions;
use teetotal_program::condition::Formula;
use teetotal_program::ir::Program;

use crate::state::{self, Shown};

/// The numbers of complete executions that satisfy and violate the formula of the condition; without a condition all
/// satisfy it.
///
/// Executions that differ in reads-from or coherence order count separately, if the axiomatic model can enumerate them
/// in reasonable time; otherwise final states are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally {
    /// The number that satisfy the formula.
    pub holding: u64,
    /// The number that do not.
    pub failing: u64,
}

/// The number of executions above which final states are counted.
const MANY_EXECUTIONS: u64 = 20_000;

/// The number of states above which executions are not enumerated.
const MANY_STATES: u64 = 20_000;

impl Tally {
    /// Counts the executions of `program`, given the outcome of a search.
    #[must_use]
    pub fn of(program: &Program, outcome: &Outcome) -> Tally {
        let formula = program.condition.as_ref().map_or(&Formula::True, |condition| condition.formula());
        let states = of_states(program, outcome, formula);
        if !outcome.coverage.is_complete() || outcome.stats.states > MANY_STATES {
            return states;
        }
        // The search decides what is observed at all; a property test checks that both agree.
        of_executions(program, outcome, formula).filter(|tally| tally.word() == states.word()).unwrap_or(states)
    }

    /// Returns `Never`, `Sometimes` or `Always`: how often the formula is observed.
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

/// Returns `None` if the executions cannot be enumerated or are too many.
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
