//! Final states as herd7 prints them.

use teetotal_explore::Outcome;
use teetotal_program::ir::Program;

/// The final states of an outcome, sorted as text, each once.
pub(crate) fn states(program: &Program, outcome: &Outcome) -> Vec<String> {
    let mut states: Vec<String> = outcome.states.keys().map(|values| program.show_outcome(values)).collect();
    states.sort_unstable();
    states.dedup();
    states
}
