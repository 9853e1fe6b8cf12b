//! What goes wrong before or beside a search: what, and what to do about it.

use std::error::Error;
use std::fmt;

use teetotal::exit;

/// A mistake to report on the standard error stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Something in the request is wrong.
    Mistake { what: String, help: Vec<String> },
    /// Something in a file is wrong; the text is complete.
    Refused(String),
    /// There is nothing to check.
    NothingToCheck(String),
    /// The command line as a whole cannot be understood; the text is complete.
    Usage(String),
    /// Nobody reads the output any more, which is not wrong.
    Closed,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Fault::Mistake { what: what.into(), help: Vec::new() }
    }

    /// Adds what to do.
    pub(crate) fn help(mut self, line: impl Into<String>) -> Self {
        if let Fault::Mistake { help, .. } = &mut self {
            help.push(line.into());
        }
        self
    }

    /// The exit code for it.
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
