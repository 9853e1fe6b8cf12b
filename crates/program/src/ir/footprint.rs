//! Which locations a thread may still use from each of its instructions on.

use crate::ir::instruction::Instruction;
use crate::ir::program::ThreadCode;
use crate::subject::{Future, LocSet};

/// For each thread, for each instruction and the end, what may still come.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Footprints(Vec<Vec<Future>>);

impl Footprints {
    /// The least fixed point over the flow of control of each thread.
    pub(super) fn new(threads: &[ThreadCode]) -> Self {
        Footprints(threads.iter().map(futures).collect())
    }

    pub(super) fn at(&self, thread: usize, instruction: usize) -> Future {
        self.0[thread][instruction]
    }
}

fn futures(thread: &ThreadCode) -> Vec<Future> {
    let code = &thread.code;
    let mut futures = vec![Future::default(); code.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.len()).rev() {
            let mut future = own(&code[at]);
            future.is_global |= thread.places[at].exclusive;
            match &code[at] {
                Instruction::Jump { target } => future = future.union(futures[*target as usize]),
                Instruction::Branch { target, .. } => {
                    future = future.union(futures[*target as usize]).union(futures[at + 1]);
                }
                _ => future = future.union(futures[at + 1]),
            }
            changed |= future != futures[at];
            futures[at] = future;
        }
    }
    futures
}

fn own(instruction: &Instruction) -> Future {
    let mut future = Future::default();
    match instruction {
        Instruction::Load { from, .. } => future.loads = from.range(),
        Instruction::Store { to, .. } => future.stores = to.range(),
        Instruction::Rmw { at, .. } | Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } => {
            future.updates = at.range();
        }
        Instruction::Await { loads, .. } => {
            future.loads = loads.iter().fold(LocSet::default(), |set, (_, from)| set.union(from.range()));
        }
        Instruction::GlobalFence => future.is_global = true,
        _ => {}
    }
    future
}
