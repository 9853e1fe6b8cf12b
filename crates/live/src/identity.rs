//! The identity of cells, also after a move.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::generation::is_under_way;
use crate::misuse::Misuse;
use crate::runtime::{Execution, current, is_in_model};

/// How many bits of a stamp number the cells of an execution; the others number executions, from 1 on.
const KEY_BITS: u32 = 24;

/// The stamp of a cell that was changed outside of all models.
const OUTSIDE: u64 = 1;

/// The number of a cell in the execution that it is used in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key(u32);

impl Key {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    #[cfg(test)]
    pub(crate) fn at(index: u32) -> Self {
        Key(index)
    }
}

impl Execution {
    /// Returns a key for a location that belongs to no object.
    pub(crate) fn new_freed_key(&self) -> Key {
        Key(self.new_slot())
    }
}

/// The identity of a cell: it moves with the cell, and is set when the cell is first used in an execution.
///
/// A cell in a static has no stamp, since models on several OS threads may use it: it is identified by its address.
pub(crate) struct Identity(AtomicU64);

impl Identity {
    pub(crate) const fn new() -> Self {
        Identity(AtomicU64::new(0))
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Returns the key of the cell in the current execution.
    pub(crate) fn key(&self) -> Key {
        current(|execution| self.key_in(execution)).expect("a key is asked for in a model")
    }

    fn key_in(&self, execution: &Execution) -> Key {
        if execution.heap.has_closed() && !execution.open_for_operation(self.address()) {
            execution.misused.set(Some(Misuse::Freed(self.address())));
            return Key(execution.new_slot());
        }
        let stamp = self.0.load(Ordering::Relaxed);
        if stamp >> KEY_BITS == execution.generation.get() {
            let key = Key(stamp as u32 & ((1 << KEY_BITS) - 1));
            execution.see(key, self.address());
            return key;
        }
        if execution.program.has_static(self.address()) {
            if stamp == OUTSIDE {
                execution.misused.set(Some(Misuse::StaticChanged));
            }
            return self.key_of_static(execution);
        }
        if execution.heap.freed_at(self.address()).is_some() {
            execution.misused.set(Some(Misuse::Freed(self.address())));
            return Key(execution.new_slot());
        }
        if stamp != 0 && execution.heap.is_reused(self.address()) {
            execution.misused.set(Some(Misuse::Reused(self.address())));
            return Key(execution.new_slot());
        }
        let key = execution.new_slot();
        let own = execution.generation.get() << KEY_BITS | u64::from(key);
        // An execution on another OS thread may be first.
        if stamp == 0 && self.0.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            execution.see(Key(key), self.address());
            return Key(key);
        }
        if execution.program.knows_statics() {
            execution.misused.set(Some(Misuse::Captured));
        }
        self.key_of_static(execution)
    }

    /// Records that the cell is created in the current execution; returns its key.
    pub(crate) fn begin(&self, execution: &Execution) -> Option<Key> {
        let key = execution.new_slot();
        let own = execution.generation.get() << KEY_BITS | u64::from(key);
        self.0.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed).is_ok().then_some(Key(key))
    }

    fn key_of_static(&self, execution: &Execution) -> Key {
        *execution.statics.borrow_mut().entry(self.address()).or_insert_with(|| Key(execution.new_slot()))
    }

    /// Returns the key, if the cell was used in this execution.
    pub(crate) fn known(&self, execution: &Execution) -> Option<Key> {
        let stamp = self.0.load(Ordering::Relaxed);
        if stamp >> KEY_BITS == execution.generation.get() {
            return Some(Key(stamp as u32 & ((1 << KEY_BITS) - 1)));
        }
        execution.statics.borrow().get(&self.address()).copied()
    }

    /// Returns whether the cell, which has a key, is identified by its address, as one in a static is.
    #[inline]
    pub(crate) fn is_known_by_address(&self) -> bool {
        self.0.load(Ordering::Relaxed) <= OUTSIDE
    }

    /// Refuses code outside of all models that uses what a model is using.
    ///
    /// # Panics
    /// If it does so.
    #[track_caller]
    pub(crate) fn refuse_outsiders(&self) {
        let stamp = self.0.load(Ordering::Relaxed);
        assert!(
            stamp == 0 || is_in_model() || !is_under_way(stamp >> KEY_BITS),
            "an object of a model was used by a thread outside of the model\n\
             help: start the threads of a model with `teetotal::thread::spawn` or `scope`; what a model uses cannot be \
             used elsewhere while the model runs"
        );
    }

    /// Code that is not part of a model may change the cell.
    pub(crate) fn note_outside(&self) {
        if !is_in_model() {
            // One that a model has used keeps its stamp, which tells as much.
            let _ = self.0.compare_exchange(0, OUTSIDE, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Makes it a new cell; returns the key that it had in this execution.
    pub(crate) fn renew(&self) -> Option<Key> {
        let old = current(|execution| {
            let old = self.known(execution);
            execution.statics.borrow_mut().remove(&self.address());
            old
        });
        self.0.store(0, Ordering::Relaxed);
        old.flatten()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}
