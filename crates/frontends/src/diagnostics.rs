//! What is wrong with a text, and where.

use std::error::Error;
use std::fmt;

use teetotal_program::Span;

/// One thing that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong: lowercase, no final period.
    pub message: String,
    /// Where; its source is 0.
    pub span: Span,
    /// What to write below the place in a snippet.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), span, label: None, help: None }
    }

    /// With a note below the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With a name that may have been meant, if there is one.
    #[must_use]
    pub(crate) fn meant(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.span.line, self.span.column, self.message)
    }
}

impl Error for Diagnostic {}

/// At most this many are kept of one text: the rest follow from them, or are not read.
pub const MOST_DIAGNOSTICS: usize = 100;

/// Those found so far.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        if self.0.len() < MOST_DIAGNOSTICS {
            self.0.push(diagnostic);
        }
    }

    /// How many there are.
    pub(crate) fn n_found(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no more are kept, so that looking for them is useless.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST_DIAGNOSTICS
    }

    /// All of them, in the order of the text, each once.
    pub(crate) fn sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|d| (d.span.line, d.span.column));
        self.0.dedup();
        self.0
    }
}
