//! Places in a source text.

/// A text that a program came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name to print, usually a path as the user gave it.
    pub name: String,
    /// The text, where it is at hand; snippets need it.
    pub text: Option<String>,
}

/// A place in one of the sources of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// Index into the sources of the program.
    pub source: u16,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// In characters; 0 where only the beginning is known.
    pub length: u32,
}
