//! Errors before or beside a search: what happened, and what to do.

use std::error::Error;
use std::fmt;

use teetotal::exit;

/// An error to report on standard error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// An invalid request.
    Mistake { what: String, help: Vec<String> },
    /// An error in a file; the text is complete.
    Refused(String),
    /// There is nothing to check.
    NothingToCheck(String),
    /// An invalid command line; the text is complete.
    Usage(String),
    /// The reader of the output has closed it, which is not an error.
    Closed,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Fault::Mistake { what: what.into(), help: Vec::new() }
    }

    /// Adds a help line.
    pub(crate) fn help(mut self, line: impl Into<String>) -> Self {
        if let Fault::Mistake { help, .. } = &mut self {
            help.push(line.into());
        }
        self
    }

    /// Returns the exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Fault::NothingToCheck(_) => exit::NOTHING_TO_CHECK,
            Fault::Closed => exit::HOLDS,
            Fault::Mistake { .. } | Fault::Refused(_) | Fault::Usage(_) => exit::ERROR,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Mistake { what, help } => {
                writeln!(f, "error: {what}")?;
                help.iter().try_for_each(|line| writeln!(f, "help: {line}"))
            }
            Fault::NothingToCheck(what) => writeln!(f, "error: {what}"),
            Fault::Refused(text) | Fault::Usage(text) => f.write_str(text),
            Fault::Closed => Ok(()),
        }
    }
}

impl Error for Fault {}
