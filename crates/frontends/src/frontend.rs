//! The table of front ends.

use std::path::Path;

use teetotal_program::ir::Program;

use crate::diagnostics::Diagnostic;
use crate::{litmus, promela};

/// What is said of a front end.
#[derive(Clone, Copy, Debug)]
pub struct Frontend {
    pub name: &'static str,
    /// Files with this ending are read by it.
    pub ending: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The program of a text; the first argument is what the text is called.
    pub read: fn(&str, &str, &Settings) -> Result<Reading, Vec<Diagnostic>>,
}

/// How to read a text. A front end that has no use for a setting does as if it were not there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Whether each access to a shared variable is a step of its own, where a statement has several.
    pub split: bool,
    /// Labels that no process may reach, as `LABEL` or `PROCESS@LABEL`.
    pub labels: Vec<String>,
}

impl Settings {
    /// The options of the command line that say the same.
    pub(crate) fn options(&self) -> Vec<String> {
        let labels = self.labels.iter().flat_map(|label| ["--label".to_owned(), label.clone()]);
        self.split.then(|| "--split".to_owned()).into_iter().chain(labels).collect()
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Reading {
    pub program: Program,
    /// What its author should know, each with its place; nothing is wrong.
    pub notices: Vec<Diagnostic>,
}

impl From<Program> for Reading {
    fn from(program: Program) -> Self {
        Reading { program, notices: Vec::new() }
    }
}

/// All front ends; the first reads files whose ending says nothing.
pub const FRONTENDS: &[Frontend] = &[
    Frontend {
        name: "litmus",
        ending: "litmus",
        summary: "litmus tests in the format of herd7: X86, X86_64, C and the kernel's C",
        read: |name, text, _| litmus::read(name, text).map(Reading::from),
    },
    Frontend {
        name: "promela",
        ending: "pml",
        summary: "models of SPIN whose processes share variables",
        read: promela::read,
    },
];

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
