//! Reads expressions.

use teetotal_program::ir::BinaryOp;
use teetotal_program::{Span, Type};

use crate::diagnostics::Diagnostic;
use crate::litmus::c::statement::DEEPEST;
use crate::litmus::c::syntax::{Comparison, Expression, Form, Operator, Prefix};
use crate::litmus::lexer::{Kind, Token};
use crate::litmus::parser::Parser;

/// Binary operators with how tightly they bind.
const BINARY: &[(&str, u8, Operator)] = &[
    ("||", 1, Operator::Or),
    ("&&", 2, Operator::And),
    ("|", 3, Operator::Arithmetic(BinaryOp::Or)),
    ("^", 4, Operator::Arithmetic(BinaryOp::Xor)),
    ("&", 5, Operator::Arithmetic(BinaryOp::And)),
    ("==", 6, Operator::Compare(Comparison::Equal)),
    ("!=", 6, Operator::Compare(Comparison::NotEqual)),
    ("<", 7, Operator::Compare(Comparison::Less)),
    ("<=", 7, Operator::Compare(Comparison::LessOrEqual)),
    (">", 7, Operator::Compare(Comparison::Greater)),
    (">=", 7, Operator::Compare(Comparison::GreaterOrEqual)),
    ("<<", 8, Operator::Shift { left: true }),
    (">>", 8, Operator::Shift { left: false }),
    ("+", 9, Operator::Arithmetic(BinaryOp::Add)),
    ("-", 9, Operator::Arithmetic(BinaryOp::Subtract)),
    ("*", 10, Operator::Arithmetic(BinaryOp::Multiply)),
    ("/", 10, Operator::Arithmetic(BinaryOp::Divide)),
    ("%", 10, Operator::Arithmetic(BinaryOp::Remainder)),
];

/// Assignments with an operator.
const ASSIGNMENTS: &[(&str, Operator)] = &[
    ("+=", Operator::Arithmetic(BinaryOp::Add)),
    ("-=", Operator::Arithmetic(BinaryOp::Subtract)),
    ("*=", Operator::Arithmetic(BinaryOp::Multiply)),
    ("/=", Operator::Arithmetic(BinaryOp::Divide)),
    ("%=", Operator::Arithmetic(BinaryOp::Remainder)),
    ("&=", Operator::Arithmetic(BinaryOp::And)),
    ("|=", Operator::Arithmetic(BinaryOp::Or)),
    ("^=", Operator::Arithmetic(BinaryOp::Xor)),
    ("<<=", Operator::Shift { left: true }),
    (">>=", Operator::Shift { left: false }),
];

const PREFIXES: &[(&str, Prefix)] =
    &[("+", Prefix::Plus), ("-", Prefix::Minus), ("~", Prefix::Complement), ("!", Prefix::Not)];

