//! Random values, orders and updates.

use crate::rng::Rng;
use crate::shape::Shape;
use teetotal_program::Type;
use teetotal_program::ir::{BinaryOp, Expr, FetchOp, UnaryOp, Update};
use teetotal_program::{OnFailure, Order};
use teetotal_program::{Reg, Value};

/// The types of locations that do not have 64 signed bits.
const NARROW: [Type; 7] = [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32, Type::U64];

/// Values near the ends of the widths.
const EXTREMES: [i64; 12] = [-1, -2, 127, 128, 255, 256, 257, 0x8000, 0x1_0000, 0x8000_0000, 0x1_0000_0001, i64::MIN];

pub(super) fn ty(shape: &Shape, rng: &mut Rng) -> Type {
    if rng.percent(shape.narrow) { rng.pick(&NARROW) } else { Type::I64 }
}

/// A small value, most often not 0, so that what is read tells who wrote it; equal ones happen.
pub(super) fn constant(shape: &Shape, rng: &mut Rng) -> Value {
    if rng.percent(shape.extremes) {
        rng.pick(&EXTREMES) as Value
    } else {
        rng.weighted(&[(10, 1), (7, 2), (3, 3), (1, 0)])
    }
}

/// A value to write, perhaps one that depends on what was read into `last`.
pub(super) fn value(shape: &Shape, rng: &mut Rng, last: Option<Reg>) -> Expr {
    let value = constant(shape, rng);
    match last {
        Some(last) if rng.percent(shape.data_dependencies) => match rng.below(6) {
            0 => Expr::from(last),
            1 => last.plus(value),
            2 => last.bit_xor(value),
            // It depends on what was read in name only.
            3 => last.minus(last).plus(value),
            4 => computed(shape, rng, last, value),
            _ => Expr::Select(Box::new(last.into()), Box::new(value.into()), Box::new(Expr::from(4))),
        },
        _ => Expr::from(value),
    }
}

/// What some operator makes of both.
fn computed(shape: &Shape, rng: &mut Rng, last: Reg, value: Value) -> Expr {
    use BinaryOp::{And, Below, BelowOrEqual, Both, Divide, DivideUnsigned, Either, Less, LessOrEqual, Multiply, Or};
    use BinaryOp::{Remainder, RemainderUnsigned, ShiftLeft, ShiftRight, ShiftRightSigned, Subtract};
    let divisions = [Divide, DivideUnsigned, Remainder, RemainderUnsigned];
    let total = [And, Below, BelowOrEqual, Both, Either, Less, LessOrEqual, Multiply, Or, Subtract];
    let shifts = [ShiftLeft, ShiftRight, ShiftRightSigned];
    let op = match rng.below(4) {
        // The divisor may be 0, which ends the thread.
        0 if shape.mistakes > 0 => rng.pick(&divisions),
        0 | 1 => rng.pick(&shifts),
        _ => rng.pick(&total),
    };
    let operand = match rng.below(4) {
        0 => Expr::Unary(UnaryOp::Negate, Box::new(last.into())),
        1 => Expr::Unary(UnaryOp::Complement, Box::new(last.into())),
        2 => Expr::Unary(UnaryOp::Cast(rng.pick(&NARROW)), Box::new(last.plus(rng.pick(&EXTREMES) as Value))),
        _ => Expr::from(last),
    };
    let (left, right) = if rng.percent(50) { (operand, Expr::from(value)) } else { (Expr::from(value), operand) };
    let right = if divisions.contains(&op) || rng.percent(50) { right } else { right.bit_and(7) };
    Expr::Binary(op, Box::new(left), Box::new(right))
}

/// Something that may or may not hold of `reg`.
pub(super) fn test(rng: &mut Rng, reg: Reg) -> Expr {
    match rng.below(6) {
        0 | 1 => reg.eq(1),
        2 => reg.ne(1),
        3 => reg.eq(0),
        4 => reg.lt(2),
        _ => Expr::from(reg),
    }
}

pub(super) fn store_order(shape: &Shape, rng: &mut Rng) -> Order {
    if rng.percent(shape.orders) {
        rng.weighted(&[(15, Order::Relaxed), (40, Order::Release), (45, Order::SeqCst)])
    } else {
        Order::Plain
    }
}

pub(super) fn load_order(shape: &Shape, rng: &mut Rng) -> Order {
    if rng.percent(shape.orders / 2) {
        rng.pick(&[Order::Relaxed, Order::Acquire, Order::SeqCst])
    } else {
        Order::Plain
    }
}

pub(super) fn update_order(rng: &mut Rng) -> Order {
    rng.weighted(&[
        (5, Order::Plain),
        (25, Order::Relaxed),
        (20, Order::Acquire),
        (15, Order::Release),
        (10, Order::AcqRel),
        (25, Order::SeqCst),
    ])
}

pub(super) fn on_failure(rng: &mut Rng) -> OnFailure {
    rng.weighted(&[
        (30, OnFailure::Locked),
        (40, OnFailure::Load(Order::Relaxed)),
        (20, OnFailure::Load(Order::Acquire)),
        (10, OnFailure::Load(Order::SeqCst)),
    ])
}

/// An update that writes, if it is not a compare-exchange that finds something unexpected.
pub(super) fn update(shape: &Shape, rng: &mut Rng, last: Option<Reg>) -> Update {
    let operand = value(shape, rng, last);
    match rng.below(10) {
        0..=2 => Update::Exchange(operand),
        3..=5 => Update::Fetch(FetchOp::Add, operand),
        6 => {
            let others = [
                FetchOp::Subtract,
                FetchOp::And,
                FetchOp::Or,
                FetchOp::Xor,
                FetchOp::Max,
                FetchOp::Min,
                FetchOp::MaxUnsigned,
                FetchOp::MinUnsigned,
            ];
            Update::Fetch(rng.pick(&others), operand)
        }
        7 => match rng.below(4) {
            0 => Update::Function(Expr::Old.times(2).plus(1)),
            1 => Update::Function(Expr::Old.bit_xor(operand)),
            2 => Update::Function(Expr::Select(Box::new(Expr::Old.eq(0)), operand.into(), Box::new(Expr::Old))),
            _ => {
                let condition = Expr::Old.ne(rng.below(2) as u64);
                Update::When { condition, new: Expr::Old.plus(operand), on_failure: on_failure(rng) }
            }
        },
        _ => {
            // The last is 0 as a narrower location holds it.
            let expected = Expr::from(rng.weighted(&[(54, 0), (28, 1), (8, 2), (10, 0x1_0000_0000_u64)]));
            Update::CompareExchange { expected, new: operand, on_failure: on_failure(rng) }
        }
    }
}

/// A compare-exchange that finds something else than it expects, unless a program is very unlucky.
pub(super) fn failing_update(rng: &mut Rng) -> Update {
    Update::CompareExchange { expected: Expr::from(7), new: Expr::from(8), on_failure: on_failure(rng) }
}
