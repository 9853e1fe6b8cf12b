//! How new states get into the store: at once, or in batches that several workers fill.
//!
//! Both ways number the states alike, and leave them in the queue in the same order.

use crate::visited::{SHARDS, StateId, Visited, Way, shard_of};

/// Where a worker finds states and leaves new ones.
pub(super) trait Store {
    fn visited(&self) -> &Visited;

    /// Takes in a state that may be new.
    fn offer(&mut self, bytes: &[u8], hash: u64, way: Way);
}

/// One worker alone: a new state is stored at once.
pub(super) struct AtOnce<'v> {
    pub(super) visited: &'v mut Visited,
    pub(super) queue: &'v mut Vec<StateId>,
}

impl Store for AtOnce<'_> {
    fn visited(&self) -> &Visited {
        self.visited
    }

    fn offer(&mut self, bytes: &[u8], hash: u64, way: Way) {
        self.queue.extend(self.visited.shards[shard_of(hash)].insert(hash, bytes, way));
    }
}

/// One of several workers: what may be new is kept until all of them are done.
pub(super) struct Later<'v> {
    pub(super) visited: &'v Visited,
    pub(super) batches: &'v mut Batches,
}

impl Store for Later<'_> {
    fn visited(&self) -> &Visited {
        self.visited
    }

    fn offer(&mut self, bytes: &[u8], hash: u64, way: Way) {
        if !self.visited.contains(hash, bytes) {
            let sequence = self.batches.next;
            self.batches.next += 1;
            self.batches.shards[shard_of(hash)].push(bytes, Record { end: 0, sequence, hash, way });
        }
    }
}

/// States on their way into the shards.
#[derive(Default)]
pub(super) struct Batches {
    shards: [Batch; SHARDS],
    /// The position of the next state among all that this round finds.
    next: u64,
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    records: Vec<Record>,
}

/// A state on its way into a shard.
#[derive(Clone, Copy)]
struct Record {
    /// Where its bytes end.
    end: usize,
    sequence: u64,
    hash: u64,
    way: Way,
}

impl Batches {
    /// Forgets what was found; the worker is the `worker`-th of its round.
    pub(super) fn clear(&mut self, worker: usize) {
        for batch in &mut self.shards {
            batch.bytes.clear();
            batch.records.clear();
        }
        self.next = (worker as u64) << 40;
    }

    /// Puts what is new of shard `index` into it; gives the new states with their positions in the round.
    pub(super) fn insert_into(&self, index: usize, shard: &mut crate::visited::Shard, new: &mut Vec<(u64, StateId)>) {
        let mut start = 0;
        let batch = &self.shards[index];
        for record in &batch.records {
            let id = shard.insert(record.hash, &batch.bytes[start..record.end], record.way);
            new.extend(id.map(|id| (record.sequence, id)));
            start = record.end;
        }
    }
}

impl Batch {
    fn push(&mut self, bytes: &[u8], record: Record) {
        self.bytes.extend_from_slice(bytes);
        self.records.push(Record { end: self.bytes.len(), ..record });
    }
}
