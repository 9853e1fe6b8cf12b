//! Final states as herd7 prints them: an address is shown as the name of its location.

use teetotal_explore::Outcome;
use teetotal_program::Value;
use teetotal_program::condition::Term;
use teetotal_program::ir::Program;

/// The final states of an outcome, sorted as text, each once.
pub(crate) fn states(program: &Program, outcome: &Outcome) -> Vec<String> {
    let mut states: Vec<String> = outcome.states.keys().map(|values| state(program, values)).collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// One state, such as `0:rax=1; 0:rbx=x; [y]=2;`.
pub(crate) fn state(program: &Program, values: &[Value]) -> String {
    let parts = program.observed.iter().zip(values);
    let parts =
        parts.map(|(&term, &value)| format!("{}={};", program.term_name(term), self::value(program, term, value)));
    parts.collect::<Vec<_>>().join(" ")
}

/// What `term` holds.
///
/// A number is taken for an address only where the program says that it deals with addresses: elsewhere it is a number
/// that happens to be the same.
pub(crate) fn value(program: &Program, term: Term, value: Value) -> String {
    match program.addresses.location(value) {
        Some(loc) if program.names_addresses => program.location_name(loc).to_owned(),
        _ => program.show_value(term, value),
    }
}
