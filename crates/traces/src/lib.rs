//! Recorded executions of sequential consistency, read event by event and written.
//!
//! There are two formats; `docs/guide/traces.md` has their definition. [`Format::Own`] says everything that a monitor
//! looks at, values and orderings included. [`Format::Std`] is the `thread|operation(location)|place` of tools that
//! predict data races. A [`Reader`] takes either, from any stream, and holds one line of it at a time.

mod own;
mod reader;
mod registry;
mod state;
mod std_format;
mod words;
mod writer;

pub use reader::{Item, Reader, TraceError};
pub use writer::{Naming, Waiting, write};

/// How a trace is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Begins with a line `teetotal trace 1`.
    Own,
    /// `thread|operation(location)|place`, as RAPID and others have it.
    Std,
}

impl Format {
    /// What the format is called on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Own => "teetotal",
            Format::Std => "std",
        }
    }
}

/// The first line of a trace in our own format, and of each further execution in the same file.
const HEADER: &str = "teetotal trace 1";
