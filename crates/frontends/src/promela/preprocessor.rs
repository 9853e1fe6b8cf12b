//! Directives: macros and the parts of a text that they leave out.
//!
//! What a macro is replaced by gets the place of the name that stood for it.

use std::collections::BTreeMap;

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::lexer::{Kind, Token};
use crate::suggest::nearest;

/// At most this many tokens come of the text with its macros, and as many of its inlines.
pub(super) const MOST_TOKENS: usize = 200_000;

/// At most this many macros stand inside each other.
const DEEPEST: usize = 64;

/// `tokens` with every directive carried out.
pub(super) fn preprocess<'t>(tokens: &[Token<'t>], diagnostics: &mut Diagnostics) -> Vec<Token<'t>> {
    let mut pre =
        Preprocessor { macros: BTreeMap::new(), conditions: Vec::new(), out: Vec::new(), n_seen: 0, diagnostics };
    let mut at = 0;
    while at < tokens.len() {
        let end = at + tokens[at..].iter().take_while(|token| token.line == tokens[at].line).count();
        if tokens[at].is("#") {
            pre.directive(&tokens[at..end]);
            at = end;
            continue;
        }
        // A call of a macro may go over several lines, so all up to the next directive belong together.
        let opens_line = |index: usize| index == 0 || tokens[index].line != tokens[index - 1].line;
        let next = (at + 1..tokens.len()).find(|&index| tokens[index].is("#") && opens_line(index));
        let end = next.unwrap_or(tokens.len());
        if pre.is_read() {
            pre.expand(&tokens[at..end], &mut Vec::new(), None);
        } else {
            pre.out.extend(tokens[at..end].iter().filter(|token| token.kind == Kind::End));
        }
        at = end;
    }
    if let Some(Condition { span, .. }) = pre.conditions.first() {
        let help = "close it with `#endif`";
        pre.diagnostics.add(Diagnostic::new(*span, "this condition does not end").help(help));
    }
    pre.out
}

struct Macro<'t> {
    /// With parentheses it has parameters, perhaps none.
    parameters: Option<Vec<&'t str>>,
    body: Vec<Token<'t>>,
}

/// A condition around the text that is being read.
struct Condition {
    span: Span,
    holds: bool,
}

struct Preprocessor<'t, 'd> {
    macros: BTreeMap<&'t str, Macro<'t>>,
    conditions: Vec<Condition>,
    out: Vec<Token<'t>>,
    /// How many tokens were looked at, in the text and in macros.
    n_seen: usize,
    diagnostics: &'d mut Diagnostics,
}

