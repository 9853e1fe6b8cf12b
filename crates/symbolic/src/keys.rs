//! Control and memory of symbolic states, each stored once.

use std::hash::Hasher;

use hashbrown::{HashMap, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use teetotal_program::{Rewind, ThreadId, Value};

use super::point::Point;

/// Threads and memory, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Key(pub(super) u32);

/// One thread, by number: where it stands, what its registers hold, whether it waits for its buffer, and whether it goes
/// on without a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct LocalState(u32);

impl LocalState {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All that were ever met, as bytes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    /// For each key, its threads one by one.
    locals: Vec<Box<[LocalState]>>,
    /// By what is said of [`LocalState`], and the thread.
    known_locals: HashMap<Box<[Value]>, LocalState, FxBuildHasher>,
}

impl Keys {
    pub(super) fn bytes_of(&self, key: Key) -> &[u8] {
        let number = key.0 as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    pub(super) fn locals_of(&self, key: Key) -> &[LocalState] {
        &self.locals[key.0 as usize]
    }

    /// The number of a point, which these bytes are.
    pub(super) fn intern<S: Rewind>(&mut self, point: &Point<S>, bytes: &[u8]) -> Key {
        let (key, is_new) = self.intern_bytes(bytes);
        if is_new {
            let n_words = point.subject.thread_words();
            let mut words = vec![0; n_words + 2];
            let locals = (0..point.draining.len()).map(|index| {
                let thread = ThreadId::at(index);
                words.fill(0);
                let is_exclusive = point.subject.exclusive() == Some(thread);
                words[0] = Value::from(point.draining[index]) | Value::from(is_exclusive) << 1;
                point.subject.save_thread(thread, &mut words[1..=n_words]);
                words[1 + n_words] = index as Value;
                let next = LocalState(self.known_locals.len() as u32);
                *self.known_locals.entry_ref(words.as_slice()).or_insert(next)
            });
            self.locals.push(locals.collect());
        }
        key
    }

    /// The number of these bytes, and whether they are new.
    fn intern_bytes(&mut self, bytes: &[u8]) -> (Key, bool) {
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

    /// How many bytes everything takes.
    pub(super) fn memory(&self) -> u64 {
        let n_threads = self.locals.first().map_or(0, |locals| locals.len());
        let locals = self.locals.len() * (16 + n_threads * 4) + self.known_locals.capacity() * 80;
        (self.bytes.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 5 + locals) as u64
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
