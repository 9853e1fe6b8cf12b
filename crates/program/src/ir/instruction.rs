//! The instructions of a thread.

use crate::ir::address::Address;
use crate::ir::expr::{BinaryOp, Expr};
use crate::names::{Reg, ThreadId};
use crate::op::{OnFailure, Order};

/// One instruction. Those without an operation on memory run on as part of the step before them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Instruction {
    /// Sets a register.
    Assign {
        to: Reg,
        value: Expr,
    },
    Load {
        to: Reg,
        from: Address,
        order: Order,
    },
    Store {
        to: Address,
        value: Expr,
        order: Order,
    },
    /// Sets `old` to what was there and writes what `update` makes of it, in one step.
    Rmw {
        old: Reg,
        at: Address,
        update: Update,
        order: Order,
    },
    /// `SeqCst` is a full fence, `Release` and `AcqRel` are store-store barriers, `Acquire` is a load-load barrier.
    Fence {
        order: Order,
    },
    GlobalFence,
    Lock {
        at: Address,
        order: Order,
    },
    Unlock {
        at: Address,
        order: Order,
    },
    Spawn {
        thread: ThreadId,
        order: Order,
    },
    Join {
        thread: ThreadId,
        order: Order,
    },
    /// Sets a register to a number below `alternatives`, any of them.
    Choose {
        to: Reg,
        alternatives: u32,
    },
    /// Reads all of these in one step, as soon as `until` holds of the registers with what was read in them.
    Await {
        loads: Vec<(Reg, Address)>,
        until: Expr,
    },
    /// Reads all of these in one step, as soon as some option is open to what was read, and takes one that is.
    ///
    /// The store of the option is issued in the same step: nothing comes between the reads and it.
    Guarded {
        loads: Vec<(Reg, Address)>,
        options: Vec<Guard>,
    },
    /// Goes to an instruction where the condition is not zero.
    Branch {
        condition: Expr,
        target: u32,
    },
    Jump {
        target: u32,
    },
    /// Fails where the condition is zero.
    Assert {
        condition: Expr,
        message: String,
    },
    /// Ends the thread and discards the execution where the condition is zero.
    Assume {
        condition: Expr,
    },
}

/// One of the ways on from a [`Instruction::Guarded`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// It is open where this is not zero, with what was read in the registers.
    pub when: Expr,
    /// What it stores, plain.
    pub store: Option<(Address, Expr)>,
    /// The instruction it goes to.
    pub target: u32,
}

/// What a read-modify-write writes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Update {
    Exchange(Expr),
    Fetch(FetchOp, Expr),
    /// Writes `new` over `expected`, else nothing.
    CompareExchange {
        expected: Expr,
        new: Expr,
        on_failure: OnFailure,
    },
    /// Any function of [`Expr::Old`].
    Function(Expr),
    /// Writes `new` where `condition` is not zero, else nothing; both are functions of [`Expr::Old`].
    When {
        condition: Expr,
        new: Expr,
        on_failure: OnFailure,
    },
}

/// The operators of fetch-and-op.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FetchOp {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    /// Of signed numbers, as are the two after it; the others are of unsigned ones.
    Max,
    Min,
    MaxUnsigned,
    MinUnsigned,
}

