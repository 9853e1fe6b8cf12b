//! The table of front ends.

use std::path::Path;

use teetotal_program::ir::Program;

use crate::diagnostics::Diagnostic;
use crate::litmus;

/// What is said of a front end.
#[derive(Clone, Copy, Debug)]
pub struct Frontend {
    pub name: &'static str,
    /// Files with this ending are read by it.
    pub ending: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The program of a text; the first argument is what the text is called.
    pub read: fn(&str, &str) -> Result<Program, Vec<Diagnostic>>,
}

/// All front ends; the first reads files whose ending says nothing.
pub const FRONTENDS: &[Frontend] = &[Frontend {
    name: "litmus",
    ending: "litmus",
    summary: "litmus tests in the format of herd7: X86, X86_64, C and the kernel's C",
    read: litmus::read,
}];

impl Frontend {
    /// The one that claims the ending of `path`.
    #[must_use]
    pub fn claiming(path: &Path) -> Option<&'static Frontend> {
        let ending = path.extension()?;
        FRONTENDS.iter().find(|frontend| ending == frontend.ending)
    }

    /// The one that reads `path`.
    #[must_use]
    pub fn of(path: &Path) -> &'static Frontend {
        Frontend::claiming(path).unwrap_or(&FRONTENDS[0])
    }
}
