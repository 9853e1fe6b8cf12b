//! Reads expressions.

use teetotal_program::Span;

use crate::diagnostics::Diagnostic;
use crate::promela::lexer::Kind as TokenKind;
use crate::promela::parser::Parser;
use crate::promela::preprocessor::short;
use crate::promela::scope::Known;
use crate::promela::syntax::{Binary, Expr, Name, Place, Term, Unary};
use crate::promela::words;
use crate::suggest::nearest;

/// At most this many expressions are inside each other, so that walking over them needs little memory.
const DEEPEST: u32 = 120;

/// The binary operators from the loosest to the tightest.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[("<", Binary::Less), ("<=", Binary::LessOrEqual), (">", Binary::Greater), (">=", Binary::GreaterOrEqual)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

impl Parser<'_, '_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Option<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    /// Reads something that may hold something of its kind, unless that goes too deep.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        const DEEPEST: usize = 100;
        if self.depth >= DEEPEST {
            let span = self.peek().span;
            return self.refuse(span, "this is nested too deeply", "split it up");
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn binary(&mut self, level: usize) -> Option<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let first = self.peek();
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, op)) = operators.iter().find(|(sign, _)| self.peek().is(sign)) {
            self.next();
            let right = self.binary(level + 1)?;
            let span = self.since(first);
            left = self.node(Term::Binary(op, Box::new(left), Box::new(right)), span)?;
        }
        Some(left)
    }

    /// An expression of others, unless that goes too deep.
    fn node(&mut self, it: Term, span: Span) -> Option<Expr> {
        let depth = 1 + match &it {
            Term::Number(_) | Term::Pid => 0,
            Term::Read(place) => place.index.as_ref().map_or(0, |index| index.depth),
            Term::Unary(_, inner) => inner.depth,
            Term::Binary(_, left, right) => left.depth.max(right.depth),
            Term::Conditional(a, b, c) => a.depth.max(b.depth).max(c.depth),
        };
        if depth > DEEPEST {
            return self.refuse(span, "this expression is too long", "compute it in parts");
        }
        Some(Expr { it, span, depth })
    }

    fn unary(&mut self) -> Option<Expr> {
        let first = self.peek();
        let op = match first.text {
            _ if first.kind != TokenKind::Sign => None,
            "!" => Some(Unary::Not),
            "-" => Some(Unary::Negate),
            "~" => Some(Unary::Complement),
            _ => None,
        };
        let Some(op) = op else { return self.primary() };
        self.next();
        let inner = self.deeper(Self::unary)?;
        let span = self.since(first);
        self.node(Term::Unary(op, Box::new(inner)), span)
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.peek();
        if self.eat("(") {
            return self.parenthesis();
        }
        match (token.kind, token.text) {
            (TokenKind::Number, _) => {
                let number = self.number()?;
                Some(Expr::number(number, token.span))
            }
            (TokenKind::Word, "true" | "skip") => {
                self.next();
                Some(Expr::number(1, token.span))
            }
            (TokenKind::Word, "false") => {
                self.next();
                Some(Expr::number(0, token.span))
            }
            (TokenKind::Word, "_pid") => {
                self.next();
                Some(Expr { it: Term::Pid, span: token.span, depth: 1 })
            }
            (TokenKind::Word, "run") => {
                let help = "write `run` as a statement of its own; its number is not known";
                self.refuse(token.span, "`run` inside an expression is not supported", help)
            }
            (TokenKind::Word, "cas" | "xchg")
                if self.scope.find(token.text).is_none() && self.peek_second().is("(") =>
            {
                let help = format!("write `r = {}(...)` with a variable `r` of the process", token.text);
                self.refuse(token.span, format!("`{}` inside an expression is not supported", token.text), &help)
            }
            (TokenKind::Word, name) => match self.scope.find(name) {
                Some(Known::Constant(value)) => {
                    self.next();
                    Some(Expr::number(value, token.span))
                }
                _ => {
                    let place = self.place()?;
                    let span = place.span;
                    self.node(Term::Read(place), span)
                }
            },
            _ => self.expected("an expression"),
        }
    }

    /// What follows `(`: an expression, or a condition and what it decides between.
    fn parenthesis(&mut self) -> Option<Expr> {
        let first = self.tokens[self.at - 1];
        let inner = self.expression()?;
        if !self.eat("->") {
            self.require(")")?;
            return Some(Expr { span: self.since(first), ..inner });
        }
        let then = self.expression()?;
        self.require(":")?;
        let otherwise = self.expression()?;
        self.require(")")?;
        let span = self.since(first);
        self.node(Term::Conditional(Box::new(inner), Box::new(then), Box::new(otherwise)), span)
    }

    fn number(&mut self) -> Option<i64> {
        let token = self.next();
        match token.text.parse::<u32>() {
            Ok(number) if i64::from(number) <= i64::from(i32::MAX) => Some(number.into()),
            _ if token.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.refuse(token.span, "this number does not fit into an `int`", "numbers have 32 bits with a sign")
            }
            _ => {
                let message = format!("`{}` is not a number", short(token.text));
                self.refuse(token.span, message, "Promela has decimal numbers only")
            }
        }
    }

    /// A variable, or an element of an array.
    pub(super) fn place(&mut self) -> Option<Place> {
        let first = self.peek();
        let name = self.name("a variable")?;
        let known = match self.scope.find(name.it) {
            Some(Known::Global(number)) => Name::Global(number),
            Some(Known::Local(number)) => Name::Local(number),
            Some(Known::Constant(_)) => {
                return self.refuse(name.span, format!("`{}` is a constant", short(name.it)), "name a variable");
            }
            None => return self.unknown(name.it, name.span),
        };
        let index = if self.eat("[") {
            let index = self.expression()?;
            self.require("]")?;
            Some(Box::new(index))
        } else {
            None
        };
        let span = self.since(first);
        self.refuse_parts(name.it)?;
        match (self.scope.variable(known).length, &index) {
            (Some(length), None) => {
                let message = format!("`{}` is an array of {length}", short(name.it));
                self.refuse(span, message, &format!("name an element: `{}[0]`", short(name.it)))
            }
            (None, Some(_)) => {
                self.refuse(span, format!("`{}` is not an array", short(name.it)), "leave the index out")
            }
            _ => Some(Place { name: known, index, span }),
        }
    }

    fn unknown<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let next = self.peek();
        if next.is("@") || (next.is("[") && self.tokens[self.at..].iter().take(8).any(|token| token.is("@"))) {
            let help = "processes cannot observe each other; use a shared variable";
            return self.refuse(span, "the location of another process (`@`) is not supported", help);
        }
        if self.refused.contains(name) {
            return None;
        }
        let unknown = Diagnostic::new(span, format!("there is no variable `{}`", short(name)));
        let words = ["break", "skip", "goto", "atomic", "d_step", "assert", "printf", "fence", "sync"];
        let names = self.scope.names().chain(self.inlines.keys().copied()).chain(words);
        let unknown = match nearest(name, names) {
            Some(meant) => unknown.meant(Some(meant)),
            None if words::is_type(name) => unknown,
            None => unknown.help("declare it above its first use"),
        };
        self.diagnostics.add(unknown);
        None
    }

    /// Refuses what may follow a variable but is not supported.
    fn refuse_parts(&mut self, name: &str) -> Option<()> {
        let token = self.peek();
        let (what, help) = match token.text {
            _ if token.kind != TokenKind::Sign => return Some(()),
            "." => ("fields of a `typedef`", "use one variable or array for each field"),
            "!!" | "?" | "??" => ("channels", words::refused("chan").unwrap_or_default()),
            "@" => ("the location of another process", "use a shared variable"),
            _ => return Some(()),
        };
        self.refuse(token.span, format!("{what} are not supported, here after `{}`", short(name)), help)
    }
}
