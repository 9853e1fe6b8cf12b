//! Expressions over the registers of one thread. They touch no shared memory.

use crate::names::{Reg, Value};
use crate::width::Type;

/// An expression on 64-bit values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Const(Value),
    Reg(Reg),
    /// The value that a read-modify-write found, inside its update function only.
    Old,
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The second where the first is not zero, else the third.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// 1 for zero, 0 for anything else.
    Not,
    Negate,
    Complement,
    /// The value as a type holds it.
    Cast(Type),
}

/// Comparisons give 0 or 1. `Less` and its kin compare signed numbers, `Below` unsigned ones, as x86 names them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    /// Signed; by zero it is an error of the program.
    Divide,
    Remainder,
    /// Unsigned.
    DivideUnsigned,
    RemainderUnsigned,
    And,
    Or,
    Xor,
    /// Shifts use the low six bits of the right operand.
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Below,
    BelowOrEqual,
    /// 1 where both are not zero.
    Both,
    /// 1 where one is not zero.
    Either,
}

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalError {
    DivisionByZero,
}

impl Expr {
    /// The value with these registers; `old` stands for [`Expr::Old`].
    #[inline]
    pub fn eval(&self, registers: &[Value], old: Value) -> Result<Value, EvalError> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Reg(reg) => Ok(registers[reg.index()]),
            _ => self.eval_compound(registers, old),
        }
    }

    fn eval_compound(&self, registers: &[Value], old: Value) -> Result<Value, EvalError> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Reg(reg) => Ok(registers[reg.index()]),
            Expr::Old => Ok(old),
            Expr::Unary(op, inner) => Ok(op.apply(inner.eval(registers, old)?)),
            Expr::Binary(op, left, right) => op.apply(left.eval(registers, old)?, right.eval(registers, old)?),
            Expr::Select(condition, then, otherwise) => {
                let taken = if condition.eval(registers, old)? != 0 { then } else { otherwise };
                taken.eval(registers, old)
            }
        }
    }

    /// Whether it is a division or remainder, apart from those inside it.
    pub(super) fn divides(&self) -> bool {
        use BinaryOp::{Divide, DivideUnsigned, Remainder, RemainderUnsigned};
        matches!(self, Expr::Binary(Divide | DivideUnsigned | Remainder | RemainderUnsigned, ..))
    }

    /// Calls `visit` with this expression and every one inside it.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Const(_) | Expr::Reg(_) | Expr::Old => {}
            Expr::Unary(_, inner) => inner.walk(visit),
            Expr::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            Expr::Select(condition, then, otherwise) => {
                condition.walk(visit);
                then.walk(visit);
                otherwise.walk(visit);
            }
        }
    }
}

impl UnaryOp {
    fn apply(self, value: Value) -> Value {
        match self {
            UnaryOp::Not => Value::from(value == 0),
            UnaryOp::Negate => value.wrapping_neg(),
            UnaryOp::Complement => !value,
            UnaryOp::Cast(ty) => ty.wrap(value),
        }
    }
}

impl BinaryOp {
    pub(super) fn apply(self, left: Value, right: Value) -> Result<Value, EvalError> {
        let (signed_left, signed_right) = (left as i64, right as i64);
        let divides = matches!(
            self,
            BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::DivideUnsigned | BinaryOp::RemainderUnsigned
        );
        if divides && right == 0 {
            return Err(EvalError::DivisionByZero);
        }
        Ok(match self {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Subtract => left.wrapping_sub(right),
            BinaryOp::Multiply => left.wrapping_mul(right),
            BinaryOp::Divide => signed_left.wrapping_div(signed_right) as Value,
            BinaryOp::Remainder => signed_left.wrapping_rem(signed_right) as Value,
            BinaryOp::DivideUnsigned => left / right,
            BinaryOp::RemainderUnsigned => left % right,
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
            BinaryOp::ShiftLeft => left << (right & 63),
            BinaryOp::ShiftRight => left >> (right & 63),
            BinaryOp::ShiftRightSigned => (signed_left >> (right & 63)) as Value,
            BinaryOp::Equal => Value::from(left == right),
            BinaryOp::NotEqual => Value::from(left != right),
            BinaryOp::Less => Value::from(signed_left < signed_right),
            BinaryOp::LessOrEqual => Value::from(signed_left <= signed_right),
            BinaryOp::Below => Value::from(left < right),
            BinaryOp::BelowOrEqual => Value::from(left <= right),
            BinaryOp::Both => Value::from(left != 0 && right != 0),
            BinaryOp::Either => Value::from(left != 0 || right != 0),
        })
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Expr::Const(value)
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Expr::Const(i64::from(value) as Value)
    }
}

