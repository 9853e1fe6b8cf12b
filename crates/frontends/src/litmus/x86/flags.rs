//! The flags of the processor, as registers from which every question can be answered.

use teetotal_program::Reg;
use teetotal_program::Width;
use teetotal_program::ir::{BinaryOp, Expr, FetchOp, ThreadBuilder};

use crate::litmus::x86::lower::Lowering;
use crate::litmus::x86::opcode::{Change, Flag, Shift, Test, combined};
use crate::litmus::x86::values::Typed;

/// What the last instruction that sets flags left behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    /// The result, extended by its sign: says zero and negative.
    result: Reg,
    /// 1 where the result without overflow is negative: the flags of sign and overflow differ.
    less: Option<Reg>,
    /// The carry flag.
    carry: Option<Reg>,
}

impl Flags {
    /// Those that `tests` ask for, if there are any. Before anything sets them, all are clear.
    pub(super) fn asked_by(tests: impl Iterator<Item = Test>, t: &mut ThreadBuilder<'_>) -> Option<Self> {
        let asked: Vec<Flag> = tests.map(|test| test.flag).collect();
        let asks = |flags: &[Flag]| asked.iter().any(|flag| flags.contains(flag));
        if asked.is_empty() {
            return None;
        }
        let result = t.temporary();
        t.initial(result, 1);
        let less = asks(&[Flag::Less, Flag::LessOrEqual, Flag::Overflow]).then(|| t.temporary());
        let carry = asks(&[Flag::Below, Flag::BelowOrEqual]).then(|| t.temporary());
        Some(Flags { result, less, carry })
    }
}

fn binary(op: BinaryOp, left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
    Expr::Binary(op, Box::new(left.into()), Box::new(right.into()))
}

/// The operands are extended by their sign; that keeps the order of unsigned numbers too.
impl Lowering<'_, '_> {
    /// 1 where `test` holds of the flags.
    pub(super) fn asked(&mut self, test: Test) -> Expr {
        let Flags { result, less, carry } = self.flags.expect("made where some instruction asks them");
        let less = || less.expect("made where some instruction asks it");
        let carry = || carry.expect("made where some instruction asks it");
        let yes = match test.flag {
            Flag::Zero => result.eq(0),
            Flag::Negative => result.lt(0),
            Flag::Overflow => result.lt(0).ne(less()),
            Flag::Less => less().into(),
            Flag::LessOrEqual => less().or(result.eq(0)),
            Flag::Below => carry().into(),
            Flag::BelowOrEqual => carry().or(result.eq(0)),
        };
        match (test.flag, test.denied) {
            (Flag::Zero, true) => result.ne(0),
            (_, true) => yes.negated(),
            (_, false) => yes,
        }
    }

    /// After `left op right`.
    pub(super) fn set_flags(&mut self, op: FetchOp, left: &Expr, right: &Expr, width: Width) {
        let Some(Flags { result, .. }) = self.flags else { return };
        self.set_result(combined(op, left.clone(), right.clone()), width);
        match op {
            FetchOp::Subtract => {
                self.set_less(left.clone().lt(right.clone()));
                self.set_carry(binary(BinaryOp::Below, left.clone(), right.clone()));
            }
            FetchOp::Add => {
                let overflow = left.clone().bit_xor(result).bit_and(right.clone().bit_xor(result));
                self.set_less(result.bit_xor(overflow).lt(0));
                self.set_carry(binary(BinaryOp::Below, result, left.clone()));
            }
            _ => {
                self.set_less(result.lt(0));
                self.set_carry(0.into());
            }
        }
    }

    /// After an instruction of one operand. Counting by one leaves the carry alone.
    pub(super) fn set_flags_of_change(&mut self, change: Change, old: &Expr, width: Width) {
        let Some(Flags { result, .. }) = self.flags else { return };
        let one = Expr::from(1);
        match change {
            Change::Increment => {
                self.set_result(old.clone().plus(1), width);
                let overflow = old.clone().bit_xor(result).bit_and(one.bit_xor(result));
                self.set_less(result.bit_xor(overflow).lt(0));
            }
            Change::Decrement => {
                self.set_result(old.clone().minus(1), width);
                self.set_less(old.clone().lt(1));
            }
            Change::Negate => self.set_flags(FetchOp::Subtract, &Expr::from(0), old, width),
            Change::Complement => {}
        }
    }

    /// After a shift by `count`, which is not 0; overflow is as for a shift by one.
    pub(super) fn set_flags_of_shift(&mut self, shift: Shift, old: &Expr, new: &Expr, count: u32, width: Width) {
        let Some(Flags { result, .. }) = self.flags else { return };
        self.set_result(new.clone(), width);
        let last = match shift {
            Shift::Left => width.bits().saturating_sub(count),
            Shift::Right | Shift::RightSigned => count - 1,
        };
        let out = old.clone().shifted_right(u64::from(last)).bit_and(1);
        match shift {
            Shift::Left => self.set_less(out.clone()),
            Shift::Right => self.set_less(old.clone().lt(0)),
            Shift::RightSigned => self.set_less(result.lt(0)),
        }
        self.set_carry(out);
    }

    fn set_result(&mut self, value: Expr, width: Width) {
        if let Some(flags) = self.flags {
            self.t.set(flags.result, Typed::from(value).signed(width));
        }
    }

    fn set_less(&mut self, value: Expr) {
        if let Some(less) = self.flags.and_then(|flags| flags.less) {
            self.t.set(less, value);
        }
    }

    fn set_carry(&mut self, value: Expr) {
        if let Some(carry) = self.flags.and_then(|flags| flags.carry) {
            self.t.set(carry, value);
        }
    }
}
