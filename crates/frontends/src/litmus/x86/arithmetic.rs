//! Instructions that compute: in a register, in memory, or in memory in one locked step.

use teetotal_program::ir::{Address, BinaryOp, Expr, FetchOp, Instruction, UnaryOp, Update};
use teetotal_program::{OnFailure, Order, Type, Width};

use crate::litmus::syntax::Located;
use crate::litmus::x86::lower::Lowering;
use crate::litmus::x86::opcode::{Change, Opcode, Shift, combined};
use crate::litmus::x86::register::{Family, Register};
use crate::litmus::x86::syntax::{Operand, Statement};
use crate::litmus::x86::values::Typed;

/// Where a result goes, and whether the way there is one locked step.
enum Target {
    Register(Register),
    Memory { at: Address, ty: Option<Type>, locked: bool },
}

impl Lowering<'_, '_> {
    pub(super) fn arithmetic(
        &mut self,
        statement: &Statement,
        operands: &[Located<Operand>],
        width: Width,
    ) -> Option<()> {
        let [to, rest @ ..] = operands else { return self.refuse(statement.span, "an operand is missing") };
        if let [from, ..] = rest {
            self.only_one_in_memory(to, from)?;
        }
        if matches!(statement.opcode, Opcode::Compare | Opcode::Test) {
            return self.compare(statement.opcode, to, rest, width);
        }
        let target = match &to.it {
            Operand::Register(_) if statement.locked => {
                return self.refuse(statement.span, "`lock` needs a destination in memory");
            }
            Operand::Register(register) => Target::Register(*register),
            Operand::Memory(reference) => {
                let (at, ty) = self.address(reference, width, to.span)?;
                Target::Memory { at, ty, locked: statement.locked }
            }
            _ => return self.refuse_destination(to.span),
        };
        match (statement.opcode, rest) {
            (Opcode::Combine(op), [from]) => self.combine(op, target, from, width),
            (Opcode::Change(change), []) => self.change(change, target, width),
            (Opcode::Shift(shift), [count]) => self.shift(shift, target, count, width),
            (Opcode::ExchangeAdd, [from]) => self.exchange_add(target, from, width),
            (Opcode::CompareExchange, [from]) => self.compare_exchange(target, from, width),
            _ => self.refuse(statement.span, "this instruction is not supported"),
        }
    }

    fn compare(
        &mut self,
        opcode: Opcode,
        left: &Located<Operand>,
        rest: &[Located<Operand>],
        width: Width,
    ) -> Option<()> {
        let [right] = rest else { return self.refuse(left.span, "an operand is missing") };
        let left = self.value(left, width)?.signed(width);
        let right = self.value(right, width)?.signed(width);
        let op = if opcode == Opcode::Test { FetchOp::And } else { FetchOp::Subtract };
        self.set_flags(op, &left, &right, width);
        Some(())
    }

    /// What the target holds; locked, it becomes what `update` makes of it in the same step.
    fn old(&mut self, target: &Target, update: Update) -> Typed {
        match target {
            Target::Register(register) => self.read(*register),
            Target::Memory { at, ty, locked: true } => self.rmw(at.clone(), *ty, update),
            Target::Memory { at, ty, locked: false } => {
                let to = self.scratch();
                self.t.push(Instruction::Load { to, from: at.clone(), order: Order::Plain });
                Typed { expr: to.into(), ty: *ty }
            }
        }
    }

    /// Puts the result where a locked step has not put it already.
    fn finish(&mut self, target: Target, result: Expr) {
        match target {
            Target::Register(register) => self.write_register(register, result.into()),
            Target::Memory { locked: true, .. } => {}
            Target::Memory { at, .. } => {
                self.t.push(Instruction::Store { to: at, value: result, order: Order::Plain });
            }
        }
    }

    fn combine(&mut self, op: FetchOp, target: Target, from: &Located<Operand>, width: Width) -> Option<()> {
        let right = self.value(from, width)?;
        let update = Update::Fetch(op, right.clone().stored(width));
        let old = self.old(&target, update);
        let result = combined(op, old.clone().stored(width), right.clone().stored(width));
        self.set_flags(op, &old.signed(width), &right.signed(width), width);
        self.finish(target, result);
        Some(())
    }

