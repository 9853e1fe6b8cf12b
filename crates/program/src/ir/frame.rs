//! One thread of a program at one moment: what it does next, and how it goes on.

use crate::ir::address::Address;
use crate::ir::control::Control;
use crate::ir::expr::{EvalError, Expr};
use crate::ir::instruction::{Guard, Instruction, Update};
use crate::ir::program::Program;
use crate::names::{Loc, Reg, ThreadId, Value};
use crate::op::{Op, Order};
use crate::subject::Failure;

/// How many instructions a thread may run between two operations before it is said to loop endlessly.
const LOCAL_BUDGET: u32 = 10_000_000;

/// The control word and the registers of one thread, with its code.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) program: &'a Program,
    pub(super) thread: ThreadId,
    /// The control word, then the registers.
    pub(super) words: &'a [Value],
}

impl<'a> Frame<'a> {
    pub(super) fn control(&self) -> Control {
        Control(self.words[0])
    }

    pub(super) fn registers(&self) -> &'a [Value] {
        &self.words[1..]
    }

    pub(super) fn instruction(&self) -> &'a Instruction {
        &self.program.threads[self.thread.index()].code[self.control().instruction() as usize]
    }

    fn eval(&self, expr: &Expr) -> Result<Value, Failure> {
        self.eval_with(expr, 0)
    }

    fn eval_with(&self, expr: &Expr, old: Value) -> Result<Value, Failure> {
        let instruction = self.control().instruction();
        expr.eval(self.registers(), old).map_err(|EvalError::DivisionByZero| Failure::DivisionByZero { instruction })
    }

    pub(super) fn resolve(&self, address: &Address) -> Result<Loc, Failure> {
        address.resolve(&self.program.addresses, self.registers(), self.control().instruction())
    }

    fn wrap(&self, loc: Loc, value: Value) -> Value {
        self.program.locations[loc.index()].ty.wrap(value)
    }

    /// The operation at which a ready thread stands, or why there is none.
    #[inline]
    pub(super) fn operation(&self) -> Result<Op, Failure> {
        Ok(match self.instruction() {
            Instruction::Load { from, order, .. } => Op::Load { loc: self.resolve(from)?, order: *order },
            Instruction::Store { to, value, order } => {
                let loc = self.resolve(to)?;
                Op::Store { loc, value: self.wrap(loc, self.eval(value)?), order: *order }
            }
            Instruction::Rmw { at, update, order, .. } => {
                Op::Rmw { loc: self.resolve(at)?, order: *order, on_failure: update.on_failure() }
            }
            Instruction::Fence { order } => Op::Fence { order: *order },
            Instruction::GlobalFence => Op::GlobalFence,
            Instruction::Lock { at, order } => Op::Lock { loc: self.resolve(at)?, order: *order },
            Instruction::Unlock { at, order } => Op::Unlock { loc: self.resolve(at)?, order: *order },
            Instruction::Spawn { thread, order } => Op::Spawn { thread: *thread, order: *order },
            Instruction::Join { thread, order } => Op::Join { thread: *thread, order: *order },
            Instruction::Choose { alternatives, .. } => Op::Choose { alternatives: *alternatives },
            Instruction::Await { loads, .. } => {
                loads.iter().try_for_each(|(_, from)| self.resolve(from).map(|_| ()))?;
                Op::Await { alternatives: 1, order: Order::Plain }
            }
            Instruction::Guarded { loads, options } => {
                loads.iter().try_for_each(|(_, from)| self.resolve(from).map(|_| ()))?;
                Op::Await { alternatives: options.len() as u32, order: Order::Plain }
            }
            Instruction::Assign { .. }
            | Instruction::Branch { .. }
            | Instruction::Jump { .. }
            | Instruction::Assert { .. }
            | Instruction::Assume { .. } => unreachable!("a ready thread stands at an operation"),
        })
    }

    /// What the read-modify-write, lock or unlock at which the thread stands writes over `old`, if anything.
    pub(super) fn modify(&self, old: Value) -> Result<Option<Value>, Failure> {
        let (at, update) = match self.instruction() {
            Instruction::Rmw { at, update, .. } => (at, update),
            Instruction::Lock { .. } => return Ok((old == 0).then(|| self.thread.as_holder())),
            Instruction::Unlock { .. } => return Ok((old == self.thread.as_holder()).then_some(0)),
            other => unreachable!("{other:?} modifies nothing"),
        };
        let loc = self.resolve(at)?;
        let new = match update {
            Update::Exchange(new) | Update::Function(new) => self.eval_with(new, old)?,
            Update::Fetch(op, operand) => op.apply(old, self.eval_with(operand, old)?),
            Update::CompareExchange { expected, new, .. } => {
                let (expected, new) = (self.eval(expected)?, self.eval(new)?);
                if self.wrap(loc, expected) != old {
                    return Ok(None);
                }
                new
            }
            Update::When { condition, new, .. } => {
                let (holds, new) = (self.eval_with(condition, old)?, self.eval_with(new, old)?);
                if holds == 0 {
                    return Ok(None);
                }
                new
            }
        };
        Ok(Some(self.wrap(loc, new)))
    }

    /// What the await or guarded step at which the thread stands reads.
    pub(super) fn awaited(&self) -> &'a [(Reg, Address)] {
        match self.instruction() {
            Instruction::Await { loads, .. } | Instruction::Guarded { loads, .. } => loads,
            other => unreachable!("{other:?} awaits nothing"),
        }
    }

    /// Whether the await at which the thread stands may take `alternative` with `values`.
    pub(super) fn accepts(&self, values: &[Value], alternative: u32) -> bool {
        let condition = match self.instruction() {
            Instruction::Await { until, .. } => until,
            Instruction::Guarded { options, .. } => &options[alternative as usize].when,
            other => unreachable!("{other:?} awaits nothing"),
        };
        // A division by zero lets it go on, so that the failure is seen.
        matches!(condition, Expr::Const(1))
            || self.with_values(values, |registers| condition.eval(registers, 0)) != Ok(0)
    }

    /// What the guarded step at which the thread stands stores with `values` and `alternative`, if anything.
    pub(super) fn stores(&self, values: &[Value], alternative: u32) -> Result<Option<(Loc, Value)>, Failure> {
        let Instruction::Guarded { options, .. } = self.instruction() else { return Ok(None) };
        let Guard { when, store, .. } = &options[alternative as usize];
        let instruction = self.control().instruction();
        let divided = |EvalError::DivisionByZero| Failure::DivisionByZero { instruction };
        self.with_values(values, |registers| {
            when.eval(registers, 0).map_err(divided)?;
            let Some((to, value)) = store else { return Ok(None) };
            let loc = to.resolve(&self.program.addresses, registers, instruction)?;
            Ok(Some((loc, self.wrap(loc, value.eval(registers, 0).map_err(divided)?))))
        })
    }

    /// What `look` says of the registers once `values` are in those that the await reads into.
    fn with_values<T>(&self, values: &[Value], look: impl FnOnce(&[Value]) -> T) -> T {
        // Most threads have few registers, and this is asked often.
        const FEW: usize = 32;
        let before = self.registers();
        let (mut few, mut many) = ([0; FEW], Vec::new());
        let registers = if before.len() <= FEW {
            &mut few[..before.len()]
        } else {
            many.resize(before.len(), 0);
            &mut many[..]
        };
        registers.copy_from_slice(before);
        for ((reg, _), &value) in self.awaited().iter().zip(values) {
            registers[reg.index()] = value;
        }
        look(registers)
    }
}