impl<'t> Preprocessor<'t, '_> {
    /// Whether the text here counts.
    fn is_read(&self) -> bool {
        self.conditions.iter().all(|condition| condition.holds)
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.diagnostics.add(Diagnostic::new(span, message).help(help));
    }

    fn directive(&mut self, line: &[Token<'t>]) {
        let Some(word) = line.get(1) else { return };
        let rest = &line[2..];
        match word.text {
            "ifdef" | "ifndef" | "if" => {
                let holds = self.is_read() && self.condition(word, rest);
                self.conditions.push(Condition { span: word.span, holds });
            }
            "else" | "endif" => match self.conditions.pop() {
                None => self.refuse(word.span, format!("`#{}` without `#if`", word.text), "leave it out"),
                Some(_) if word.text == "endif" => {}
                Some(condition) => self.conditions.push(Condition { holds: !condition.holds, ..condition }),
            },
            _ if !self.is_read() => {}
            "define" => self.define(word, rest),
            "undef" => {
                rest.first().map(|name| self.macros.remove(name.text));
            }
            "include" => {
                let help = "put the text of that file here";
                self.refuse(word.span, "`#include` is not supported: a model is one file", help);
            }
            other => {
                let known = ["define", "undef", "ifdef", "ifndef", "if", "else", "endif"];
                let message = format!("the directive `#{}` is not supported", short(other));
                self.diagnostics.add(Diagnostic::new(word.span, message).meant(nearest(other, known)));
            }
        }
    }

    /// Whether the text after an `#if`, `#ifdef` or `#ifndef` counts.
    fn condition(&mut self, word: &Token<'t>, rest: &[Token<'t>]) -> bool {
        let is_defined = |name: &Token<'t>| name.kind == Kind::Word && self.macros.contains_key(name.text);
        let (negated, rest) = match rest {
            [not, rest @ ..] if word.text == "if" && not.is("!") => (true, rest),
            _ => (word.text == "ifndef", rest),
        };
        let holds = match (word.text, rest) {
            ("ifdef" | "ifndef", [name]) => is_defined(name),
            ("if", [defined, open, name, close]) if defined.is("defined") && open.is("(") && close.is(")") => {
                is_defined(name)
            }
            ("if", [defined, name]) if defined.is("defined") => is_defined(name),
            ("if", [number]) if number.kind == Kind::Number => number.text != "0",
            ("if", [name]) if name.kind == Kind::Word => {
                let body = self.macros.get(name.text).map(|found| &found.body[..]);
                matches!(body, Some([number]) if number.kind == Kind::Number && number.text != "0")
            }
            _ => {
                let help = "write `#ifdef NAME`, `#ifndef NAME`, `#if NAME`, `#if 0` or `#if 1`";
                self.refuse(word.span, "this condition is not supported", help);
                false
            }
        };
        holds != negated
    }

    fn define(&mut self, word: &Token<'t>, rest: &[Token<'t>]) {
        let Some((name, rest)) = rest.split_first().filter(|(name, _)| name.kind == Kind::Word) else {
            return self.refuse(word.span, "this macro has no name", "write `#define NAME text`");
        };
        // Only a parenthesis right after the name opens parameters.
        let touches = |open: &Token<'t>| {
            open.is("(")
                && open.span.line == name.span.line
                && open.span.column == name.span.column.saturating_add(name.span.length)
        };
        let (parameters, body) = match rest.first().filter(|open| touches(open)) {
            None => (None, rest),
            Some(_) => {
                let Some(close) = rest.iter().position(|token| token.is(")")) else {
                    return self.refuse(name.span, "the parameters of this macro do not end", "close them with `)`");
                };
                let words = rest[1..close].iter().filter(|token| token.kind == Kind::Word);
                (Some(words.map(|token| token.text).collect()), &rest[close + 1..])
            }
        };
        if let Some(paste) = body.iter().find(|token| token.is("##") || token.is("#")) {
            self.refuse(paste.span, "macros that join or quote their arguments are not supported", "write it out");
        }
        self.macros.insert(name.text, Macro { parameters, body: body.to_vec() });
    }

    /// Appends `tokens` with macros replaced, except those in `hidden`; `place` is where the outermost one stood.
    fn expand(&mut self, tokens: &[Token<'t>], hidden: &mut Vec<&'t str>, place: Option<Span>) {
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            let span = place.unwrap_or(token.span);
            self.n_seen += 1;
            if self.n_seen >= MOST_TOKENS {
                if self.n_seen == MOST_TOKENS {
                    self.refuse(span, "this model is too large, or its macros grow too large", "split it up");
                }
                self.out.extend((token.kind == Kind::End).then_some(token));
                continue;
            }
            let found = self.macros.get(token.text).filter(|_| token.kind == Kind::Word);
            let Some(found) = found.filter(|_| !hidden.contains(&token.text) && hidden.len() < DEEPEST) else {
                self.out.push(Token { span, ..token });
                continue;
            };
            let mut body = found.body.clone();
            if let Some(parameters) = found.parameters.clone() {
                let Some((arguments, length)) = arguments(&tokens[at..]) else {
                    self.out.push(Token { span, ..token });
                    continue;
                };
                if arguments.len() != parameters.len() && !(parameters.is_empty() && arguments == [&[][..]]) {
                    let (wanted, given) = (parameters.len(), arguments.len());
                    let message = format!("the macro `{}` has {wanted} parameters, not {given}", short(token.text));
                    self.diagnostics.add(Diagnostic::new(span, message));
                }
                at += length;
                body = substitute(&body, &parameters, &arguments);
            }
            hidden.push(token.text);
            self.expand(&body, hidden, Some(span));
            hidden.pop();
        }
    }
}

/// The arguments in the parentheses that `tokens` begin with, and how many tokens they take.
pub(super) fn arguments<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(Vec<&'a [Token<'t>]>, usize)> {
    tokens.first().filter(|open| open.is("("))?;
    let mut depth = 0_usize;
    let mut start = 1;
    let mut arguments = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            _ if token.kind != Kind::Sign => {}
            "(" | "[" | "{" => depth += 1,
            "," if depth == 1 => {
                arguments.push(&tokens[start..at]);
                start = at + 1;
            }
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    arguments.push(&tokens[start..at]);
                    return Some((arguments, at + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// `body` with the arguments in place of the parameters, as far as there is room.
pub(super) fn substitute<'t>(body: &[Token<'t>], parameters: &[&str], arguments: &[&[Token<'t>]]) -> Vec<Token<'t>> {
    let mut out = Vec::new();
    for token in body {
        let parameter = parameters.iter().position(|name| token.kind == Kind::Word && *name == token.text);
        match parameter.and_then(|index| arguments.get(index)) {
            Some(argument) => out.extend_from_slice(argument),
            None => out.push(*token),
        }
        if out.len() > MOST_TOKENS {
            break;
        }
    }
    out
}

/// A word of the text, cut if it is very long.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
