//! Values of the intermediate representation, with the numbers that they may be.
//!
//! Promela computes on `int`, which has 32 bits; where a value cannot leave them, nothing is done to keep it there.

use teetotal_program::Type;
use teetotal_program::ir::{BinaryOp, Expr, UnaryOp};

use crate::promela::syntax::{Binary, Kind, Unary};

/// A value and the range it is in.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) expr: Expr,
    low: i64,
    high: i64,
    /// Whether it may divide by zero.
    divides: bool,
}

impl Value {
    pub(super) fn constant(value: i64) -> Value {
        Value { expr: Expr::Const(value as u64), low: value, high: value, divides: false }
    }

    /// A value that a variable of this type holds.
    pub(super) fn held(expr: impl Into<Expr>, kind: Kind) -> Value {
        let (low, high) = kind.range();
        Value { expr: expr.into(), low, high, divides: false }
    }

    /// Its number, if there is only one.
    pub(super) fn known(&self) -> Option<i64> {
        matches!(self.expr, Expr::Const(_)).then_some(self.low)
    }

    /// Whether it is in `0..length`, as far as that needs to be asked.
    pub(super) fn is_below(&self, length: u32) -> Option<Expr> {
        let certain = self.low >= 0 && self.high < i64::from(length);
        let asked = || Expr::Binary(BinaryOp::Below, Box::new(self.expr.clone()), Box::new(u64::from(length).into()));
        (!certain).then(asked)
    }

    /// As a variable of this type holds it.
    pub(super) fn wrapped(self, kind: Kind) -> Expr {
        let (low, high) = kind.range();
        if self.low >= low && self.high <= high {
            return self.expr;
        }
        if let Some(value) = self.known() {
            return Expr::Const(kind.wrap(value) as u64);
        }
        match (kind.bits, kind.signed) {
            (32, true) => cast(self.expr, Type::I32),
            (16, true) => cast(self.expr, Type::I16),
            (8, false) => cast(self.expr, Type::U8),
            (bits, _) => self.expr.bit_and((1_u64 << bits) - 1),
        }
    }

    /// As it is stored in a shared variable of this type, whose location does the rest.
    pub(super) fn stored(self, kind: Kind) -> Expr {
        match (kind.bits, kind.signed, self.known()) {
            (8, false, None) | (16 | 32, true, None) => self.expr,
            _ => self.wrapped(kind),
        }
    }

    pub(super) fn unary(op: Unary, inner: Value) -> Value {
        if let Some(value) = inner.known() {
            return Value::constant(op.apply(value));
        }
        let Value { expr, low, high, divides } = inner;
        let (op, low, high) = match op {
            Unary::Not => (UnaryOp::Not, 0, 1),
            Unary::Negate => (UnaryOp::Negate, -high, -low),
            Unary::Complement => (UnaryOp::Complement, !high, !low),
        };
        Value { expr: Expr::Unary(op, Box::new(expr)), low, high, divides }.into_int()
    }

    pub(super) fn binary(op: Binary, left: Value, right: Value) -> Value {
        if let (Some(a), Some(b)) = (left.known(), right.known())
            && let Some(value) = op.apply(a, b)
        {
            return Value::constant(value);
        }
        match op {
            Binary::And | Binary::Or => return Value::connected(op, left, right),
            Binary::Greater => return Value::binary(Binary::Less, right, left),
            Binary::GreaterOrEqual => return Value::binary(Binary::LessOrEqual, right, left),
            _ => {}
        }
        let divides = left.divides || right.divides || matches!(op, Binary::Divide | Binary::Remainder);
        let (low, high) = range(op, &left, &right);
        let expr = Expr::Binary(operator(op), Box::new(left.expr), Box::new(right.expr));
        Value { expr, low, high, divides }.into_int()
    }

