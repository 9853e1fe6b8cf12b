//! Expressions on mathematical integers, written again to judge the interpreter by.

use teetotal_program::ir::{BinaryOp, Expr, FetchOp, UnaryOp};
use teetotal_program::{Type, Value};

/// What a register holds, read as a signed number of 64 bits.
pub(super) type Number = i128;

const RANGE: Number = 1 << 64;

/// `bits` as a signed number.
pub(super) fn number(bits: Value) -> Number {
    Number::from(bits as i64)
}

/// The bits of a number.
pub(super) fn value(number: Number) -> Value {
    unsigned(number) as Value
}

/// The same bits as an unsigned number.
pub(super) fn unsigned(number: Number) -> Number {
    number.rem_euclid(RANGE)
}

/// The number in the range of 64 signed bits that is equal modulo 2^64.
fn in_range(number: Number) -> Number {
    (number + RANGE / 2).rem_euclid(RANGE) - RANGE / 2
}

/// The number as `ty` holds it, extended to 64 bits.
pub(super) fn as_type(ty: Type, number: Number) -> Number {
    let range = 1 << ty.width.bits();
    let low = number.rem_euclid(range);
    in_range(if ty.signed && low >= range / 2 { low - range } else { low })
}

/// What `expr` is with these registers; nothing where it divides by zero.
pub(super) fn evaluate(expr: &Expr, registers: &[Number], old: Number) -> Option<Number> {
    let part = |expr: &Expr| evaluate(expr, registers, old);
    Some(match expr {
        Expr::Const(constant) => number(*constant),
        Expr::Reg(reg) => registers[reg.index()],
        Expr::Old => old,
        Expr::Unary(op, inner) => {
            let inner = part(inner)?;
            match op {
                UnaryOp::Not => Number::from(inner == 0),
                UnaryOp::Negate => in_range(-inner),
                UnaryOp::Complement => -inner - 1,
                UnaryOp::Cast(ty) => as_type(*ty, inner),
            }
        }
        Expr::Binary(op, left, right) => binary(*op, part(left)?, part(right)?)?,
        Expr::Select(condition, then, otherwise) => part(if part(condition)? != 0 { then } else { otherwise })?,
    })
}

fn binary(op: BinaryOp, left: Number, right: Number) -> Option<Number> {
    let shift = Number::pow(2, right.rem_euclid(64) as u32);
    let (low_left, low_right) = (unsigned(left), unsigned(right));
    Some(in_range(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left.checked_div(right)?,
        BinaryOp::Remainder => left.checked_rem(right)?,
        BinaryOp::DivideUnsigned => low_left.checked_div(low_right)?,
        BinaryOp::RemainderUnsigned => low_left.checked_rem(low_right)?,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::ShiftLeft => left * shift,
        BinaryOp::ShiftRight => low_left / shift,
        BinaryOp::ShiftRightSigned => left.div_euclid(shift),
        BinaryOp::Equal => Number::from(left == right),
        BinaryOp::NotEqual => Number::from(left != right),
        BinaryOp::Less => Number::from(left < right),
        BinaryOp::LessOrEqual => Number::from(left <= right),
        BinaryOp::Below => Number::from(low_left < low_right),
        BinaryOp::BelowOrEqual => Number::from(low_left <= low_right),
        BinaryOp::Both => Number::from(left != 0 && right != 0),
        BinaryOp::Either => Number::from(left != 0 || right != 0),
    }))
}

/// What fetch-and-op makes of `old`, before it is as narrow as its location.
pub(super) fn fetch(op: FetchOp, old: Number, operand: Number) -> Number {
    match op {
        FetchOp::Add => in_range(old + operand),
        FetchOp::Subtract => in_range(old - operand),
        FetchOp::And => old & operand,
        FetchOp::Or => old | operand,
        FetchOp::Xor => old ^ operand,
        FetchOp::Max => old.max(operand),
        FetchOp::Min => old.min(operand),
        FetchOp::MaxUnsigned => in_range(unsigned(old).max(unsigned(operand))),
        FetchOp::MinUnsigned => in_range(unsigned(old).min(unsigned(operand))),
    }
}
