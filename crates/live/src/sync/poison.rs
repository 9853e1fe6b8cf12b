//! Poisoning: whether a thread panicked while it held a lock.
//!
//! The flag of the standard library is an atomic of its own with relaxed accesses: set by a guard that is dropped while
//! its thread unwinds, before the lock is released, and read by every thread that takes the lock. As long as it changes
//! only under the lock, a thread that takes the lock knows it without an operation. `clear_poison` changes it at any
//! time; models that call it have every access to it searched.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use teetotal_program::Order;

use crate::hidden::{Kind, Name};
use crate::identity::Identity;
use crate::lifetimes::orders_frees;
use crate::request::{Cell, What};
use crate::runtime::{current, is_active, perform};
use crate::statics::own_ref;

/// The flag of a lock.
pub(super) struct Poison {
    identity: Identity,
    /// The flag outside of models.
    real: AtomicBool,
}

/// Returns the name that is concrete if a flag may change while the lock is not held.
fn is_cleared() -> Name {
    static CLEARED: u8 = 0;
    Name::new(Kind::Thing, &CLEARED)
}

impl Poison {
    /// No thread has panicked.
    pub(super) const fn new() -> Self {
        Poison { identity: Identity::new(), real: AtomicBool::new(false) }
    }

    fn cell(&self) -> Cell {
        let initial = self.real.load(Ordering::Relaxed).into();
        Cell { key: self.identity.key(), initial, may_race: orders_frees() }
    }

    /// Returns whether the flag is set, as far as a thread knows that no other thread can change.
    pub(super) fn known(&self) -> bool {
        let written = current(|execution| execution.written(self.identity.known(execution)?)).flatten();
        written.map_or_else(|| own_ref(&self.real).load(Ordering::Relaxed), |flag| flag != 0)
    }

    /// Returns whether the flag is set, for a thread that holds the lock.
    pub(super) fn get_locked(&self, place: &'static Location<'static>) -> bool {
        let is_searched = is_active() && current(|execution| execution.is_open(is_cleared())).unwrap_or(false);
        if is_searched { self.get(place) } else { self.known() }
    }

    /// Returns whether the flag is set.
    pub(super) fn get(&self, place: &'static Location<'static>) -> bool {
        if !is_active() {
            return self.known();
        }
        perform(What::Load { at: self.cell(), order: Order::Relaxed }, place) != 0
    }

    /// Sets the flag of `lock`.
    pub(super) fn set(&self, lock: &Identity, place: &'static Location<'static>) {
        self.store(true, lock, place);
    }

    /// Clears the flag of `lock`.
    pub(super) fn clear(&self, lock: &Identity, place: &'static Location<'static>) {
        if is_active() {
            current(|execution| execution.expose(is_cleared()));
        }
        self.store(false, lock, place);
    }

    fn store(&self, flag: bool, lock: &Identity, place: &'static Location<'static>) {
        if is_active() {
            perform(What::Store { at: self.cell(), value: flag.into(), order: Order::Relaxed }, place);
        } else {
            if own_ref(&self.real).swap(flag, Ordering::Relaxed) != flag {
                self.identity.note_outside();
                lock.note_outside();
            }
        }
    }
}
