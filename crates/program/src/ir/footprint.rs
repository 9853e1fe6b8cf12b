//! Which locations a thread may still use from each of its instructions on.

use crate::ir::instruction::Instruction;
use crate::ir::program::ThreadCode;
use crate::subject::{Future, LocSet};

/// For each thread, for each instruction and the end, what may still come.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Footprints {
    threads: Vec<Vec<Future>>,
    /// What is stored to at all.
    stores: LocSet,
}

impl Footprints {
    /// The least fixed point over the flow of control of each thread.
    pub(super) fn new(threads: &[ThreadCode]) -> Self {
        let contested: Vec<bool> = (0..threads.len()).map(|child| is_contested(threads, child)).collect();
        let threads: Vec<_> = threads.iter().map(|thread| futures(thread, &contested)).collect();
        let stores = threads.iter().map(|thread| thread[0].stores).fold(LocSet::default(), LocSet::union);
        Footprints { threads, stores }
    }

    pub(super) fn at(&self, thread: usize, instruction: usize) -> Future {
        self.threads[thread][instruction]
    }

    pub(super) fn stores(&self) -> LocSet {
        self.stores
    }
}

/// Whether it may matter who spawns a thread: it runs anyhow, or more than one instruction spawns it.
fn is_contested(threads: &[ThreadCode], child: usize) -> bool {
    let spawns = |i: &&Instruction| matches!(i, Instruction::Spawn { thread, .. } if thread.index() == child);
    let n_spawns = threads.iter().flat_map(|thread| &thread.code).filter(spawns).count();
    n_spawns + usize::from(threads[child].starts) > 1
}

fn futures(thread: &ThreadCode, contested: &[bool]) -> Vec<Future> {
    let code = &thread.code;
    let mut futures = vec![Future::default(); code.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.len()).rev() {
            let mut future = own(&code[at], contested);
            future.holds_back |= thread.places[at].exclusive;
            future.is_global |= future.holds_back;
            future = code[at].targets().fold(future, |future, target| future.union(futures[target as usize]));
            if !matches!(code[at], Instruction::Jump { .. } | Instruction::Guarded { .. }) {
                future = future.union(futures[at + 1]);
            }
            changed |= future != futures[at];
            futures[at] = future;
        }
    }
    futures
}

/// What a guarded step may store to, whichever of its options it takes.
pub(super) fn stores_at_once(instruction: &Instruction) -> LocSet {
    let Instruction::Guarded { options, .. } = instruction else { return LocSet::default() };
    let stores = options.iter().filter_map(|option| option.store.as_ref());
    stores.fold(LocSet::default(), |set, (to, _)| set.union(to.range()))
}

fn own(instruction: &Instruction, contested: &[bool]) -> Future {
    let mut future = Future::default();
    match instruction {
        Instruction::Load { from, .. } => future.loads = from.range(),
        Instruction::Store { to, .. } => future.stores = to.range(),
        Instruction::Rmw { at, .. } => future.updates = at.range(),
        Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } => future.locks = at.range(),
        Instruction::Spawn { thread, .. } => future.holds_back = contested[thread.index()],
        Instruction::Await { loads, .. } => {
            future.loads = loads.iter().fold(LocSet::default(), |set, (_, from)| set.union(from.range()));
        }
        Instruction::Guarded { loads, .. } => {
            future.loads = loads.iter().fold(LocSet::default(), |set, (_, from)| set.union(from.range()));
            future.stores = stores_at_once(instruction);
        }
        Instruction::GlobalFence => future.is_global = true,
        _ => {}
    }
    future
}
