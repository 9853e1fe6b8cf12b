//! One side of a state: where a thread is, by its history, and which of its stores are pending.

use std::hash::Hasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use teetotal_memory::{Model, Pending, StoreBuffer};
use teetotal_program::{Foresight, Future, Loc, LocSet, Op, Status, ThreadId, Value};

use super::history::{Histories, HistoryId};

/// A local state of a thread.
pub(super) struct Local {
    pub(super) history: HistoryId,
    pub(super) buffer: StoreBuffer,
    pub(super) standing: Standing,
    pub(super) has_failed: bool,
    pub(super) look: Look,
    /// What its operation reads in memory.
    pub(super) reads_now: LocSet,
    /// What the thread may still do.
    pub(super) future: Footprint,
    /// What is in the buffer and cannot leave yet.
    pub(super) held: LocSet,
    /// Whether it asks to go on without a switch.
    pub(super) is_exclusive: bool,
    /// What its operation leads to for the last thing that it was found to find; others follow.
    pub(super) outcome: u32,
    /// How many things it was found to find.
    pub(super) n_outcomes: u32,
    /// The stores that may leave the buffer next.
    pub(super) commits: Range<u32>,
}

/// What a thread is about to do, roughly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    Ready,
    NotStarted,
    /// It has ended and all its stores are in memory.
    Ended,
    /// It does nothing more, or nothing more than wait for its stores.
    Over,
    /// It runs on without an operation on memory, from this instruction.
    Endless(u32),
}

/// What of the rest of a state decides what the operation of a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    Nothing,
    Memory(Loc),
    /// Whether a lock is free.
    Lock(Loc),
    /// The locations of an await, in a table of such lists.
    Several(u32),
    /// Whether a thread has not been started.
    IsFresh(ThreadId),
    /// Whether a thread has ended.
    HasEnded(ThreadId),
    /// Whether all buffers are empty.
    AllDrained,
}

/// Which locations a thread may still use.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Footprint {
    pub(super) reads: LocSet,
    /// Written in the same step.
    pub(super) writes_at_once: LocSet,
    /// Written through a buffer, not stored yet.
    pub(super) stores: LocSet,
    /// In the buffer.
    pub(super) pending: LocSet,
    /// Written otherwise than by locking and unlocking.
    pub(super) beside_locks: LocSet,
}

impl Footprint {
    pub(super) fn new<M: Model>(future: Future, buffer: &StoreBuffer) -> Self {
        let pending = buffer.pending().iter().fold(LocSet::default(), |set, store| set.union(LocSet::of(store.loc)));
        let at_once = future.updates.union(future.locks);
        Footprint {
            reads: future.loads.union(at_once),
            writes_at_once: if M::BUFFERS { at_once } else { at_once.union(future.stores) },
            stores: if M::BUFFERS { future.stores } else { LocSet::default() },
            pending,
            beside_locks: future.stores.union(future.updates),
        }
    }

    /// Everything that may still be written.
    pub(super) fn writes(&self) -> LocSet {
        self.writes_at_once.union(self.stores).union(self.pending)
    }

    /// The same, as far as it is in `live`.
    pub(super) fn within(&self, live: LocSet) -> Footprint {
        Footprint {
            reads: self.reads.intersection(live),
            writes_at_once: self.writes_at_once.intersection(live),
            stores: self.stores.intersection(live),
            pending: self.pending.intersection(live),
            beside_locks: self.beside_locks,
        }
    }
}

/// What an operation leads to when it finds what `key` stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) key: u32,
    pub(super) first: u32,
    pub(super) end: u32,
    /// The outcome for something else that it may find.
    pub(super) other: u32,
}

/// The local states of one thread.
pub(super) struct Locals {
    list: Vec<Local>,
    table: HashTable<u32>,
    /// How many stores all their buffers hold together.
    n_pending: usize,
}

impl Locals {
    pub(super) fn new() -> Self {
        Locals { list: Vec::with_capacity(32), table: HashTable::with_capacity(32), n_pending: 0 }
    }

    #[inline]
    pub(super) fn get(&self, local: u32) -> &Local {
        &self.list[local as usize]
    }

    pub(super) fn get_mut(&mut self, local: u32) -> &mut Local {
        &mut self.list[local as usize]
    }

    pub(super) fn find(&self, history: HistoryId, buffer: &StoreBuffer) -> Option<u32> {
        let same = |&other: &u32| self.get(other).history == history && self.get(other).buffer == *buffer;
        self.table.find(hash_of(history, buffer), same).copied()
    }

