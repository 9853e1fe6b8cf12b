//! The pending stores of one thread, in program order.
//!
//! One list serves TSO and PSO: the model says which entry may leave it next.
//! Store-store barriers are epochs: an entry says whether a barrier stands between it and the entry before it, so that
//! equal buffers have equal contents however many barriers were passed.

use teetotal_program::{Loc, Snapshot, Value, packed};

use crate::event::EventId;

/// A store that has not reached memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    pub loc: Loc,
    pub value: Value,
    /// The event that issued it.
    pub event: EventId,
    /// It may not leave before any earlier store.
    pub release: bool,
    /// A store-store barrier stands between it and the entry before it. Never set on the oldest entry.
    pub after_barrier: bool,
}

/// The pending stores of one thread.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StoreBuffer {
    pending: Vec<Pending>,
    /// A barrier stands after the newest entry. Never set while the buffer is empty.
    barrier_at_end: bool,
    /// The thread goes on only when the buffer is empty. Never set while it is.
    draining: bool,
}

impl StoreBuffer {
    /// The pending stores, oldest first.
    #[must_use]
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    pub(crate) fn pending_mut(&mut self) -> &mut [Pending] {
        &mut self.pending
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether the thread waits for the buffer to be empty before its next operation.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining
    }

    /// The newest pending store to `loc`, from which a load of the same thread forwards.
    #[must_use]
    pub fn newest(&self, loc: Loc) -> Option<&Pending> {
        self.pending.iter().rev().find(|p| p.loc == loc)
    }

    /// The position of the oldest pending store to `loc`.
    #[must_use]
    pub fn oldest(&self, loc: Loc) -> Option<usize> {
        self.pending.iter().position(|p| p.loc == loc)
    }

    /// Whether some pending store is older than the newest barrier.
    #[must_use]
    pub fn holds_store_before_newest_barrier(&self) -> bool {
        self.barrier_at_end || self.pending.iter().any(|p| p.after_barrier)
    }

    /// Whether a barrier stands after the newest store.
    #[must_use]
    pub fn has_barrier_at_end(&self) -> bool {
        self.barrier_at_end
    }

    /// Appends a store.
    pub(crate) fn push(&mut self, loc: Loc, value: Value, event: EventId, release: bool) {
        let after_barrier = std::mem::take(&mut self.barrier_at_end);
        self.pending.push(Pending { loc, value, event, release, after_barrier });
    }

    /// Passes a store-store barrier.
    pub(crate) fn pass_barrier(&mut self) {
        self.barrier_at_end = !self.pending.is_empty();
    }

    /// Holds the thread back until the buffer is empty.
    pub(crate) fn drain_before_next(&mut self) {
        self.draining = !self.pending.is_empty();
    }

    /// Takes out the store at `index`.
    pub(crate) fn remove(&mut self, index: usize) -> Pending {
        let taken = self.pending.remove(index);
        match self.pending.get_mut(index) {
            // A barrier before the store that left still stands, unless nothing is left before it.
            Some(next) => next.after_barrier = index > 0 && (next.after_barrier || taken.after_barrier),
            None => self.barrier_at_end = index > 0 && (self.barrier_at_end || taken.after_barrier),
        }
        self.draining &= !self.pending.is_empty();
        debug_assert!(self.check(), "the flags of a buffer are not normal after a store left");
        taken
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.barrier_at_end = false;
        self.draining = false;
    }

    fn check(&self) -> bool {
        let first_is_plain = self.pending.first().is_none_or(|p| !p.after_barrier);
        first_is_plain && !(self.pending.is_empty() && (self.barrier_at_end || self.draining))
    }
}

impl Snapshot for StoreBuffer {
    fn copy_from(&mut self, other: &Self) {
        self.pending.clear();
        self.pending.extend_from_slice(&other.pending);
        self.barrier_at_end = other.barrier_at_end;
        self.draining = other.draining;
    }

