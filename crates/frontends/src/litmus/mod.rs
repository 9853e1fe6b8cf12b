//! Litmus tests in the format of herd7, for x86 with 32 and with 64 bits, and for C.
//!
//! [`read`] parses the whole text, then lowers it; each stage goes on after a mistake, so that one pass shows them all.

use teetotal_program::ir::{Builder, Program};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::syntax::Code;

mod c;
mod init;
mod lexer;
mod locations;
mod parser;
mod proposition;
mod question;
mod syntax;
mod types;
mod x86;

/// The program of the litmus test `text`; `name` is what its source is called.
pub fn read(name: &str, text: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let program = parser::parse(text, &mut diagnostics).and_then(|test| {
        let mut builder = Builder::new(&test.name);
        builder.source(name, Some(text));
        // After a mistake in the text, a name may be unknown only because of it.
        let complete = diagnostics.is_empty();
        let mut locations = locations::declare(&test, &mut builder, &mut diagnostics);
        let locals = match &test.code {
            Code::X86(threads) => {
                x86::threads(&test, threads, &locations, &mut builder, &mut diagnostics);
                Vec::new()
            }
            Code::C(threads) => c::threads(&test, threads, &mut locations, &mut builder, &mut diagnostics),
        };
        question::ask(&test, &locations, &locals, &mut builder, complete.then_some(&mut diagnostics));
        let built = builder.build().map_err(|error| Diagnostic::new(test.header, error.to_string()));
        built.map_err(|diagnostic| diagnostics.is_empty().then(|| diagnostics.add(diagnostic))).ok()
    });
    match program {
        Some(program) if diagnostics.is_empty() => Ok(program),
        _ => Err(diagnostics.sorted()),
    }
}
