//! The changeable parts of an instruction.

use crate::ir::{Address, Expr, Instruction, Update};
use crate::names::Reg;
use crate::op::Order;

/// The order of an access, lock, spawn or join; not that of a fence, which is what a fence does.
pub(super) fn order(instruction: &mut Instruction) -> Option<&mut Order> {
    match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Rmw { order, .. }
        | Instruction::Lock { order, .. }
        | Instruction::Unlock { order, .. }
        | Instruction::Spawn { order, .. }
        | Instruction::Join { order, .. } => Some(order),
        _ => None,
    }
}

/// Where a jump goes.
pub(super) fn target(instruction: &mut Instruction) -> Option<&mut u32> {
    match instruction {
        Instruction::Jump { target } | Instruction::Branch { target, .. } => Some(target),
        _ => None,
    }
}

/// The addresses that it accesses.
pub(super) fn addresses(instruction: &mut Instruction) -> Vec<&mut Address> {
    match instruction {
        Instruction::Load { from: at, .. }
        | Instruction::Store { to: at, .. }
        | Instruction::Rmw { at, .. }
        | Instruction::Lock { at, .. }
        | Instruction::Unlock { at, .. } => vec![at],
        Instruction::Await { loads, .. } => loads.iter_mut().map(|(_, from)| from).collect(),
        _ => Vec::new(),
    }
}

/// The registers that it sets.
pub(super) fn destinations(instruction: &mut Instruction) -> Vec<&mut Reg> {
    match instruction {
        Instruction::Assign { to, .. }
        | Instruction::Load { to, .. }
        | Instruction::Rmw { old: to, .. }
        | Instruction::Choose { to, .. } => vec![to],
        Instruction::Await { loads, .. } => loads.iter_mut().map(|(to, _)| to).collect(),
        _ => Vec::new(),
    }
}

/// The expressions for values that it writes, expects or assigns.
pub(super) fn values(instruction: &mut Instruction) -> Vec<&mut Expr> {
    match instruction {
        Instruction::Assign { value, .. } | Instruction::Store { value, .. } => vec![value],
        Instruction::Rmw { update, .. } => match update {
            Update::Exchange(value) | Update::Fetch(_, value) | Update::Function(value) => vec![value],
            Update::CompareExchange { expected: first, new, .. } | Update::When { condition: first, new, .. } => {
                vec![first, new]
            }
        },
        _ => Vec::new(),
    }
}

/// Every expression in it.
pub(super) fn expressions(instruction: &mut Instruction) -> Vec<&mut Expr> {
    match instruction {
        Instruction::Store { to: at, value, .. } => inside(at).into_iter().chain([value]).collect(),
        Instruction::Rmw { at, update, .. } => {
            let values = match update {
                Update::Exchange(value) | Update::Fetch(_, value) | Update::Function(value) => vec![value],
                Update::CompareExchange { expected: first, new, .. } | Update::When { condition: first, new, .. } => {
                    vec![first, new]
                }
            };
            inside(at).into_iter().chain(values).collect()
        }
        Instruction::Await { loads, until } => {
            loads.iter_mut().filter_map(|(_, from)| inside(from)).chain([until]).collect()
        }
        Instruction::Assign { value: expr, .. }
        | Instruction::Branch { condition: expr, .. }
        | Instruction::Assert { condition: expr, .. }
        | Instruction::Assume { condition: expr } => vec![expr],
        other => addresses(other).into_iter().filter_map(inside).collect(),
    }
}

fn inside(address: &mut Address) -> Option<&mut Expr> {
    match address {
        Address::Static(_) => None,
        Address::Indexed { index, .. } => Some(index),
        Address::Computed(expr) => Some(expr),
    }
}

/// Replaces every register in `expr`.
pub(super) fn rename(expr: &mut Expr, to: &impl Fn(Reg) -> Reg) {
    match expr {
        Expr::Reg(reg) => *reg = to(*reg),
        Expr::Const(_) | Expr::Old => {}
        Expr::Unary(_, inner) => rename(inner, to),
        Expr::Binary(_, left, right) => [left, right].into_iter().for_each(|part| rename(part, to)),
        Expr::Select(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|part| rename(part, to));
        }
    }
}
