//! The states seen so far, in shards, with the way to each.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The number of shards is fixed, so that numbers of states do not depend on the number of workers.
pub(super) const SHARDS: usize = 16;

/// A stored state: which shard, and where in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StateId(u32);

impl StateId {
    fn new(shard: usize, local: usize) -> Self {
        StateId(u32::try_from(local * SHARDS + shard).expect("at most 2^32 states are stored"))
    }

    pub(super) fn shard(self) -> usize {
        self.0 as usize % SHARDS
    }

    fn local(self) -> usize {
        self.0 as usize / SHARDS
    }
}

/// How a state was first reached: the position of the step among those possible in the state before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) parent: Option<StateId>,
    pub(super) choice: u32,
}

/// All states whose hash falls into one shard.
#[derive(Default)]
pub(super) struct Shard {
    index: usize,
    bytes: Vec<u8>,
    /// Where the bytes of each state end.
    ends: Vec<u32>,
    /// Only the low half of the hash; the table finds the state, the bytes decide.
    hashes: Vec<u32>,
    ways: Vec<Way>,
    table: HashTable<u32>,
}

/// The states seen so far.
pub(super) struct Visited {
    pub(super) shards: Vec<Shard>,
}

impl Visited {
    pub(super) fn new() -> Self {
        Visited { shards: (0..SHARDS).map(|index| Shard { index, ..Shard::default() }).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.ends.len()).sum()
    }

    pub(super) fn bytes_of(&self, id: StateId) -> &[u8] {
        self.shards[id.shard()].bytes_at(id.local())
    }

    pub(super) fn contains(&self, hash: u64, bytes: &[u8]) -> bool {
        self.shards[shard_of(hash)].find(hash, bytes).is_some()
    }

    pub(super) fn way_to(&self, id: StateId) -> Way {
        self.shards[id.shard()].ways[id.local()]
    }

    /// Whether a shard comes near the end of what its numbers can name.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.shards.iter().any(|shard| shard.bytes.len() > 1 << 31 || shard.ends.len() > 1 << 27)
    }

    /// How much memory it all takes.
    pub(super) fn memory(&self) -> u64 {
        let shard = |s: &Shard| {
            s.bytes.capacity()
                + s.ends.capacity() * 4
                + s.hashes.capacity() * 4
                + s.ways.capacity() * 12
                + s.table.capacity() * 5
        };
        self.shards.iter().map(shard).sum::<usize>() as u64
    }
}

impl Shard {
    fn bytes_at(&self, local: usize) -> &[u8] {
        let start = if local == 0 { 0 } else { self.ends[local - 1] as usize };
        &self.bytes[start..self.ends[local] as usize]
    }

    fn find(&self, hash: u64, bytes: &[u8]) -> Option<&u32> {
        let low = hash as u32;
        self.table.find(hash, |&local| self.hashes[local as usize] == low && self.bytes_at(local as usize) == bytes)
    }

    /// Adds a state, unless it is there.
    pub(super) fn insert(&mut self, hash: u64, bytes: &[u8], way: Way) -> Option<StateId> {
        if self.find(hash, bytes).is_some() {
            return None;
        }
        let local = self.ends.len();
        self.bytes.extend_from_slice(bytes);
        self.ends.push(u32::try_from(self.bytes.len()).expect("a shard holds at most 4 GiB of states"));
        self.hashes.push(hash as u32);
        self.ways.push(way);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, local as u32, |&l| spread(hashes[l as usize]));
        Some(StateId::new(self.index, local))
    }
}

/// The hash of a packed state. The low half is what is stored; the rest follows from it.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    spread((hash ^ hash >> 32) as u32)
}

/// A hash of 64 bits that is a function of its low half, so that tables can grow without the states at hand.
fn spread(low: u32) -> u64 {
    u64::from(low.wrapping_mul(0x9e37_79b1)) << 32 | u64::from(low)
}

/// The shard that a hash falls into.
pub(super) fn shard_of(hash: u64) -> usize {
    (hash >> 28) as usize % SHARDS
}
