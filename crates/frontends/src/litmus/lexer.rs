//! The words and signs of a litmus test, each with its place.

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};

/// A word, a number or a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
    /// Whether nothing but space is before it on its line.
    pub(super) opens_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A letter, `_` or `.`, then letters, digits, `_` and `.`.
    Word,
    /// A digit, then letters and digits; whether it is a number is not known yet.
    Number,
    Sign,
    /// The end of the text.
    End,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::End && self.text == text
    }
}

/// Signs of more than one character, the longer ones first where one begins another.
const SIGNS: &[&str] = &["/\\", "\\/", "<>", "!=", "<=", ">=", "==", "&&", "||"];

/// Where the lexer is, counted in bytes, and the place of that for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
    line: u32,
    column: u32,
    opens_line: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { rest: text, line: 1, column: 1, opens_line: true }
    }

    /// The place of the next `length` characters.
    pub(super) fn span(&self, length: usize) -> Span {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Span { source: 0, line: self.line, column: self.column, length }
    }

    /// Goes on by so many bytes, which end between characters.
    pub(super) fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        for c in skipped.chars() {
            if c == '\n' {
                (self.line, self.column, self.opens_line) = (self.line.saturating_add(1), 1, true);
            } else {
                self.column = self.column.saturating_add(1);
                self.opens_line &= c.is_whitespace();
            }
        }
        self.rest = rest;
    }

    /// Goes on to where `stop` holds of a character, or to the end; gives what is between.
    pub(super) fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let taken = &self.rest[..end];
        self.skip(end);
        taken
    }

    /// Skips a comment whose beginning is next, with those inside it.
    fn skip_comment(&mut self, diagnostics: &mut Diagnostics) {
        let start = self.span(2);
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("(*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*)") {
                depth -= 1;
                self.skip(2);
            } else if let Some(c) = self.rest.chars().next() {
                self.skip(c.len_utf8());
            } else {
                let help = "close it with `*)`";
                return diagnostics.add(Diagnostic::new(start, "this comment does not end").help(help));
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips space, comments, remarks from `#` to the end of the line, and trailing ones in `<<` and `>>`.
    pub(super) fn skip_blank(&mut self, diagnostics: &mut Diagnostics) {
        loop {
            self.take_until(|c| !c.is_whitespace());
            if self.rest.starts_with("(*") {
                self.skip_comment(diagnostics);
            } else if self.rest.starts_with('#') {
                self.take_until(|c| c == '\n');
            } else if self.rest.starts_with("<<") {
                let end = self.rest.find(">>").map_or(self.rest.len(), |at| at + 2);
                self.skip(end);
            } else {
                return;
            }
        }
    }
}

/// The tokens from `cursor` to the end of the text, and the end itself.
pub(super) fn tokens<'t>(mut cursor: Cursor<'t>, diagnostics: &mut Diagnostics) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    loop {
        cursor.skip_blank(diagnostics);
        let Some(first) = cursor.rest.chars().next() else { break };
        let (start, opens_line) = (cursor, cursor.opens_line);
        let (kind, text) = if first.is_ascii_digit() {
            (Kind::Number, cursor.take_until(|c| !c.is_ascii_alphanumeric()))
        } else if is_word(first) {
            (Kind::Word, cursor.take_until(|c| !is_word(c) && !c.is_ascii_digit()))
        } else {
            let sign = SIGNS.iter().find(|sign| cursor.rest.starts_with(**sign));
            let text = &cursor.rest[..sign.map_or(first.len_utf8(), |sign| sign.len())];
            cursor.skip(text.len());
            (Kind::Sign, text)
        };
        tokens.push(Token { kind, text, span: start.span(text.chars().count()), opens_line });
    }
    tokens.push(Token { kind: Kind::End, text: "", span: cursor.span(0), opens_line: true });
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '.'
}