impl Instruction {
    /// Whether it is an operation on memory or a choice, so that other threads may go first.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        !matches!(
            self,
            Instruction::Assign { .. }
                | Instruction::Branch { .. }
                | Instruction::Jump { .. }
                | Instruction::Assert { .. }
                | Instruction::Assume { .. }
        )
    }

    /// Whether it may be blocked until another thread does something, even under sequential consistency.
    #[must_use]
    pub fn may_block(&self) -> bool {
        match self {
            Instruction::Lock { .. } | Instruction::Join { .. } => true,
            Instruction::Await { until, .. } => *until != Expr::Const(1),
            Instruction::Guarded { options, .. } => options.iter().all(|option| option.when != Expr::Const(1)),
            _ => false,
        }
    }

    /// Whether its operation may have no location or no value; if not, that need not be looked at.
    pub(super) fn may_fail(&self) -> bool {
        let address_may = |address: &Address| !matches!(address, Address::Static(_));
        match self {
            Instruction::Load { from, .. } => address_may(from),
            Instruction::Store { to, value, .. } => address_may(to) || !matches!(value, Expr::Const(_) | Expr::Reg(_)),
            Instruction::Rmw { at, .. } | Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } => {
                address_may(at)
            }
            Instruction::Await { .. } | Instruction::Guarded { .. } => true,
            _ => false,
        }
    }

    /// Where it may go to instead of the next instruction.
    pub fn targets(&self) -> impl Iterator<Item = u32> + '_ {
        let (one, options) = match self {
            Instruction::Jump { target } | Instruction::Branch { target, .. } => (Some(*target), &[][..]),
            Instruction::Guarded { options, .. } => (None, &options[..]),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(options.iter().map(|option| option.target))
    }

    /// The same, to change it.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        let (one, options) = match self {
            Instruction::Jump { target } | Instruction::Branch { target, .. } => (Some(target), &mut [][..]),
            Instruction::Guarded { options, .. } => (None, &mut options[..]),
            _ => (None, &mut [][..]),
        };
        one.into_iter().chain(options.iter_mut().map(|option| &mut option.target))
    }

    /// Whether it uses a location by its address.
    pub(super) fn uses_pointer(&self) -> bool {
        let computed = |address: &Address| matches!(address, Address::Computed(_));
        match self {
            Instruction::Load { from: at, .. }
            | Instruction::Store { to: at, .. }
            | Instruction::Rmw { at, .. }
            | Instruction::Lock { at, .. }
            | Instruction::Unlock { at, .. } => computed(at),
            Instruction::Await { loads, .. } => loads.iter().any(|(_, from)| computed(from)),
            Instruction::Guarded { loads, options } => {
                let mut stores = options.iter().filter_map(|option| option.store.as_ref());
                loads.iter().any(|(_, from)| computed(from)) || stores.any(|(to, _)| computed(to))
            }
            _ => false,
        }
    }

    /// Calls `visit` with every expression in it.
    pub fn expressions(&self, mut visit: impl FnMut(&Expr)) {
        let address = |address: &Address, visit: &mut dyn FnMut(&Expr)| match address {
            Address::Static(_) => {}
            Address::Indexed { index, .. } => visit(index),
            Address::Computed(value) => visit(value),
        };
        match self {
            Instruction::Assign { value, .. } => visit(value),
            Instruction::Load { from, .. } => address(from, &mut visit),
            Instruction::Store { to, value, .. } => {
                address(to, &mut visit);
                visit(value);
            }
            Instruction::Rmw { at, update, .. } => {
                address(at, &mut visit);
                match update {
                    Update::Exchange(value) | Update::Fetch(_, value) | Update::Function(value) => visit(value),
                    Update::CompareExchange { expected: first, new, .. }
                    | Update::When { condition: first, new, .. } => {
                        visit(first);
                        visit(new);
                    }
                }
            }
            Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } => address(at, &mut visit),
            Instruction::Await { loads, until } => {
                loads.iter().for_each(|(_, from)| address(from, &mut visit));
                visit(until);
            }
            Instruction::Guarded { loads, options } => {
                loads.iter().for_each(|(_, from)| address(from, &mut visit));
                for Guard { when, store, .. } in options {
                    visit(when);
                    if let Some((to, value)) = store {
                        address(to, &mut visit);
                        visit(value);
                    }
                }
            }
            Instruction::Branch { condition, .. }
            | Instruction::Assert { condition, .. }
            | Instruction::Assume { condition } => visit(condition),
            Instruction::Fence { .. }
            | Instruction::GlobalFence
            | Instruction::Spawn { .. }
            | Instruction::Join { .. }
            | Instruction::Choose { .. }
            | Instruction::Jump { .. } => {}
        }
    }
}

impl Update {
    /// What it is where it writes nothing; one that always writes is called locked.
    #[must_use]
    pub fn on_failure(&self) -> OnFailure {
        match self {
            Update::CompareExchange { on_failure, .. } | Update::When { on_failure, .. } => *on_failure,
            Update::Exchange(_) | Update::Fetch(..) | Update::Function(_) => OnFailure::Locked,
        }
    }
}

impl FetchOp {
    /// The new value, before it is wrapped to the type of the location.
    #[must_use]
    pub fn apply(self, old: u64, operand: u64) -> u64 {
        let total = |op: BinaryOp| op.apply(old, operand).unwrap_or(old);
        match self {
            FetchOp::Add => total(BinaryOp::Add),
            FetchOp::Subtract => total(BinaryOp::Subtract),
            FetchOp::And => total(BinaryOp::And),
            FetchOp::Or => total(BinaryOp::Or),
            FetchOp::Xor => total(BinaryOp::Xor),
            FetchOp::Max => (old as i64).max(operand as i64) as u64,
            FetchOp::Min => (old as i64).min(operand as i64) as u64,
            FetchOp::MaxUnsigned => old.max(operand),
            FetchOp::MinUnsigned => old.min(operand),
        }
    }
}