    pub(super) fn add(&mut self, local: Local) -> u32 {
        let number = u32::try_from(self.list.len()).expect("the limit on memory comes before 2^32 local states");
        let hash = hash_of(local.history, &local.buffer);
        self.n_pending += local.buffer.pending().len();
        self.list.push(local);
        let list = &self.list;
        self.table.insert_unique(hash, number, |&other| {
            let other = &list[other as usize];
            hash_of(other.history, &other.buffer)
        });
        number
    }

    /// How much memory they take, about.
    pub(super) fn memory(&self) -> usize {
        let pending = self.n_pending * size_of::<Pending>();
        self.list.capacity() * size_of::<Local>() + pending + self.table.capacity() * 5
    }
}

fn hash_of(history: HistoryId, buffer: &StoreBuffer) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(Histories::hash_of(history));
    for store in buffer.pending() {
        hasher.write_u32(store.loc.0);
        hasher.write_u64(store.value);
    }
    hasher.finish()
}

/// A number for where a thread is and what it has pending; others hardly have the same.
pub(super) fn place(words: &[Value], buffer: &StoreBuffer) -> u64 {
    let mut hasher = FxHasher::default();
    words.iter().for_each(|&word| hasher.write_u64(word));
    for store in buffer.pending() {
        hasher.write_u32(store.loc.0 << 2 | u32::from(store.release) << 1 | u32::from(store.after_barrier));
        hasher.write_u64(store.value);
    }
    hasher.write_u32(u32::from(buffer.has_barrier_at_end()) << 1 | u32::from(buffer.is_draining()));
    hasher.finish()
}

/// How `thread` stands, its buffer being empty or not.
pub(super) fn standing(status: Status, is_drained: bool) -> Standing {
    match status {
        Status::Ready(_) => Standing::Ready,
        Status::NotStarted => Standing::NotStarted,
        Status::Finished if is_drained => Standing::Ended,
        Status::Finished | Status::Discarded => Standing::Over,
        Status::Failed(teetotal_program::Failure::EndlessLoop { instruction }) => Standing::Endless(instruction),
        Status::Failed(_) | Status::FailedAwait(_) => Standing::Over,
    }
}

/// What decides what `op` of `thread` does; `several` numbers the locations of an await.
pub(super) fn look<S: Foresight>(
    subject: &S,
    thread: ThreadId,
    op: Op,
    buffer: &StoreBuffer,
    several: impl FnOnce(Vec<Loc>) -> u32,
) -> (Look, LocSet) {
    match op {
        // It finds its own store, whatever memory holds; others may come in only once that has left.
        Op::Load { loc, .. } | Op::Rmw { loc, .. } if buffer.newest(loc).is_some() => (Look::Nothing, LocSet::of(loc)),
        Op::Lock { loc, .. } => (Look::Lock(loc), LocSet::of(loc)),
        Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Unlock { loc, .. } => (Look::Memory(loc), LocSet::of(loc)),
        Op::Store { .. } | Op::Fence { .. } | Op::Choose { .. } => (Look::Nothing, LocSet::default()),
        Op::Spawn { thread, .. } => (Look::IsFresh(thread), LocSet::default()),
        Op::Join { thread, .. } => (Look::HasEnded(thread), LocSet::default()),
        Op::GlobalFence => (Look::AllDrained, LocSet::default()),
        Op::Await { .. } => {
            let mut locations = Vec::new();
            subject.awaited(thread, &mut locations);
            let set = locations.iter().fold(LocSet::default(), |set, &loc| set.union(LocSet::of(loc)));
            (Look::Several(several(locations)), set)
        }
    }
}

/// The values that the steps of one operation read, and what it wrote to memory.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) reads: Vec<Value>,
    pub(super) write: Option<(Loc, Value)>,
    last: Option<(Loc, Value)>,
}

impl Noted {
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.write = None;
    }
}

impl teetotal_memory::Recorder for Noted {
    fn event(&mut self, event: teetotal_memory::Event) -> teetotal_memory::EventId {
        self.reads.extend(event.read);
        self.last = event.loc.zip(event.written);
        // Equal buffers are to be equal, whoever filled them.
        teetotal_memory::EventId(u32::MAX)
    }

    fn committed(&mut self, _: teetotal_memory::EventId) {
        self.write = self.last;
    }

    fn step(&mut self, _: teetotal_memory::Step) {}
}
