//! The two streams: results to one, mistakes to the other.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use teetotal::exit;

use crate::fault::Fault;

/// The standard output, written in large pieces.
pub(crate) struct Output {
    stdout: BufWriter<Stdout>,
}

impl Output {
    /// Writes a piece of the result.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Fault> {
        self.stdout.write_all(text.as_bytes()).map_err(|error| fault_of(&error))
    }

    /// Lets the reader see what was written so far.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        self.stdout.flush().map_err(|error| fault_of(&error))
    }
}

/// A reader that goes away has seen enough.
fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::BrokenPipe => Fault::Closed,
        _ => Fault::new(format!("the output cannot be written: {error}")),
    }
}

/// Runs a command and gives its exit code; what goes wrong is told on the standard error stream.
pub(crate) fn run(command: impl FnOnce(&mut Output) -> Result<u8, Fault>) -> u8 {
    let mut out = Output { stdout: BufWriter::new(io::stdout()) };
    let result = command(&mut out).and_then(|code| out.flush().map(|()| code));
    match result {
        Ok(code) => code,
        Err(Fault::Closed) => {
            // What is left in the buffer has no reader.
            drop(out.stdout.into_parts());
            exit::HOLDS
        }
        Err(fault) => {
            // The results so far come before the mistake; if they cannot be written, the mistake still counts.
            let _ = out.flush();
            tell(&fault);
            fault.code()
        }
    }
}

/// Prints an error; if that fails, there is nothing left to do.
pub(crate) fn tell(fault: &Fault) {
    let _ = io::stderr().write_all(fault.to_string().as_bytes());
}

/// Tells something that is no mistake and no part of the result.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().write_all(format!("note: {text}\n").as_bytes());
}