impl<'t> Parser<'t, '_> {
    /// Any expression, commas between parts of it included.
    pub(super) fn expression(&mut self, depth: usize) -> Option<Expression> {
        let start = self.peek();
        let mut left = self.assignment(depth)?;
        while self.eat(",") {
            let right = self.assignment(depth)?;
            left = self.made(start, Form::Sequence(Box::new(left), Box::new(right)))?;
        }
        Some(left)
    }

    /// An expression without a comma of its own.
    pub(super) fn assignment(&mut self, depth: usize) -> Option<Expression> {
        if depth > DEEPEST {
            return self.too_deep();
        }
        let start = self.peek();
        let left = self.conditional(depth)?;
        let operator = ASSIGNMENTS.iter().find(|(sign, _)| self.peek().is(sign)).map(|(_, operator)| *operator);
        if operator.is_none() && !self.peek().is("=") {
            return Some(left);
        }
        self.next();
        let right = self.assignment(depth + 1)?;
        self.made(start, Form::Assign(operator, Box::new(left), Box::new(right)))
    }

    fn conditional(&mut self, depth: usize) -> Option<Expression> {
        let start = self.peek();
        let condition = self.binary(depth, 0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let then = self.expression(depth + 1)?;
        self.require(":")?;
        let otherwise = self.conditional(depth + 1)?;
        self.made(start, Form::Conditional(Box::new([condition, then, otherwise])))
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, depth: usize, least: u8) -> Option<Expression> {
        let start = self.peek();
        let mut left = self.prefixed(depth)?;
        loop {
            let token = self.peek();
            let found = BINARY.iter().find(|(sign, _, _)| token.is(sign));
            let Some((_, tightness, operator)) = found.filter(|(_, tightness, _)| *tightness >= least) else {
                return Some(left);
            };
            self.next();
            let right = self.binary(depth, tightness + 1)?;
            left = self.made(start, Form::Binary(*operator, Box::new(left), Box::new(right)))?;
        }
    }

    fn prefixed(&mut self, depth: usize) -> Option<Expression> {
        let start = self.peek();
        if depth > DEEPEST {
            return self.too_deep();
        }
        if let Some((_, prefix)) = PREFIXES.iter().find(|(sign, _)| start.is(sign)) {
            self.next();
            let inner = Box::new(self.prefixed(depth + 1)?);
            return self.made(start, Form::Prefix(*prefix, inner));
        }
        let form = match start.text {
            "*" => {
                self.next();
                Form::Target(Box::new(self.prefixed(depth + 1)?))
            }
            "&" => {
                self.next();
                Form::AddressOf(Box::new(self.prefixed(depth + 1)?))
            }
            "++" | "--" => {
                self.next();
                let place = Box::new(self.prefixed(depth + 1)?);
                Form::Step { place, up: start.is("++"), gives_old: false }
            }
            "(" if self.begins_type(self.peek_second()) => return self.cast(depth),
            _ => return self.suffixed(depth),
        };
        self.made(start, form)
    }

    fn cast(&mut self, depth: usize) -> Option<Expression> {
        let start = self.next();
        let to_nothing = self.peek().is("void") && self.peek_second().is(")");
        if to_nothing {
            self.next();
            self.next();
            let inner = Box::new(self.prefixed(depth + 1)?);
            return self.made(start, Form::Nothing(inner));
        }
        let base = self.base_type()?;
        let ty = self.stars(base);
        self.require(")")?;
        let inner = Box::new(self.prefixed(depth + 1)?);
        self.made(start, Form::Cast(ty, inner))
    }

    fn suffixed(&mut self, depth: usize) -> Option<Expression> {
        let start = self.peek();
        let mut left = self.primary(depth)?;
        loop {
            let token = self.peek();
            let form = match token.text {
                "[" => {
                    self.next();
                    let index = Box::new(self.expression(depth + 1)?);
                    self.require("]")?;
                    Form::Element(Box::new(left), index)
                }
                "++" | "--" => {
                    self.next();
                    Form::Step { place: Box::new(left), up: token.is("++"), gives_old: true }
                }
                "." | "->" => {
                    let member = Diagnostic::new(token.span, "structures are not supported");
                    self.diagnostics.add(member.help("declare each member as a location of its own"));
                    return None;
                }
                _ => return Some(left),
            };
            left = self.made(start, form)?;
        }
    }

    fn primary(&mut self, depth: usize) -> Option<Expression> {
        let token = self.peek();
        if self.eat("(") {
            let inner = self.expression(depth + 1)?;
            self.require(")")?;
            return Some(Expression { span: self.span_since(token), ..inner });
        }
        let form = match token.kind {
            Kind::Number => {
                self.next();
                match constant(token.text) {
                    Ok((value, ty)) => Form::Number(value, ty),
                    Err(reason) => {
                        let text: String = token.text.chars().take(40).collect();
                        self.diagnostics.add(Diagnostic::new(token.span, format!("`{text}` {reason}")));
                        return None;
                    }
                }
            }
            Kind::Word => {
                let name = self.word("an expression")?.it;
                match name {
                    "NULL" | "false" => Form::Number(0, Type::I32),
                    "true" => Form::Number(1, Type::I32),
                    "sizeof" => {
                        self.diagnostics.add(Diagnostic::new(token.span, "`sizeof` is not supported"));
                        return None;
                    }
                    _ if self.eat("(") => Form::Call(name.to_owned(), self.arguments(depth)?),
                    _ => Form::Name(name.to_owned()),
                }
            }
            Kind::Sign if token.text.starts_with('"') => {
                self.diagnostics.add(Diagnostic::new(Span { length: 1, ..token.span }, "strings are not supported"));
                return None;
            }
            _ => return self.expected("an expression"),
        };
        self.made(token, form)
    }

    fn arguments(&mut self, depth: usize) -> Option<Vec<Expression>> {
        let mut arguments = Vec::new();
        while !self.eat(")") {
            arguments.push(self.assignment(depth + 1)?);
            if !self.eat(",") && !self.peek().is(")") {
                return self.expected("`,` or `)`");
            }
        }
        Some(arguments)
    }

    /// An expression that began at `start` and has just ended; one that is too deep is refused.
    fn made(&mut self, start: Token<'t>, it: Form) -> Option<Expression> {
        let mut made = Expression { it, span: self.span_since(start), depth: 0 };
        made.depth = made.parts().iter().map(|part| part.depth + 1).max().unwrap_or(0);
        if made.depth > DEEPEST { self.too_deep() } else { Some(made) }
    }
}

/// What a number in the code says, and its type.
fn constant(text: &str) -> Result<(u64, Type), &'static str> {
    let lower = text.to_ascii_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    if lower.contains('.') || (!is_hexadecimal && lower.contains('e')) {
        return Err("is no integer; only integers are supported");
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let (digits, radix) = match digits {
        _ if is_hexadecimal => (&digits[2..], 16),
        _ if digits.starts_with("0b") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    if digits.is_empty() || suffix.len() > 3 || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("is not a number");
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "does not fit into 64 bits")?;
    let candidates = [Type::I32, Type::U32, Type::I64, Type::U64].into_iter();
    let mut fitting = candidates.filter(|ty| {
        // A decimal number is unsigned only if it says so or fits into nothing else.
        let allowed = if suffix.contains('u') { !ty.signed } else { ty.signed || radix != 10 || *ty == Type::U64 };
        let positive = !ty.signed || ty.wrap(value) as i64 >= 0;
        allowed && (!suffix.contains('l') || *ty == ty_of_64(*ty)) && ty.wrap(value) == value && positive
    });
    fitting.next().map(|ty| (value, ty)).ok_or("does not fit into 64 bits")
}

fn ty_of_64(ty: Type) -> Type {
    if ty.signed { Type::I64 } else { Type::U64 }
}
