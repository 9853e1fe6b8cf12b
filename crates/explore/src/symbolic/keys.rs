//! Control and memory of symbolic states, each stored once.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Threads and memory, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Key(pub(super) u32);

/// All that were ever met, as bytes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl Keys {
    pub(super) fn bytes_of(&self, key: Key) -> &[u8] {
        let number = key.0 as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    /// The number of these bytes, and whether they are new.
    pub(super) fn intern(&mut self, bytes: &[u8]) -> (Key, bool) {
        let hash = hash_of(bytes);
        if let Some(&known) = self.table.find(hash, |&number| self.bytes_of(Key(number)) == bytes) {
            return (Key(known), false);
        }
        let number = u32::try_from(self.ends.len()).expect("at most 2^32 states are stored");
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        let (all, ends) = (&self.bytes, &self.ends);
        self.table.insert_unique(hash, number, |&number| {
            let number = number as usize;
            hash_of(&all[if number == 0 { 0 } else { ends[number - 1] }..ends[number]])
        });
        (Key(number), true)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes everything takes.
    pub(super) fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 5) as u64
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
