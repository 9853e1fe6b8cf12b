//! A set of rows of numbers, all of the same length.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The rows in the order in which they were added, and where to find each.
pub(super) struct Rows {
    words: Vec<u32>,
    length: usize,
    table: HashTable<u32>,
}

impl Rows {
    pub(super) fn new(length: usize) -> Self {
        Rows { words: Vec::with_capacity(64 * length), length, table: HashTable::with_capacity(64) }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn get(&self, row: u32) -> &[u32] {
        let start = row as usize * self.length;
        &self.words[start..start + self.length]
    }

    pub(super) fn has(&self, row: &[u32]) -> bool {
        self.table.find(hash_of(row), |&other| self.get(other) == row).is_some()
    }

    /// Adds a row, unless it is there; gives its number if it is new.
    pub(super) fn insert(&mut self, row: &[u32]) -> Option<u32> {
        let hash = hash_of(row);
        if self.table.find(hash, |&other| self.get(other) == row).is_some() {
            return None;
        }
        let number = u32::try_from(self.table.len()).expect("the limit on memory comes before 2^32 states");
        self.words.extend_from_slice(row);
        let (words, length) = (&self.words, self.length);
        self.table.insert_unique(hash, number, |&other| {
            let start = other as usize * length;
            hash_of(&words[start..start + length])
        });
        Some(number)
    }

    /// How much memory it takes.
    pub(super) fn memory(&self) -> usize {
        self.words.capacity() * 4 + self.table.capacity() * 5
    }
}

fn hash_of(row: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    let mut pairs = row.chunks_exact(2);
    for pair in &mut pairs {
        hasher.write_u64(u64::from(pair[0]) << 32 | u64::from(pair[1]));
    }
    pairs.remainder().iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}
