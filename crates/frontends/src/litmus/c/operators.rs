//! Operators on numbers and pointers, and assignments.

use teetotal_program::ir::{BinaryOp, Expr, UnaryOp};
use teetotal_program::{Order, Span, Type, Width};

use crate::litmus::c::lower::Lowering;
use crate::litmus::c::place::Lvalue;
use crate::litmus::c::syntax::{Comparison, Expression, Form, Operator};
use crate::litmus::c::values::{Value, cast, folded};
use crate::litmus::types::CType;

/// The type in which C computes with a number of type `ty`.
pub(super) fn promoted(ty: Type) -> Type {
    if ty.width < Width::W32 { Type::I32 } else { ty }
}

/// The type in which C computes with numbers of these two types.
pub(super) fn common(left: Type, right: Type) -> Type {
    let (left, right) = (promoted(left), promoted(right));
    if left.width == right.width {
        Type { width: left.width, signed: left.signed && right.signed }
    } else if left.width > right.width {
        left
    } else {
        right
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

impl Lowering<'_, '_> {
    pub(super) fn binary(&mut self, operator: Operator, left: Value, right: Value, span: Span) -> Option<Value> {
        let pointers = (left.ty.is_pointer(), right.ty.is_pointer());
        match operator {
            Operator::Compare(comparison) => {
                if pointers == (true, true) && !left.ty.agrees_with(right.ty) {
                    return self.refuse(span, "these pointers lead to locations of different width");
                }
                Some(compared(comparison, left, right))
            }
            Operator::Arithmetic(op) if pointers == (false, false) => {
                let ty = common(left.ty.base, right.ty.base);
                let expr = arithmetic(op, cast(left.expr, left.ty.base, ty), cast(right.expr, right.ty.base, ty), ty);
                Some(Value { expr, ty: CType::integer(ty) })
            }
            Operator::Shift { left: to_the_left } if pointers == (false, false) => {
                let ty = promoted(left.ty.base);
                let op = match (to_the_left, ty.signed) {
                    (true, _) => BinaryOp::ShiftLeft,
                    (false, true) => BinaryOp::ShiftRightSigned,
                    (false, false) => BinaryOp::ShiftRight,
                };
                Some(Value { expr: wrapped(binary(op, left.expr, right.expr), ty), ty: CType::integer(ty) })
            }
            Operator::Arithmetic(BinaryOp::Add) if pointers == (true, false) => Some(moved(BinaryOp::Add, left, right)),
            Operator::Arithmetic(BinaryOp::Add) if pointers == (false, true) => Some(moved(BinaryOp::Add, right, left)),
            Operator::Arithmetic(BinaryOp::Subtract) if pointers == (true, false) => {
                Some(moved(BinaryOp::Subtract, left, right))
            }
            Operator::Arithmetic(BinaryOp::Subtract) if left.ty.agrees_with(right.ty) => {
                let size = size_behind(left.ty);
                let expr = folded(left.expr.minus(right.expr).divided_by(size));
                Some(Value { expr, ty: CType::integer(Type::I64) })
            }
            _ => self.refuse(span, "this operator takes numbers, not pointers"),
        }
    }

    /// An assignment, whose value is what was assigned.
    pub(super) fn assignment(&mut self, expression: &Expression) -> Option<Value> {
        let Form::Assign(operator, to, value) = &expression.it else { return None };
        let span = expression.span;
        match (self.place(to)?, operator) {
            (Lvalue::Local(register, ty), None) => {
                self.assign(register, ty, value)?;
                Some(Value { expr: register.into(), ty })
            }
            (Lvalue::Local(register, ty), Some(operator)) => {
                let old = Value { expr: register.into(), ty };
                let right = self.value(value)?;
                let result = self.binary(*operator, old, right, span)?;
                let expr = self.converted(result, ty, span)?;
                self.t.at(Some(span));
                self.t.set(register, expr);
                Some(Value { expr: register.into(), ty })
            }
            (Lvalue::Memory(place), None) => {
                let value = self.value(value)?;
                self.store(&place, value, Order::Plain, span)
            }
            (Lvalue::Memory(place), Some(operator)) => {
                let old = self.load(&place, Order::Plain, None, to.span);
                let right = self.value(value)?;
                let result = self.binary(*operator, old, right, span)?;
                self.store(&place, result, Order::Plain, span)
            }
        }
    }

    /// `++` and `--`; on a shared location, a load and then a store.
    pub(super) fn step(&mut self, place: &Expression, up: bool, gives_old: bool, span: Span) -> Option<Value> {
        let operator = Operator::Arithmetic(if up { BinaryOp::Add } else { BinaryOp::Subtract });
        let one = Value { expr: 1.into(), ty: CType::INT };
        match self.place(place)? {
            Lvalue::Local(register, ty) => {
                let mut old = Value { expr: register.into(), ty };
                if gives_old {
                    let kept = self.temporary();
                    self.t.set(kept, register);
                    old.expr = kept.into();
                }
                let result = self.binary(operator, old.clone(), one, span)?;
                let expr = self.converted(result, ty, span)?;
                self.t.set(register, expr);
                Some(if gives_old { old } else { Value { expr: register.into(), ty } })
            }
            Lvalue::Memory(place) => {
                let old = self.load(&place, Order::Plain, None, span);
                let result = self.binary(operator, old.clone(), one, span)?;
                let new = self.store(&place, result, Order::Plain, span)?;
                Some(if gives_old { old } else { new })
            }
        }
    }
}

/// Both are of type `ty`, and so is the result.
pub(super) fn arithmetic(op: BinaryOp, left: Expr, right: Expr, ty: Type) -> Expr {
    let op = match (op, ty.signed) {
        (BinaryOp::Divide, false) => BinaryOp::DivideUnsigned,
        (BinaryOp::Remainder, false) => BinaryOp::RemainderUnsigned,
        _ => op,
    };
    let result = binary(op, left, right);
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Remainder => folded(result),
        BinaryOp::DivideUnsigned | BinaryOp::RemainderUnsigned => folded(result),
        _ => wrapped(result, ty),
    }
}

fn wrapped(expr: Expr, ty: Type) -> Expr {
    let expr = if ty.width == Width::W64 { expr } else { Expr::Unary(UnaryOp::Cast(ty), Box::new(expr)) };
    folded(expr)
}

fn compared(comparison: Comparison, left: Value, right: Value) -> Value {
    let is_address = left.ty.is_pointer() || right.ty.is_pointer();
    let ty = if is_address { Type::U64 } else { common(left.ty.base, right.ty.base) };
    let (left, right) = (cast(left.expr, left.ty.value(), ty), cast(right.expr, right.ty.value(), ty));
    let (less, less_or_equal) =
        if ty.signed { (BinaryOp::Less, BinaryOp::LessOrEqual) } else { (BinaryOp::Below, BinaryOp::BelowOrEqual) };
    Value::of_truth(match comparison {
        Comparison::Equal => left.eq(right),
        Comparison::NotEqual => left.ne(right),
        Comparison::Less => binary(less, left, right),
        Comparison::LessOrEqual => binary(less_or_equal, left, right),
        Comparison::Greater => binary(less, right, left),
        Comparison::GreaterOrEqual => binary(less_or_equal, right, left),
    })
}

/// How many bytes are behind a pointer.
fn size_behind(pointer: CType) -> u64 {
    pointer.pointee().map_or(1, |pointee| pointee.value().width.bytes())
}

/// A pointer that is moved by so many elements.
pub(super) fn moved(op: BinaryOp, pointer: Value, count: Value) -> Value {
    let offset = count.expr.times(size_behind(pointer.ty));
    Value { expr: folded(binary(op, pointer.expr, folded(offset))), ty: pointer.ty }
}