/// Runs `thread` from `next` to its next operation or its end.
///
/// Gives whether the thread, where it now stands, asks to go on without a switch.
pub(super) fn run(program: &Program, thread: ThreadId, words: &mut [Value], next: u32) -> bool {
    let code = &program.threads[thread.index()];
    let mut at = next;
    let mut budget = LOCAL_BUDGET;
    let control = loop {
        let Some(instruction) = code.code.get(at as usize) else { break Control::new(Control::FINISHED, at) };
        words[0] = Control::new(Control::READY, at).0;
        let frame = Frame { program, thread, words };
        if instruction.is_visible() {
            let failure = if instruction.may_fail() { frame.operation().err() } else { None };
            break failure.map_or(frame.control(), Control::failed);
        }
        budget -= 1;
        if budget == 0 {
            break Control::failed(Failure::EndlessLoop { instruction: at });
        }
        match local(frame, instruction, at) {
            Ok(Local::Set(reg, value)) => {
                words[1 + reg.index()] = value;
                at += 1;
            }
            Ok(Local::Go(target)) => at = target,
            Err(control) => break control,
        }
    };
    words[0] = control.0;
    if control.is_ready() || control.state() == Control::FINISHED {
        let forgotten = program.forgotten.at(thread.index(), at as usize);
        forgotten.iter().for_each(|reg| words[1 + reg.index()] = 0);
    }
    control.is_ready() && code.places[at as usize].exclusive
}

/// What an instruction that touches no memory does.
enum Local {
    Set(Reg, Value),
    Go(u32),
}

fn local(frame: Frame<'_>, instruction: &Instruction, at: u32) -> Result<Local, Control> {
    let value = |expr: &Expr| frame.eval(expr).map_err(Control::failed);
    Ok(match instruction {
        Instruction::Assign { to, value: expr } => Local::Set(*to, value(expr)?),
        Instruction::Jump { target } => Local::Go(*target),
        Instruction::Branch { condition, target } => Local::Go(if value(condition)? != 0 { *target } else { at + 1 }),
        Instruction::Assert { condition, .. } => {
            if value(condition)? == 0 {
                return Err(Control::failed(Failure::Assertion { instruction: at }));
            }
            Local::Go(at + 1)
        }
        Instruction::Assume { condition } => {
            if value(condition)? == 0 {
                return Err(Control::new(Control::DISCARDED, at));
            }
            Local::Go(at + 1)
        }
        _ => unreachable!("operations are not local"),
    })
}
