//! Final states as herd7 prints them, and the evaluation of formulas on them.

use teetotal_check::Outcome;
use teetotal_program::Value;
use teetotal_program::condition::{FinalState, Formula, Operand, Term};
use teetotal_program::ir::Program;

/// Returns the final states of an outcome, sorted as text, each once.
pub(crate) fn states(program: &Program, outcome: &Outcome) -> Vec<String> {
    let mut states: Vec<String> = outcome.states.keys().map(|values| program.show_outcome(values)).collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// Returns whether outcomes show every term of `formula`.
pub(crate) fn shows(program: &Program, formula: &Formula) -> bool {
    let operand = |operand: &Operand| match operand {
        Operand::Term(term) => program.observed.contains(term),
        Operand::Constant(_) => true,
    };
    match formula {
        Formula::True => true,
        Formula::Compare(left, _, right) => operand(left) && operand(right),
        Formula::Not(part) => shows(program, part),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| shows(program, part)),
    }
}

/// A final state as shown by an outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a [Value],
}

impl FinalState for Shown<'_> {
    fn value(&self, term: Term) -> Value {
        let position = self.program.observed.iter().position(|shown| *shown == term);
        self.values[position.expect("the formula was found to use only what is shown")]
    }
}
