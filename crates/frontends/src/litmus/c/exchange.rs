//! Read-modify-writes that write only under a condition.
//!
//! A weak compare-exchange may fail although it finds what it expects, any number of times. That is a choice, made
//! before the step, and an execution in which it was made where the step fails anyway is discarded: it is another's twin.

use teetotal_program::ir::{Expr, Instruction, Update};
use teetotal_program::{OnFailure, Order};

use crate::litmus::c::call::Call;
use crate::litmus::c::library::{Gives, Strength};
use crate::litmus::c::lower::Lowering;
use crate::litmus::c::place::{Lvalue, Place};
use crate::litmus::c::values::{Value, stored};

impl Lowering<'_, '_> {
    /// Adds the first of two values unless the location holds the second.
    pub(super) fn add_unless(
        &mut self,
        place: &Place,
        [amount, unless]: [Value; 2],
        gives: Gives,
        call: Call<'_>,
    ) -> Option<Value> {
        let amount = self.converted(amount, place.ty, call.span)?;
        let unless = self.converted(unless, place.ty, call.span)?;
        let update = Update::When {
            condition: place.seen(Expr::Old).ne(unless.clone()),
            new: Expr::Old.plus(amount),
            on_failure: OnFailure::Load(Order::Relaxed),
        };
        let to = call.to.filter(|_| gives == Gives::Old);
        let old = self.update_giving_old(place, update, Call { to, ..call });
        Some(if gives == Gives::Old { old } else { Value::of_truth(old.expr.ne(unless)) })
    }

    /// The kernel's `cmpxchg`, which gives what was there. It orders nothing where it fails.
    pub(super) fn compare_and_swap(
        &mut self,
        place: &Place,
        expected: Value,
        new: Value,
        call: Call<'_>,
    ) -> Option<Value> {
        let expected = self.converted(expected, place.ty, call.span)?;
        let new = self.converted(new, place.ty, call.span)?;
        let width = place.ty.value().width;
        let update = Update::CompareExchange {
            expected: stored(expected, width),
            new: stored(new, width),
            on_failure: OnFailure::Load(Order::Relaxed),
        };
        Some(self.update_giving_old(place, update, call))
    }

    /// The compare-exchange of C11, which gives whether it wrote and keeps what it found where it did not.
    pub(super) fn compare_exchange(
        &mut self,
        place: &Place,
        expected: &Lvalue,
        new: Value,
        (strength, on_failure): (Strength, OnFailure),
        call: Call<'_>,
    ) -> Option<Value> {
        let held = match expected {
            Lvalue::Local(register, ty) => Value { expr: (*register).into(), ty: *ty },
            Lvalue::Memory(place) => self.load(place, Order::Plain, None, call.span),
        };
        let wanted = self.converted(held, place.ty, call.span)?;
        let new = self.converted(new, place.ty, call.span)?;
        let old = self.temporary();
        let seen = place.seen(old.into());
        let fails = match strength {
            Strength::Strong => None,
            Strength::Weak => {
                let fails = self.temporary();
                self.push(call.span, Instruction::Choose { to: fails, alternatives: 2 });
                Some(fails)
            }
        };
        let update = match fails {
            None => Update::CompareExchange { expected: wanted.clone(), new, on_failure },
            Some(fails) => {
                let condition = place.seen(Expr::Old).eq(wanted.clone()).and(fails.eq(0));
                Update::When { condition, new, on_failure }
            }
        };
        self.push(call.span, Instruction::Rmw { old, at: place.address.clone(), update, order: call.order });
        let mut success = seen.clone().eq(wanted);
        if let Some(fails) = fails {
            self.t.push(Instruction::Assume { condition: success.clone().or(fails.eq(0)) });
            success = success.and(fails.eq(0));
        }
        let result = self.temporary();
        self.t.set(result, success);
        self.keep_found(expected, Value { expr: seen, ty: place.ty }, result, call)?;
        Some(Value::of_truth(result.into()))
    }

    /// Puts what was found where what was expected came from, if that was something else.
    fn keep_found(
        &mut self,
        expected: &Lvalue,
        found: Value,
        succeeded: teetotal_program::Reg,
        call: Call<'_>,
    ) -> Option<()> {
        match expected {
            Lvalue::Local(register, ty) => {
                let found = self.converted(found, *ty, call.span)?;
                let kept = Expr::from(*register);
                self.t.set(*register, Expr::Select(Expr::from(succeeded).into(), kept.into(), found.into()));
            }
            Lvalue::Memory(place) => {
                let end = self.t.label();
                self.t.branch(succeeded, end);
                self.store(place, found, Order::Plain, call.span)?;
                self.t.place(end);
            }
        }
        Some(())
    }
}