    /// `&&` and `||`, which look at the second only if the first does not decide.
    fn connected(op: Binary, left: Value, right: Value) -> Value {
        let is_and = op == Binary::And;
        match left.known() {
            Some(value) if (value != 0) != is_and => return Value::constant(i64::from(!is_and)),
            Some(_) => return Value::unary(Unary::Not, Value::unary(Unary::Not, right)),
            None => {}
        }
        let divides = left.divides || right.divides;
        let expr = match (right.divides, is_and) {
            (false, true) => left.expr.and(right.expr),
            (false, false) => left.expr.or(right.expr),
            (true, _) => {
                let second = right.expr.negated().negated();
                let (then, otherwise) = if is_and { (second, 0.into()) } else { (1.into(), second) };
                Expr::Select(Box::new(left.expr), Box::new(then), Box::new(otherwise))
            }
        };
        Value { expr, low: 0, high: 1, divides }
    }

    pub(super) fn conditional(condition: Value, then: Value, otherwise: Value) -> Value {
        match condition.known() {
            Some(0) => return otherwise,
            Some(_) => return then,
            None => {}
        }
        Value {
            low: then.low.min(otherwise.low),
            high: then.high.max(otherwise.high),
            divides: condition.divides || then.divides || otherwise.divides,
            expr: Expr::Select(Box::new(condition.expr), Box::new(then.expr), Box::new(otherwise.expr)),
        }
    }

    /// Kept within the bits of an `int`.
    fn into_int(self) -> Value {
        let (low, high) = Kind::INT.range();
        if self.low >= low && self.high <= high {
            return self;
        }
        Value { expr: cast(self.expr, Type::I32), low, high, ..self }
    }
}

fn cast(expr: Expr, ty: Type) -> Expr {
    Expr::Unary(UnaryOp::Cast(ty), Box::new(expr))
}

fn operator(op: Binary) -> BinaryOp {
    match op {
        Binary::Or => BinaryOp::Either,
        Binary::And => BinaryOp::Both,
        Binary::BitOr => BinaryOp::Or,
        Binary::BitXor => BinaryOp::Xor,
        Binary::BitAnd => BinaryOp::And,
        Binary::Equal => BinaryOp::Equal,
        Binary::NotEqual => BinaryOp::NotEqual,
        Binary::Less | Binary::Greater => BinaryOp::Less,
        Binary::LessOrEqual | Binary::GreaterOrEqual => BinaryOp::LessOrEqual,
        Binary::ShiftLeft => BinaryOp::ShiftLeft,
        Binary::ShiftRight => BinaryOp::ShiftRightSigned,
        Binary::Add => BinaryOp::Add,
        Binary::Subtract => BinaryOp::Subtract,
        Binary::Multiply => BinaryOp::Multiply,
        Binary::Divide => BinaryOp::Divide,
        Binary::Remainder => BinaryOp::Remainder,
    }
}

/// Where the result of an operator is, before it is kept within an `int`.
fn range(op: Binary, a: &Value, b: &Value) -> (i64, i64) {
    let anything = (i64::MIN, i64::MAX);
    let largest = |value: &Value| value.low.abs().max(value.high.abs());
    match op {
        Binary::Add => (a.low + b.low, a.high + b.high),
        Binary::Subtract => (a.low - b.high, a.high - b.low),
        Binary::Multiply => {
            let products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
            products.iter().fold((products[0], products[0]), |(low, high), &p| (low.min(p), high.max(p)))
        }
        Binary::Divide if a.low >= 0 && b.low >= 0 => (0, a.high),
        Binary::Divide => (-largest(a), largest(a)),
        Binary::Remainder => {
            let most = (largest(b) - 1).clamp(0, largest(a));
            (if a.low >= 0 { 0 } else { -most }, most)
        }
        Binary::BitAnd if a.low >= 0 && b.low >= 0 => (0, a.high.min(b.high)),
        Binary::BitAnd if b.low >= 0 => (0, b.high),
        Binary::BitAnd if a.low >= 0 => (0, a.high),
        Binary::BitOr | Binary::BitXor if a.low >= 0 && b.low >= 0 => {
            (0, ((a.high.max(b.high) as u64 + 1).next_power_of_two() - 1) as i64)
        }
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => Kind::INT.range(),
        Binary::ShiftRight => (a.low.min(0), a.high.max(0)),
        Binary::ShiftLeft => anything,
        _ => (0, 1),
    }
}
