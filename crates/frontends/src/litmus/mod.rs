//! Litmus tests in the format of herd7, for x86 with 32 and with 64 bits, and for C.
//!
//! [`read`] parses the whole text, then lowers it; each stage continues after an error, so that one pass reports them all.

use teetotal_program::ir::{Builder, Language, Program};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::syntax::Code;

mod c;
pub mod cycles;
mod init;
mod lexer;
mod locations;
mod operand_printer;
mod parser;
mod printer;
mod proposition;
mod question;
mod syntax;
mod types;
mod x86;

pub use syntax::Flavor;

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
                builder.language(Language::X86);
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

/// The litmus test `text` in the spelling of this crate; what it means stays the same.
///
/// Remarks and comments are left out, and tests for C are refused. A text that [`read`] refuses may have one all the same, if each part can be read
/// by itself.
pub fn print(text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    match parser::parse(text, &mut diagnostics) {
        Some(test) if diagnostics.is_empty() => printer::print(&test, &[]).ok_or_else(|| {
            vec![Diagnostic::new(test.header, "a test for C is not printed".to_owned()).help("those for x86 are")]
        }),
        _ => Err(diagnostics.sorted()),
    }
}
