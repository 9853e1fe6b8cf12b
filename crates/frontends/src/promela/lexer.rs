//! The words and signs of a Promela model, each with its place.

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};

/// A word, a number, a text or a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
    /// Which line it is on, where lines that end in a backslash continue; for directives.
    pub(super) line: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A letter or `_`, then letters, digits and `_`.
    Word,
    /// A digit, then letters and digits; whether it is a number is not known yet.
    Number,
    /// In quotes, which are part of it.
    Text,
    Sign,
    /// The end of the model.
    End,
}

impl Token<'_> {
    /// Whether it is this word or sign.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Sign) && self.text == text
    }
}

/// Signs of more than one character, the longer ones first where one begins another.
const SIGNS: &[&str] =
    &["->", "::", "..", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "##", "!!", "??"];

/// Where the lexer is.
struct Cursor<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
    logical: u32,
}

impl<'t> Cursor<'t> {
    fn span(&self, length: usize) -> Span {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Span { source: 0, line: self.line, column: self.column, length }
    }

    /// Goes on by so many bytes, which end between characters; gives them.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                (self.line, self.column) = (self.line.saturating_add(1), 1);
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        self.take(self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len()))
    }

    /// Skips space and comments.
    fn skip_blank(&mut self, diagnostics: &mut Diagnostics) {
        loop {
            let line_goes_on = ["\\\n", "\\\r\n"].iter().find(|end| self.rest.starts_with(**end));
            if let Some(end) = line_goes_on {
                self.take(end.len());
            } else if self.rest.starts_with('\n') {
                self.take(1);
                self.logical = self.logical.saturating_add(1);
            } else if self.rest.starts_with(char::is_whitespace) {
                self.take_while(|c| c != '\n' && c.is_whitespace());
            } else if self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let start = self.span(2);
                match self.rest[2..].find("*/") {
                    Some(end) => {
                        self.take(end + 4);
                    }
                    None => {
                        self.take(self.rest.len());
                        let help = "close it with `*/`";
                        diagnostics.add(Diagnostic::new(start, "this comment does not end").help(help));
                    }
                }
            } else {
                return;
            }
        }
    }

    /// A text in quotes.
    fn text(&mut self, diagnostics: &mut Diagnostics) -> &'t str {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, c)| {
            let closes = c == '\n' || (c == '"' && !escaped);
            escaped = c == '\\' && !escaped;
            closes
        });
        match end {
            Some((at, '"')) => self.take(at + 1),
            _ => {
                let help = "close it with `\"`";
                diagnostics.add(Diagnostic::new(self.span(1), "this text does not end on its line").help(help));
                self.take(end.map_or(self.rest.len(), |(at, _)| at))
            }
        }
    }
}

/// The tokens of `text`, and its end.
pub(super) fn tokens<'t>(text: &'t str, diagnostics: &mut Diagnostics) -> Vec<Token<'t>> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut cursor = Cursor { rest, line: 1, column: 1, logical: 1 };
    let mut tokens = Vec::new();
    loop {
        cursor.skip_blank(diagnostics);
        let Some(first) = cursor.rest.chars().next() else { break };
        let (start, line) = (cursor.span(0), cursor.logical);
        let (kind, text) = if first.is_ascii_digit() {
            (Kind::Number, cursor.take_while(|c| c.is_ascii_alphanumeric()))
        } else if is_word(first) {
            (Kind::Word, cursor.take_while(|c| is_word(c) || c.is_ascii_digit()))
        } else if first == '"' {
            (Kind::Text, cursor.text(diagnostics))
        } else {
            let sign = SIGNS.iter().find(|sign| cursor.rest.starts_with(**sign));
            (Kind::Sign, cursor.take(sign.map_or(first.len_utf8(), |sign| sign.len())))
        };
        let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        tokens.push(Token { kind, text, span: Span { length, ..start }, line });
    }
    tokens.push(Token { kind: Kind::End, text: "", span: cursor.span(0), line: cursor.logical.saturating_add(1) });
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
