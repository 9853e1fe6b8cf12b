//! The words and signs of a litmus test, each with its place.

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};

/// A word, a number or a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
    /// Where it begins in the text, in bytes.
    pub(super) start: usize,
    /// Whether nothing but space is before it on its line.
    pub(super) opens_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A letter, `_` or `.`, then letters, digits, `_` and `.`.
    ///
    /// In the code of C the dot is no part of it.
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

/// Those of the code of C.
const CODE_SIGNS: &[&str] = &[
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "->",
];

/// Where the lexer is, counted in bytes, and the place of that for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
    /// In bytes from the beginning of the text.
    at: usize,
    line: u32,
    column: u32,
    opens_line: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { rest: text, at: 0, line: 1, column: 1, opens_line: true }
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
        self.at += bytes;
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

    /// Skips a comment of C whose beginning is next.
    fn skip_c_comment(&mut self, diagnostics: &mut Diagnostics) {
        match self.rest.find("*/") {
            Some(end) => self.skip(end + 2),
            None => {
                let open = Diagnostic::new(self.span(2), "this comment does not end");
                diagnostics.add(open.help("close it with `*/`"));
                self.skip(self.rest.len());
            }
        }
    }

    /// Skips space, comments, remarks from `#` to the end of the line, and trailing ones in `<<` and `>>`.
    pub(super) fn skip_blank(&mut self, dialect: Dialect, diagnostics: &mut Diagnostics) {
        loop {
            self.take_until(|c| !c.is_whitespace());
            if self.rest.starts_with("(*") {
                self.skip_comment(diagnostics);
            } else if self.rest.starts_with('#') {
                self.take_until(|c| c == '\n');
            } else if self.rest.starts_with("<<") {
                let end = self.rest.find(">>").map_or(self.rest.len(), |at| at + 2);
                self.skip(end);
            } else if dialect == Dialect::Assembly || !self.skips_comment_of_c(diagnostics) {
                return;
            }
        }
    }

    /// Skips space and comments inside the code of C, where `(*` may also be the beginning of an expression.
    fn skip_blank_in_code(&mut self, diagnostics: &mut Diagnostics) {
        loop {
            self.take_until(|c| !c.is_whitespace());
            if self.is_comment_in_code() {
                self.skip_comment(diagnostics);
            } else if !self.skips_comment_of_c(diagnostics) {
                return;
            }
        }
    }

    fn skips_comment_of_c(&mut self, diagnostics: &mut Diagnostics) -> bool {
        if self.rest.starts_with("/*") {
            self.skip_c_comment(diagnostics);
        } else if self.rest.starts_with("//") {
            self.take_until(|c| c == '\n');
        } else {
            return false;
        }
        true
    }

    /// Whether a comment of the format stands here: it opens a line, has space inside, and its end ends a line.
    fn is_comment_in_code(&self) -> bool {
        let Some(inside) = self.rest.strip_prefix("(*").filter(|_| self.opens_line) else { return false };
        let after = inside.find("*)").map(|end| &inside[end + 2..]);
        let ends_line = after.is_some_and(|after| after.lines().next().unwrap_or("").trim().is_empty());
        ends_line && inside.starts_with(|c: char| c.is_whitespace() || c == '*')
    }
}

/// How the code of a test is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Assembly,
    C,
}

/// Which part of a test of C the lexer is in: inside of braces after the initial state is code.
#[derive(Clone, Copy, Debug)]
struct Part {
    dialect: Dialect,
    /// How many braces are open.
    depth: usize,
    after_init: bool,
}

impl Part {
    fn is_code(self) -> bool {
        self.dialect == Dialect::C && self.after_init && self.depth > 0
    }

    fn pass(&mut self, token: &str) {
        match token {
            "{" => self.depth += 1,
            "}" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.after_init |= self.depth == 0;
    }
}

/// The tokens from `cursor`, which is inside the initial state, to the end of the text, and the end itself.
pub(super) fn tokens<'t>(mut cursor: Cursor<'t>, dialect: Dialect, diagnostics: &mut Diagnostics) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut part = Part { dialect, depth: 1, after_init: false };
    loop {
        let in_code = part.is_code();
        if in_code {
            cursor.skip_blank_in_code(diagnostics);
        } else {
            cursor.skip_blank(dialect, diagnostics);
        }
        let Some(first) = cursor.rest.chars().next() else { break };
        let (start, opens_line) = (cursor, cursor.opens_line);
        let dot = if in_code { '\0' } else { '.' };
        let (kind, text) = if first.is_ascii_digit() {
            (Kind::Number, cursor.take_until(|c| !(c.is_ascii_alphanumeric() || in_code && c == '.')))
        } else if is_word(first) || first == dot {
            (Kind::Word, cursor.take_until(|c| !is_word(c) && c != dot && !c.is_ascii_digit()))
        } else {
            let length = sign_length(cursor.rest, in_code).unwrap_or(first.len_utf8());
            let text = &cursor.rest[..length];
            cursor.skip(length);
            (Kind::Sign, text)
        };
        part.pass(text);
        tokens.push(Token { kind, text, span: start.span(text.chars().count()), start: start.at, opens_line });
    }
    tokens.push(Token { kind: Kind::End, text: "", span: cursor.span(0), start: cursor.at, opens_line: true });
    tokens
}

/// How many bytes the sign or the quoted text at the front of `rest` has, if it is more than one character.
fn sign_length(rest: &str, in_code: bool) -> Option<usize> {
    let signs = if in_code { CODE_SIGNS } else { SIGNS };
    if in_code && rest.starts_with('"') {
        // One that does not end in its line goes no further than the line.
        let end = rest[1..].find(['"', '\n'])?;
        return Some(end + 1 + usize::from(rest[1 + end..].starts_with('"')));
    }
    signs.iter().find(|sign| rest.starts_with(**sign)).map(|sign| sign.len())
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
