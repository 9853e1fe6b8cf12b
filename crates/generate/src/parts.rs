//! The changeable parts of an instruction.

use teetotal_program::Order;
use teetotal_program::Reg;
use teetotal_program::ir::{Address, Expr, Guard, Instruction, Update};

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

/// The addresses that it accesses.
pub(super) fn addresses(instruction: &mut Instruction) -> Vec<&mut Address> {
    match instruction {
        Instruction::Load { from: at, .. }
        | Instruction::Store { to: at, .. }
        | Instruction::Rmw { at, .. }
        | Instruction::Lock { at, .. }
        | Instruction::Unlock { at, .. } => vec![at],
        Instruction::Await { loads, .. } => loads.iter_mut().map(|(_, from)| from).collect(),
        Instruction::Guarded { loads, options } => {
            let stores = options.iter_mut().filter_map(|option| option.store.as_mut()).map(|(to, _)| to);
            loads.iter_mut().map(|(_, from)| from).chain(stores).collect()
        }
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
        Instruction::Await { loads, .. } | Instruction::Guarded { loads, .. } => {
            loads.iter_mut().map(|(to, _)| to).collect()
        }
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
        Instruction::Guarded { options, .. } => {
            options.iter_mut().filter_map(|option| option.store.as_mut()).map(|(_, value)| value).collect()
        }
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
        Instruction::Guarded { loads, options } => {
            let in_options = options.iter_mut().flat_map(|Guard { when, store, .. }| {
                let store = store.as_mut().map(|(to, value)| inside(to).into_iter().chain([value]));
                std::iter::once(when).chain(store.into_iter().flatten())
            });
            loads.iter_mut().filter_map(|(_, from)| inside(from)).chain(in_options).collect()
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