    fn change(&mut self, change: Change, target: Target, width: Width) -> Option<()> {
        let update = match change {
            Change::Increment => Update::Fetch(FetchOp::Add, 1.into()),
            Change::Decrement => Update::Fetch(FetchOp::Subtract, 1.into()),
            Change::Negate | Change::Complement => Update::Function(changed(change, Expr::Old)),
        };
        let old = self.old(&target, update);
        let result = changed(change, old.clone().stored(width));
        self.set_flags_of_change(change, &old.signed(width), width);
        self.finish(target, result);
        Some(())
    }

    fn shift(&mut self, shift: Shift, target: Target, count: &Located<Operand>, width: Width) -> Option<()> {
        let Operand::Number(number) = count.it else {
            return self.refuse(count.span, "shifts by a register are not supported");
        };
        let count = (number % u64::from(width.bits().max(32))) as u32;
        if count == 0 {
            return Some(());
        }
        let old = self.old(&target, Update::Exchange(0.into()));
        let signed = old.clone().signed(width);
        let unsigned = old.cast(Type { width, signed: false });
        let result = match shift {
            Shift::Left => signed.clone().shifted_left(u64::from(count)),
            Shift::Right => unsigned.shifted_right(u64::from(count)),
            Shift::RightSigned => {
                let count = Expr::from(u64::from(count));
                Expr::Binary(BinaryOp::ShiftRightSigned, Box::new(signed.clone()), count.into())
            }
        };
        self.set_flags_of_shift(shift, &signed, &result, count, width);
        self.finish(target, result);
        Some(())
    }

    fn exchange_add(&mut self, target: Target, from: &Located<Operand>, width: Width) -> Option<()> {
        let Operand::Register(source) = from.it else {
            return self.refuse(from.span, "`xadd` adds a register");
        };
        let right = self.read(source);
        let old = self.old(&target, Update::Fetch(FetchOp::Add, right.clone().stored(width)));
        self.set_flags(FetchOp::Add, &old.clone().signed(width), &right.clone().signed(width), width);
        let sum = old.clone().signed(width).plus(right.signed(width));
        if let Target::Register(_) = target {
            let scratch = self.scratch();
            self.t.set(scratch, sum);
            self.write_register(source, old);
            self.finish(target, scratch.into());
        } else {
            self.finish(target, sum);
            self.write_register(source, old);
        }
        Some(())
    }

    fn compare_exchange(&mut self, target: Target, from: &Located<Operand>, width: Width) -> Option<()> {
        let Operand::Register(source) = from.it else {
            return self.refuse(from.span, "`cmpxchg` writes a register");
        };
        let accumulator = Register { family: Family::ACCUMULATOR, width };
        let (expected, new) = (self.read(accumulator), self.read(source));
        let update = Update::CompareExchange {
            expected: expected.clone().stored(width),
            new: new.clone().stored(width),
            on_failure: OnFailure::Locked,
        };
        let mut old = self.old(&target, update).signed(width);
        if let Target::Register(_) = target {
            let scratch = self.scratch();
            self.t.set(scratch, old);
            old = scratch.into();
        }
        let expected = expected.signed(width);
        self.set_flags(FetchOp::Subtract, &expected, &old, width);
        let same = expected.eq(old.clone());
        // Unlocked, the old value is written back where they differ.
        let result = Expr::Select(same.clone().into(), new.signed(width).into(), old.clone().into());
        let is_accumulator = matches!(target, Target::Register(register) if register.family == accumulator.family);
        self.finish(target, result);
        if is_accumulator {
            return Some(());
        }
        if width == Width::W32 && self.flavor.full() == Width::W64 {
            // The upper half is cleared only where the accumulator is written.
            let whole = self.family(accumulator.family);
            let cleared = Typed::from(old).cast(Type::U32);
            self.t.set(whole, Expr::Select(same.into(), Expr::from(whole).into(), cleared.into()));
        } else {
            self.write_register(accumulator, old.into());
        }
        Some(())
    }
}

fn changed(change: Change, old: Expr) -> Expr {
    match change {
        Change::Increment => old.plus(1),
        Change::Decrement => old.minus(1),
        Change::Negate => Expr::Unary(UnaryOp::Negate, Box::new(old)),
        Change::Complement => Expr::Unary(UnaryOp::Complement, Box::new(old)),
    }
}
