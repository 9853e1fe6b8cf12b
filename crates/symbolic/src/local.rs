//! Cycles of one thread alone: it comes back to where it was, while memory stays as it is.
//!
//! Such a cycle depends on nothing but what the thread reads, so it is kept by the state of the thread and tried wherever
//! the thread stands there again, whatever the others do. What it reads from memory must be there; what it reads from
//! its buffer decides which contents go along.

use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::{Model, Step};
use teetotal_program::{Loc, ThreadId, Value};

use super::automaton::Letter;
use super::buffer_language::{Buffers, Effect};
use super::cycle::{Cycle, CycleId, Item, Pump};
use super::expand::Taken;
use super::keys::LocalState;

/// A cycle of one thread, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct LocalCycleId(u32);

/// What one thread does on its way back to where it was.
#[derive(Debug)]
struct LocalCycle {
    thread: ThreadId,
    items: Vec<LocalItem>,
    /// The locations that it reads, of the cycles inside as well; ascending.
    reads: Vec<Loc>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum LocalItem {
    Step { step: Step, seen: Vec<Value>, effects: Vec<LocalEffect> },
    Pump(Vec<LocalCycleId>),
}

/// What a step does to the buffer of its thread, whatever memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LocalEffect {
    Append(Letter),
    Barrier,
    Read { loc: Loc, value: Value },
}

/// All cycles of one thread each.
#[derive(Debug, Default)]
pub(super) struct LocalCycles {
    all: Vec<LocalCycle>,
    /// By the state of the thread.
    at: Vec<Vec<LocalCycleId>>,
    /// With what memory holds where they read.
    resolved: HashMap<(LocalCycleId, Box<[Value]>), CycleId, FxBuildHasher>,
    /// The local cycle that a cycle was made from.
    origins: HashMap<CycleId, LocalCycleId, FxBuildHasher>,
}

/// No more cycles than this are kept for one state of a thread.
const MAX_CYCLES: usize = 16;

