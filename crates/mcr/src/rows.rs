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

    /// All rows in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.length)
    }

    /// The number of a row, if it is there.
    #[inline]
    pub(super) fn find(&self, row: &[u32]) -> Option<u32> {
        self.table.find(hash_of(row), |&other| self.get(other) == row).copied()
    }

    /// Adds a row, unless it is there; gives its number if it is new.
    pub(super) fn insert(&mut self, row: &[u32]) -> Option<u32> {
        let (number, is_new) = self.number(row);
        is_new.then_some(number)
    }

    /// The number of a row, which is added if it is not there, and whether it was not.
    #[inline]
    pub(super) fn number(&mut self, row: &[u32]) -> (u32, bool) {
        let hash = hash_of(row);
        if let Some(&known) = self.table.find(hash, |&other| self.get(other) == row) {
            return (known, false);
        }
        let number = u32::try_from(self.table.len()).expect("the limit on memory comes before 2^32 states");
        self.words.extend_from_slice(row);
        let (words, length) = (&self.words, self.length);
        self.table.insert_unique(hash, number, |&other| {
            let start = other as usize * length;
            hash_of(&words[start..start + length])
        });
        (number, true)
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.table.clear();
    }

    /// How many bytes so many rows of this length take, about.
    pub(super) fn bytes_of(&self, rows: usize) -> usize {
        rows * (4 * self.length + 5)
    }

    /// How much memory it takes.
    pub(super) fn memory(&self) -> usize {
        self.words.capacity() * 4 + self.table.capacity() * 5
    }
}

/// Some of the numbers of rows.
#[derive(Default)]
pub(super) struct Marks {
    bits: Vec<u64>,
    count: usize,
}

impl Marks {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a number; gives whether it is new.
    #[inline]
    pub(super) fn add(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += usize::from(is_new);
        is_new
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
