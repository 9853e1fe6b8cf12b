//! The states that are reached, each with the cheapest way known to it.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use teetotal_engine::Schedule;
use teetotal_program::ThreadId;

use crate::minimize::cost::Cost;

/// A state that is reached, and whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct StateId(u32);

/// The way to a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) cost: Cost,
    /// Who performed the last operation.
    pub(super) turn: Option<ThreadId>,
    /// The state before the last step, and the position of the step among those possible there.
    pub(super) last: Option<(StateId, u32)>,
}

/// All states that are reached; two that differ in whose turn it is are two.
#[derive(Default)]
pub(super) struct Reached {
    bytes: Vec<u8>,
    /// Where the bytes of each state end.
    ends: Vec<usize>,
    hashes: Vec<u64>,
    ways: Vec<Way>,
    table: HashTable<u32>,
}

impl Reached {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes all states are.
    pub(super) fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn bytes_of(&self, StateId(id): StateId) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.bytes[start..self.ends[id as usize]]
    }

    pub(super) fn way_to(&self, StateId(id): StateId) -> Way {
        self.ways[id as usize]
    }

    /// Takes in a state unless it is there and no dearer; gives it if the way to it is news.
    pub(super) fn offer(&mut self, bytes: &[u8], way: Way) -> Option<StateId> {
        let hash = hash_of(bytes, way.turn);
        let is_it = |&id: &u32| self.ways[id as usize].turn == way.turn && self.bytes_of(StateId(id)) == bytes;
        if let Some(&id) = self.table.find(hash, is_it) {
            let known = &mut self.ways[id as usize];
            let is_cheaper = way.cost < known.cost;
            if is_cheaper {
                *known = way;
            }
            return is_cheaper.then_some(StateId(id));
        }
        let id = u32::try_from(self.ends.len()).expect("the search gives up long before");
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        self.hashes.push(hash);
        self.ways.push(way);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, id, |&id| hashes[id as usize]);
        Some(StateId(id))
    }

    /// The steps that lead to a state, and one more.
    pub(super) fn schedule_to(&self, id: StateId, last: Option<u32>) -> Schedule {
        let mut choices: Vec<u32> = last.into_iter().collect();
        let mut way = self.way_to(id);
        while let Some((before, choice)) = way.last {
            choices.push(choice);
            way = self.way_to(before);
        }
        choices.reverse();
        Schedule::Choices(choices)
    }
}

fn hash_of(bytes: &[u8], turn: Option<ThreadId>) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.write_u32(turn.map_or(u32::MAX, |thread| u32::from(thread.0)));
    hasher.finish()
}
