//! What must hold of any bytes that are read as a litmus test.
//!
//! A plain function, so that the fuzzer drives it and so does `crates/frontends/tests/mutated.rs`, on stable Rust.

use teetotal_frontends::{Diagnostic, litmus};
use teetotal_program::ir::Program;

/// What became of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Became {
    /// They are no text, and no front end sees them.
    NoText,
    Program,
    Refused,
}

/// Panics unless `bytes` are read, and printed as the same program, or are refused with reasons at places that exist.
pub(crate) fn litmus(bytes: &[u8]) -> Became {
    let Ok(text) = std::str::from_utf8(bytes) else { return Became::NoText };
    match litmus::read("fuzz.litmus", text) {
        Ok(program) => {
            let printed = match litmus::print(text) {
                Ok(printed) => printed,
                Err(reasons) => {
                    assert_eq!(reasons[0].message, "a test for C is not printed");
                    return Became::Program;
                }
            };
            let again = litmus::read("fuzz.litmus", &printed).expect("what is printed can be read");
            assert_eq!(without_places(program), without_places(again), "another program was printed:\n{printed}");
            Became::Program
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "it is refused without a reason");
            diagnostics.iter().for_each(|diagnostic| demand_place(diagnostic, text));
            Became::Refused
        }
    }
}

fn demand_place(diagnostic: &Diagnostic, text: &str) {
    let span = diagnostic.span;
    let line = text.split('\n').nth((span.line as usize).wrapping_sub(1));
    let line = line.unwrap_or_else(|| panic!("there is no line {}: {diagnostic}", span.line));
    let length = line.chars().count();
    let end = (span.column as usize + span.length as usize).wrapping_sub(1);
    assert!(span.column >= 1 && end <= length, "{diagnostic} goes on to column {end} of {length}");
    assert!(!diagnostic.message.is_empty() && diagnostic.message.chars().count() < 400, "{diagnostic}");
}

fn without_places(mut program: Program) -> Program {
    program.sources.clear();
    for place in program.threads.iter_mut().flat_map(|thread| &mut thread.places) {
        place.span = None;
    }
    program
}
