//! Which search fits a program, when nobody says.
//!
//! A search over states ends where there are finitely many. Finite data leave one thing that may grow without end: a
//! store buffer whose thread goes round in a loop that stores and drains nowhere. Such programs are for the symbolic
//! search. Whether there is such a loop is read off the code, so a loop that ends after a few rounds counts as well.
//! Most of what is wrong shows with a store or two in each buffer, so that is looked for first.
//!
//! A program may have many states and few executions. So where the states are not few, executions are tried, and where
//! robustness of a program with loops is asked, they are tried first.

use teetotal_memory::{Access, Model};
use teetotal_program::ir::{Instruction, Program, ThreadCode};
use teetotal_program::{Loc, OnFailure, Order};

use crate::limits::Limits;
use crate::search::SearchId;

/// The limits on buffers with which something wrong is looked for before the symbolic search begins, one after the other.
pub(crate) const SHORT_BUFFERS: [u64; 2] = [1, 2];

/// The same after a symbolic search that found no end.
pub(crate) const LONGER_BUFFERS: [u64; 3] = [3, 4, 6];

/// How many states are looked at then, with each limit.
pub(crate) const FEW_STATES: u64 = 100_000;

/// How many states are searched before executions are tried, which may be fewer.
pub(crate) const SOME_STATES: u64 = 5_000;

/// How many executions are tried before a search over states goes on to its end, and how long they may be.
pub(crate) const FEW_EXECUTIONS: u64 = 2_000;
pub(crate) const SHORT_EXECUTION: u64 = 128;

/// The search for `program` under `M`.
pub(crate) fn choose<M: Model>(program: &Program, limits: &Limits) -> SearchId {
    // With a limit on buffers there is nothing that grows without end.
    if limits.buffer.is_none() && may_fill_buffers::<M>(program) { SearchId::Symbolic } else { SearchId::Stateful }
}

/// Whether some thread may store again and again while its buffer never has to be empty.
fn may_fill_buffers<M: Model>(program: &Program) -> bool {
    M::BUFFERS
        && program.threads.iter().any(|thread| {
            let stores = (0..thread.code.len()).filter(|&at| is_store(&thread.code[at]));
            stores.filter(|&at| !drains::<M>(&thread.code[at])).any(|at| comes_back::<M>(thread, at))
        })
}

fn is_store(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Store { .. } => true,
        Instruction::Guarded { options, .. } => options.iter().any(|option| option.store.is_some()),
        _ => false,
    }
}

/// Whether the thread may come from `start` back to it without a drain.
fn comes_back<M: Model>(thread: &ThreadCode, start: usize) -> bool {
    let mut seen = vec![false; thread.code.len()];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in next_of(thread, at) {
            if next == start {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) && !drains::<M>(&thread.code[next]) {
                open.push(next);
            }
        }
    }
    false
}

/// The instructions that may come after the one at `at`.
fn next_of(thread: &ThreadCode, at: usize) -> impl Iterator<Item = usize> + '_ {
    let instruction = &thread.code[at];
    let falls_through = !matches!(instruction, Instruction::Jump { .. } | Instruction::Guarded { .. });
    let next = falls_through.then_some(at + 1);
    instruction.targets().map(|target| target as usize).chain(next).filter(|&next| next < thread.code.len())
}

/// Whether the buffer is empty once the thread is past it, always.
fn drains<M: Model>(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Store { order, .. } | Instruction::Fence { order } => *order == Order::SeqCst,
        Instruction::GlobalFence => true,
        Instruction::Rmw { update, order, .. } => {
            let may_be_load = M::FAILURE_IS_LOAD && matches!(update.on_failure(), OnFailure::Load(_));
            !may_be_load && waits_for_all::<M>(*order)
        }
        Instruction::Lock { order, .. } | Instruction::Unlock { order, .. } => waits_for_all::<M>(*order),
        Instruction::Join { order, .. } => order.releases() && waits_for_all::<M>(*order),
        Instruction::Spawn { order, .. } => waits_for_all::<M>(*order),
        _ => false,
    }
}

/// Whether an access to memory at once waits for stores to other locations too.
fn waits_for_all<M: Model>(order: Order) -> bool {
    let write = |loc, order| Access { loc: Some(loc), order, epoch: 0 };
    M::keeps_order(write(Loc(0), Order::Plain), write(Loc(1), order))
}