impl LocalCycles {
    /// Keeps what `thread` does along `path`, which leads it back to `local`.
    pub(super) fn add<'p>(&mut self, local: LocalState, thread: ThreadId, path: impl IntoIterator<Item = &'p Item>) {
        let Some(items) = self.project(thread, path) else { return };
        if self.at.len() <= local.index() {
            self.at.resize_with(local.index() + 1, Vec::new);
        }
        let known = &self.at[local.index()];
        let is_known = |id: &LocalCycleId| self.all[id.0 as usize].items == items;
        if known.len() >= MAX_CYCLES || known.iter().any(is_known) {
            return;
        }
        let mut reads: Vec<Loc> = items.iter().flat_map(|item| self.reads_of(item)).collect();
        reads.sort_unstable();
        reads.dedup();
        let id = LocalCycleId(self.all.len() as u32);
        self.all.push(LocalCycle { thread, items, reads });
        self.at[local.index()].push(id);
    }

    /// The part of `thread` in a path, if nothing in it but loads depends on memory and something joins the buffer.
    fn project<'p>(&self, thread: ThreadId, path: impl IntoIterator<Item = &'p Item>) -> Option<Vec<LocalItem>> {
        let mut items = Vec::new();
        let mut appends = false;
        for item in path {
            match item {
                // Whether the thread goes on without a switch was a matter of that store.
                Item::Step(taken) if taken.step.is_commit() && decides_more(taken) => return None,
                Item::Step(taken) if taken.step.is_commit() || taken.step.thread() != thread => {}
                Item::Step(taken) => {
                    let effects = local_effects(thread, taken)?;
                    appends |= effects.iter().any(|effect| matches!(effect, LocalEffect::Append(_)));
                    items.push(LocalItem::Step { step: taken.step, seen: taken.seen.clone(), effects });
                }
                Item::Pump(pump) => match &**pump {
                    Pump::Suffix { thread: t, cycles } if *t == thread => {
                        let origins = cycles.iter().map(|cycle| self.origins.get(cycle).copied());
                        items.extend(origins.collect::<Option<Vec<_>>>().map(LocalItem::Pump));
                    }
                    _ => {}
                },
            }
        }
        appends.then_some(items)
    }

    fn reads_of(&self, item: &LocalItem) -> Vec<Loc> {
        match item {
            LocalItem::Step { effects, .. } => {
                let read = |effect: &LocalEffect| match effect {
                    LocalEffect::Read { loc, .. } => Some(*loc),
                    _ => None,
                };
                effects.iter().filter_map(read).collect()
            }
            LocalItem::Pump(cycles) => {
                cycles.iter().flat_map(|id| self.all[id.0 as usize].reads.iter().copied()).collect()
            }
        }
    }

    /// How many cycles of a thread in state `local` are known.
    pub(super) fn count(&self, local: LocalState) -> usize {
        self.at.get(local.index()).map_or(0, Vec::len)
    }

    /// The cycles of a thread in state `local`, as memory now lets them be.
    pub(super) fn at<M: Model>(
        &mut self,
        local: LocalState,
        memory: &[Value],
        cycles: &mut Vec<Cycle>,
        buffers: &mut Buffers<M>,
        n_threads: usize,
    ) -> Vec<CycleId> {
        let known = self.at.get(local.index()).filter(|known| !known.is_empty()).cloned();
        known.into_iter().flatten().map(|id| self.resolve(id, memory, cycles, buffers, n_threads)).collect()
    }

    fn resolve<M: Model>(
        &mut self,
        id: LocalCycleId,
        memory: &[Value],
        cycles: &mut Vec<Cycle>,
        buffers: &mut Buffers<M>,
        n_threads: usize,
    ) -> CycleId {
        let reads = self.all[id.0 as usize].reads.iter().map(|loc| memory[loc.index()]);
        let key = (id, reads.collect());
        if let Some(&known) = self.resolved.get(&key) {
            return known;
        }
        let (thread, local) = (self.all[id.0 as usize].thread, self.all[id.0 as usize].items.clone());
        let mut items = Vec::new();
        for item in local {
            items.push(match item {
                LocalItem::Step { step, seen, effects } => {
                    let effects = effects.iter().map(|&effect| (thread, effect.with(memory))).collect();
                    Item::Step(Rc::new(Taken { step, seen, effects, drains: false }))
                }
                LocalItem::Pump(inner) => {
                    let inner = inner.into_iter().map(|id| self.resolve(id, memory, cycles, buffers, n_threads));
                    Item::Pump(Rc::new(Pump::Suffix { thread, cycles: inner.collect() }))
                }
            });
        }
        let cycle = Cycle::new(cycles, buffers, items, n_threads, true);
        let number = CycleId(cycles.len() as u32);
        cycles.push(cycle);
        self.resolved.insert(key, number);
        self.origins.insert(number, id);
        number
    }
}

impl LocalEffect {
    /// The effect while memory is as it is.
    fn with(self, memory: &[Value]) -> Effect {
        match self {
            LocalEffect::Append(letter) => Effect::Append(letter),
            LocalEffect::Barrier => Effect::Barrier,
            LocalEffect::Read { loc, value } if memory[loc.index()] == value => Effect::Seen { loc, value },
            LocalEffect::Read { loc, value } => Effect::Newest { loc, value },
        }
    }
}

/// Whether more hangs on a store that leaves than whether its thread still drains.
fn decides_more(taken: &Taken) -> bool {
    let drained = (taken.step.thread(), Effect::Drained);
    taken.effects.len() > 2 || taken.effects.get(1).is_some_and(|&effect| effect != drained)
}

/// The effects of a step of `thread`, unless it does more than read and join its own buffer.
fn local_effects(thread: ThreadId, taken: &Taken) -> Option<Vec<LocalEffect>> {
    if taken.drains {
        // Before its next step the buffer is empty, and on the way that was a matter of commits.
        return None;
    }
    let effects = taken.effects.iter().map(|&(t, effect)| {
        Some(match effect {
            _ if t != thread => return None,
            Effect::Append(letter) => LocalEffect::Append(letter),
            Effect::Barrier => LocalEffect::Barrier,
            Effect::Newest { loc, value } | Effect::Absent { loc, value } | Effect::Seen { loc, value } => {
                LocalEffect::Read { loc, value }
            }
            Effect::Drained
            | Effect::Pending
            | Effect::MayUpdate { .. }
            | Effect::MayNotUpdate { .. }
            | Effect::Remove { .. }
            | Effect::Leave(_)
            | Effect::Shorter(_)
            | Effect::NotShorter(_) => return None,
        })
    });
    effects.collect()
}