    fn save(&self, out: &mut Vec<u8>) {
        let flags = u64::from(self.barrier_at_end) | u64::from(self.draining) << 1;
        packed::put(out, (self.pending.len() as u64) << 2 | flags);
        for p in &self.pending {
            packed::put(out, u64::from(p.loc.0) << 2 | u64::from(p.release) << 1 | u64::from(p.after_barrier));
            packed::put(out, p.value);
        }
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        let head = packed::take(bytes);
        self.barrier_at_end = head & 1 != 0;
        self.draining = head & 2 != 0;
        self.pending.clear();
        for _ in 0..head >> 2 {
            let entry = packed::take(bytes);
            self.pending.push(Pending {
                loc: Loc((entry >> 2) as u32),
                value: packed::take(bytes),
                event: EventId(u32::MAX),
                release: entry & 2 != 0,
                after_barrier: entry & 1 != 0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use teetotal_generate::Rng;

    use super::*;

    fn buffer(stores: &[u32], barrier_before: &[usize]) -> StoreBuffer {
        let mut buffer = StoreBuffer::default();
        for (index, &loc) in stores.iter().enumerate() {
            if barrier_before.contains(&index) {
                buffer.pass_barrier();
            }
            buffer.push(Loc(loc), 1, EventId(0), false);
        }
        buffer
    }

    #[test]
    fn a_barrier_stays_until_nothing_is_left_before_it() {
        let mut b = buffer(&[0, 1, 2], &[1]);
        assert!(b.pending()[1].after_barrier);
        b.remove(1);
        assert!(b.pending()[1].after_barrier, "the barrier is between 0 and 2 as well");
        b.remove(0);
        assert!(!b.pending()[0].after_barrier);
        assert!(!b.holds_store_before_newest_barrier());
    }

    #[test]
    fn a_barrier_after_the_newest_store_belongs_to_the_next_one() {
        let mut b = buffer(&[0, 1], &[]);
        b.pass_barrier();
        b.remove(1);
        assert!(b.holds_store_before_newest_barrier());
        b.push(Loc(2), 1, EventId(0), false);
        assert!(b.pending()[1].after_barrier);
    }

    #[test]
    fn a_barrier_with_nothing_pending_leaves_no_mark() {
        let mut b = buffer(&[], &[]);
        b.pass_barrier();
        assert!(!b.holds_store_before_newest_barrier());
    }

    #[test]
    fn a_thread_sees_its_newest_store_and_the_oldest_leaves_first() {
        let mut b = StoreBuffer::default();
        for (loc, value) in [(0, 1), (1, 2), (0, 3)] {
            b.push(Loc(loc), value, EventId(0), false);
        }
        assert_eq!(b.newest(Loc(0)).map(|p| p.value), Some(3));
        assert_eq!(b.newest(Loc(1)).map(|p| p.value), Some(2));
        assert_eq!(b.newest(Loc(2)), None);
        assert_eq!((b.oldest(Loc(0)), b.oldest(Loc(1)), b.oldest(Loc(2))), (Some(0), Some(1), None));
        assert_eq!(b.remove(0).value, 1);
        assert_eq!(b.oldest(Loc(0)), Some(1));
    }

    #[test]
    fn a_thread_waits_until_the_last_store_has_left() {
        let mut b = buffer(&[0, 1], &[]);
        b.drain_before_next();
        b.remove(0);
        assert!(b.is_draining());
        b.remove(0);
        assert!(!b.is_draining());
        b.drain_before_next();
        assert!(!b.is_draining(), "there is nothing to wait for");
    }

    #[test]
    fn a_cleared_buffer_is_a_new_one() {
        let mut b = buffer(&[0, 1], &[1]);
        b.pass_barrier();
        b.drain_before_next();
        b.clear();
        assert_eq!(b, StoreBuffer::default());
    }

    /// What a buffer should be: every store with the number of barriers before it, which are counted and never forgotten.
    #[derive(Default)]
    struct Plain {
        stores: Vec<(u32, u64, u32)>,
        barriers: u32,
        /// How many stores the thread still waits for.
        waits_for: Vec<u64>,
    }

    /// Does the same at random to a buffer and to what it should be.
    fn both(seed: u64, mut each: impl FnMut(&StoreBuffer, &Plain)) {
        let mut rng = Rng::new(seed);
        let (mut buffer, mut plain) = (StoreBuffer::default(), Plain::default());
        for value in 0..40 {
            match rng.below(8) {
                0..=3 if !buffer.is_draining() => {
                    let (loc, release) = (rng.below(3) as u32, rng.percent(20));
                    buffer.push(Loc(loc), value, EventId(u32::MAX), release);
                    plain.stores.push((loc, value, plain.barriers));
                }
                4 => {
                    buffer.pass_barrier();
                    plain.barriers += 1;
                }
                5 if rng.percent(30) => {
                    buffer.drain_before_next();
                    plain.waits_for = plain.stores.iter().map(|store| store.1).collect();
                }
                _ if !buffer.is_empty() => {
                    let index = rng.below(buffer.pending().len());
                    let taken = buffer.remove(index);
                    let expected = plain.stores.remove(index);
                    assert_eq!((taken.loc.0, taken.value), (expected.0, expected.1));
                    plain.waits_for.retain(|&waiting| waiting != expected.1);
                }
                _ => {}
            }
            assert!(buffer.check());
            each(&buffer, &plain);
        }
    }

    #[test]
    fn the_marks_say_between_which_stores_a_barrier_stands() {
        for seed in 0..200 {
            both(seed, |buffer, plain| {
                let pending = buffer.pending();
                for (index, stores) in plain.stores.windows(2).enumerate() {
                    assert_eq!(pending[index + 1].after_barrier, stores[0].2 < stores[1].2, "seed {seed}");
                }
                let is_before_barrier = plain.stores.iter().any(|store| store.2 < plain.barriers);
                assert_eq!(buffer.holds_store_before_newest_barrier(), is_before_barrier, "seed {seed}");
                let at_end = plain.stores.last().is_some_and(|store| store.2 < plain.barriers);
                assert_eq!(buffer.has_barrier_at_end(), at_end, "seed {seed}");
                assert_eq!(buffer.is_draining(), !plain.waits_for.is_empty(), "seed {seed}");
            });
        }
    }

    #[test]
    fn a_packed_buffer_is_unpacked_as_it_was_and_others_have_other_bytes() {
        let mut known: BTreeMap<Vec<u8>, StoreBuffer> = BTreeMap::new();
        for seed in 0..100 {
            both(seed, |buffer, _| {
                let mut bytes = Vec::new();
                buffer.save(&mut bytes);
                // It forgets what it held before.
                let mut again = known.values().next_back().cloned().unwrap_or_default();
                let mut rest = &[&bytes[..], &[7]].concat()[..];
                again.load(&mut rest);
                assert_eq!((&again, rest), (buffer, &[7][..]), "seed {seed}");
                let mut copy = StoreBuffer::default();
                copy.copy_from(buffer);
                assert_eq!(&copy, buffer, "seed {seed}");
                assert_eq!(known.entry(bytes).or_insert_with(|| buffer.clone()), buffer, "seed {seed}");
            });
        }
        assert!(known.len() > 500, "few different buffers: {}", known.len());
    }
}
