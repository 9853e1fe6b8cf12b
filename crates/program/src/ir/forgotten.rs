//! Which registers nobody looks at any more.
//!
//! A register that is set again before it is used makes states differ of which all that follows is the same. Where a
//! program asks for it, such registers are set to 0 when their thread comes to an operation or to its end. What an outcome
//! shows is kept wherever a thread may stay for good.

use crate::condition::Term;
use crate::ir::address::Address;
use crate::ir::expr::Expr;
use crate::ir::instruction::Instruction;
use crate::ir::program::{Program, ThreadCode};
use crate::names::{Reg, ThreadId};

/// For each thread, for each instruction and the end, the registers that are not looked at from there on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Forgotten(Vec<Vec<Box<[Reg]>>>);

/// A thread with more instructions times registers than this forgets nothing.
const MAX_SIZE: usize = 1 << 22;

impl Forgotten {
    /// The greatest sets over the flow of control of each thread, where `program` asks for it.
    pub(super) fn new(program: &Program) -> Self {
        if !program.forgets || program.condition.is_some() || program.filter.is_some() {
            return Forgotten::default();
        }
        let threads = program.threads.iter().enumerate();
        Forgotten(threads.map(|(index, thread)| of_thread(thread, shown(program, ThreadId::at(index)))).collect())
    }

    pub(super) fn at(&self, thread: usize, instruction: usize) -> &[Reg] {
        self.0.get(thread).and_then(|thread| thread.get(instruction)).map_or(&[], |registers| registers)
    }
}

/// For each register of a thread, whether outcomes show it.
fn shown(program: &Program, thread: ThreadId) -> Vec<bool> {
    let mut shown = vec![false; program.threads[thread.index()].registers.len()];
    for term in &program.observed {
        if let Term::Register(of, reg) = term
            && *of == thread
        {
            shown[reg.index()] = true;
        }
    }
    shown
}

fn of_thread(thread: &ThreadCode, shown: Vec<bool>) -> Vec<Box<[Reg]>> {
    let code = &thread.code;
    if code.len().saturating_mul(shown.len()) > MAX_SIZE {
        return Vec::new();
    }
    let mut used = vec![vec![false; shown.len()]; code.len()];
    used.push(shown);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.len()).rev() {
            let now = used_from(&code[at], at, &used);
            changed |= now != used[at];
            used[at] = now;
        }
    }
    let unused = |used: &Vec<bool>| (0..used.len()).filter(|&reg| !used[reg]).map(|reg| Reg(reg as u16)).collect();
    used.iter().map(unused).collect()
}

/// The registers that may be looked at from the instruction at `at` on, given those that may be later.
fn used_from(instruction: &Instruction, at: usize, used: &[Vec<bool>]) -> Vec<bool> {
    let mut now = vec![false; used[at].len()];
    let mut add = |more: &[bool]| now.iter_mut().zip(more).for_each(|(now, &more)| *now |= more);
    instruction.targets().for_each(|target| add(&used[target as usize]));
    if !matches!(instruction, Instruction::Jump { .. } | Instruction::Guarded { .. }) {
        add(&used[at + 1]);
    }
    let mut looked_at = Vec::new();
    instruction.expressions(|expr| add_registers(expr, &mut looked_at));
    let mut before = Vec::new();
    let mut set = Vec::new();
    match instruction {
        Instruction::Assign { to, .. } | Instruction::Load { to, .. } | Instruction::Choose { to, .. } => {
            now[to.index()] = false;
        }
        Instruction::Rmw { old, .. } => now[old.index()] = false,
        Instruction::Await { loads, .. } | Instruction::Guarded { loads, .. } => {
            for (reg, from) in loads {
                set.push(*reg);
                if let Address::Indexed { index: expr, .. } | Address::Computed(expr) = from {
                    add_registers(expr, &mut before);
                }
            }
        }
        _ => {}
    }
    // What such a step decides by is looked at with what it has read in the registers.
    looked_at.retain(|reg| !set.contains(reg));
    set.iter().for_each(|reg| now[reg.index()] = false);
    looked_at.iter().chain(&before).for_each(|reg| now[reg.index()] = true);
    if may_stay(instruction) {
        let end = &used[used.len() - 1];
        now.iter_mut().zip(end).for_each(|(now, &shown)| *now |= shown);
    }
    now
}

fn add_registers(expr: &Expr, registers: &mut Vec<Reg>) {
    expr.walk(&mut |part| {
        if let Expr::Reg(reg) = part {
            registers.push(*reg);
        }
    });
}

/// Whether an execution may end with a thread that stands here.
fn may_stay(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Guarded { options, .. } => {
            !options.iter().any(|option| matches!(option.when, Expr::Const(value) if value != 0))
        }
        Instruction::Await { .. } | Instruction::Lock { .. } | Instruction::Join { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ir::{Builder, Interpreter};
    use crate::names::Value;
    use crate::op::Order;
    use crate::subject::Subject;

    /// What a register that has read 5 holds at the store after it, in a loop; the store may use it.
    fn at_the_store(forgets: bool, stored: impl Fn(Reg) -> Expr) -> Value {
        let mut p = Builder::new("loop");
        let x = p.shared("x", 0);
        let mut seen = None;
        p.thread("P0", |t| {
            let (reg, again) = (t.temporary(), t.label());
            t.place(again);
            t.push(Instruction::Load { to: reg, from: x.into(), order: Order::Plain });
            t.push(Instruction::Store { to: x.into(), value: stored(reg), order: Order::Plain });
            t.jump(again);
            seen = Some(reg);
        });
        if forgets {
            p.forget_registers();
        }
        let mut running = Interpreter::new(Arc::new(p.build().expect("it is well formed")));
        running.resume(ThreadId::at(0), &[5]);
        running.register(ThreadId::at(0), seen.expect("the thread has one"))
    }

    #[test]
    fn what_is_read_again_before_it_is_used_is_forgotten() {
        assert_eq!(at_the_store(true, |_| Expr::Const(1)), 0);
    }

    #[test]
    fn what_is_still_used_is_kept() {
        assert_eq!(at_the_store(true, Expr::Reg), 5);
    }

    #[test]
    fn nothing_is_forgotten_unless_a_program_asks_for_it() {
        assert_eq!(at_the_store(false, |_| Expr::Const(1)), 5);
    }
}
