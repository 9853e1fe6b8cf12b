//! Which cell is which, wherever it is moved.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::generation::is_under_way;
use crate::runtime::{Execution, current, is_in_model};

/// How many bits of a stamp number the cells of an execution; the others number executions.
const KEY_BITS: u32 = 24;

/// The number of a cell in the execution that it is used in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key(u32);

impl Key {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a cell is known by: it moves with the cell, and is given when the cell is first used in an execution.
pub(crate) struct Identity(AtomicU64);

impl Identity {
    pub(crate) const fn new() -> Self {
        Identity(AtomicU64::new(0))
    }

    /// The key of the cell in the execution that runs.
    pub(crate) fn key(&self) -> Key {
        current(|execution| self.key_in(execution)).expect("a key is asked for in a model")
    }

    fn key_in(&self, execution: &Execution) -> Key {
        let stamp = self.0.load(Ordering::Relaxed);
        if stamp >> KEY_BITS == execution.generation.get() {
            return Key(stamp as u32 & ((1 << KEY_BITS) - 1));
        }
        let address = std::ptr::from_ref(self) as usize;
        if stamp != 0 {
            // It was there before the execution began, so it stays where it is.
            let key = *execution.strangers.borrow_mut().entry(address).or_insert_with(|| Key(execution.new_slot()));
            return key;
        }
        let key = execution.new_slot();
        let own = execution.generation.get() << KEY_BITS | u64::from(key);
        match self.0.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Key(key),
            // An execution on another thread was first.
            Err(_) => {
                execution.strangers.borrow_mut().insert(address, Key(key));
                Key(key)
            }
        }
    }

    /// The key, if the cell was used in this execution.
    pub(crate) fn known(&self, execution: &Execution) -> Option<Key> {
        let stamp = self.0.load(Ordering::Relaxed);
        if stamp >> KEY_BITS == execution.generation.get() {
            return Some(Key(stamp as u32 & ((1 << KEY_BITS) - 1)));
        }
        let address = std::ptr::from_ref(self) as usize;
        if stamp == 0 { None } else { execution.strangers.borrow().get(&address).copied() }
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
            "a value that a model uses was used by a thread that is no part of the model\n\
             help: start the threads of a model with `teetotal::thread::spawn` or `scope`; what a model uses cannot be \
             used elsewhere while the model runs"
        );
    }

    /// Makes it a new cell; gives the key that it had in this execution.
    pub(crate) fn renew(&self) -> Option<Key> {
        let old = current(|execution| {
            let old = self.known(execution);
            execution.strangers.borrow_mut().remove(&(std::ptr::from_ref(self) as usize));
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