impl From<Reg> for Expr {
    fn from(reg: Reg) -> Self {
        Expr::Reg(reg)
    }
}

/// Methods and operators that build expressions, on registers as well.
macro_rules! combine {
    ($($method:ident => $op:ident),* $(,)?) => {
        impl Expr {
            $(
                #[doc = concat!("`BinaryOp::", stringify!($op), "` of both.")]
                #[must_use]
                pub fn $method(self, right: impl Into<Expr>) -> Expr {
                    Expr::Binary(BinaryOp::$op, Box::new(self), Box::new(right.into()))
                }
            )*
        }
        impl Reg {
            $(
                #[doc = concat!("`BinaryOp::", stringify!($op), "` of both.")]
                #[must_use]
                pub fn $method(self, right: impl Into<Expr>) -> Expr {
                    Expr::from(self).$method(right)
                }
            )*
        }
    };
}

combine! {
    plus => Add, minus => Subtract, times => Multiply, divided_by => Divide, modulo => Remainder,
    bit_and => And, bit_or => Or, bit_xor => Xor, shifted_left => ShiftLeft, shifted_right => ShiftRight,
    eq => Equal, ne => NotEqual, lt => Less, le => LessOrEqual, and => Both, or => Either,
}

impl Expr {
    /// 1 where this is zero, else 0.
    #[must_use]
    pub fn negated(self) -> Expr {
        Expr::Unary(UnaryOp::Not, Box::new(self))
    }

    /// `self > right`, signed.
    #[must_use]
    pub fn gt(self, right: impl Into<Expr>) -> Expr {
        right.into().lt(self)
    }

    /// `self >= right`, signed.
    #[must_use]
    pub fn ge(self, right: impl Into<Expr>) -> Expr {
        right.into().le(self)
    }
}

impl Reg {
    /// `self > right`, signed.
    #[must_use]
    pub fn gt(self, right: impl Into<Expr>) -> Expr {
        Expr::from(self).gt(right)
    }

    /// `self >= right`, signed.
    #[must_use]
    pub fn ge(self, right: impl Into<Expr>) -> Expr {
        Expr::from(self).ge(right)
    }

    /// 1 where this is zero, else 0.
    #[must_use]
    pub fn negated(self) -> Expr {
        Expr::from(self).negated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_wrap_and_never_panic() {
        let eval = |e: Expr| e.eval(&[5, u64::MAX], 9);
        assert_eq!(eval(Reg(0).plus(Reg(1))), Ok(4));
        assert_eq!(eval(Expr::from(i32::MIN).divided_by(-1)), Ok(1 << 31));
        assert_eq!(eval(Expr::from(i64::MIN as u64).divided_by(-1)), Ok(i64::MIN as u64));
        assert_eq!(eval(Reg(0).divided_by(0)), Err(EvalError::DivisionByZero));
        assert_eq!(eval(Reg(0).shifted_left(64)), Ok(5));
        assert_eq!(eval(Reg(1).lt(0)), Ok(1));
        assert_eq!(eval(Expr::Binary(BinaryOp::Below, Box::new(Reg(1).into()), Box::new(0.into()))), Ok(0));
        assert_eq!(eval(Expr::Old.plus(1)), Ok(10));
    }
}
