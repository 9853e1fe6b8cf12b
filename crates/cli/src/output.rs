//! The two streams: results to standard output, errors to standard error.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use teetotal::exit;

use crate::fault::Fault;

/// Standard output, buffered.
pub(crate) struct Output {
    stdout: BufWriter<Stdout>,
}

impl Output {
    /// Writes a part of the result.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Fault> {
        self.stdout.write_all(text.as_bytes()).map_err(|error| fault_of(&error))
    }

    /// Flushes what was written so far.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        self.stdout.flush().map_err(|error| fault_of(&error))
    }
}

/// Converts an error; a reader that has closed the pipe is not an error.
fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::BrokenPipe => Fault::Closed,
        _ => Fault::new(format!("the output cannot be written: {error}")),
    }
}

/// Runs a command and returns its exit code; errors go to standard error.
pub(crate) fn run(command: impl FnOnce(&mut Output) -> Result<u8, Fault>) -> u8 {
    let mut out = Output { stdout: BufWriter::new(io::stdout()) };
    let result = command(&mut out).and_then(|code| out.flush().map(|()| code));
    match result {
        Ok(code) => code,
        Err(Fault::Closed) => {
            // The rest of the buffer has no reader.
            drop(out.stdout.into_parts());
            exit::HOLDS
        }
        Err(fault) => {
            // The results so far come before the error; if they cannot be written, the error still counts.
            let _ = out.flush();
            tell(&fault);
            fault.code()
        }
    }
}

/// Prints an error; a failure to print is ignored.
pub(crate) fn tell(fault: &Fault) {
    let _ = io::stderr().write_all(fault.to_string().as_bytes());
}

/// Prints a note that is neither an error nor part of the result.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().write_all(format!("note: {text}\n").as_bytes());
}
