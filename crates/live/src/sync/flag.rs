//! A replacement for `std::sync::atomic::AtomicBool`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;
use std::sync::atomic::Ordering;

use super::atomic::{
    assert_failure, assert_load, assert_store, exclusive, fail_spuriously, initial, is_searched, load, on_failure,
    read_unsynchronized, store, take, update,
};
use crate::entry::call;
use crate::identity::Identity;
use crate::request::{Cell, Function, Matter, Update};
use crate::runtime::current;
use crate::spurious::goes_wrong;
use crate::statics::own_ref;

/// A boolean that threads can share.
pub struct AtomicBool {
    real: real::AtomicBool,
    pub(crate) identity: Identity,
}

impl AtomicBool {
    /// Creates a cell that holds `value`.
    pub const fn new(value: bool) -> Self {
        AtomicBool { real: real::AtomicBool::new(value), identity: Identity::new() }
    }

    fn cell(&self) -> Cell {
        let key = self.identity.key();
        let initial = initial(&self.real, &self.identity).load(Ordering::Relaxed);
        Cell { key, initial: initial.into(), may_race: true }
    }

    /// Returns the cell outside of executions.
    fn own(&self) -> &real::AtomicBool {
        own_ref(&self.real)
    }

    /// Returns the cell outside of executions, which is about to be changed.
    fn written(&self) -> &real::AtomicBool {
        self.identity.note_outside();
        own_ref(&self.real)
    }

    #[track_caller]
    fn is_searched(&self) -> bool {
        is_searched(&self.identity, |value| own_ref(&self.real).store(value != 0, Ordering::Relaxed))
    }

    /// Performs the read-modify-write `function`, or `own` outside of executions; returns the previous value.
    #[inline]
    #[track_caller]
    fn update(
        &self,
        function: Function,
        operand: bool,
        ordering: Ordering,
        own: impl Fn(&real::AtomicBool, bool, Ordering) -> bool,
    ) -> bool {
        if !self.is_searched() {
            return own(self.written(), operand, ordering);
        }
        let place = Location::caller();
        call(|| update(self.cell(), Update::new(function, operand.into(), 1), ordering, Ordering::Relaxed, place)) != 0
    }

    /// Loads the value.
    #[inline]
    #[track_caller]
    pub fn load(&self, ordering: Ordering) -> bool {
        assert_load(ordering);
        if !self.is_searched() {
            return self.own().load(ordering);
        }
        let place = Location::caller();
        call(|| load(self.cell(), ordering, place)) != 0
    }

    /// Stores a value.
    #[inline]
    #[track_caller]
    pub fn store(&self, value: bool, ordering: Ordering) {
        assert_store(ordering);
        if !self.is_searched() {
            return self.written().store(value, ordering);
        }
        let place = Location::caller();
        call(|| store(self.cell(), value.into(), ordering, place));
    }

    /// Stores a value; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn swap(&self, value: bool, ordering: Ordering) -> bool {
        self.update(Function::Swap, value, ordering, real::AtomicBool::swap)
    }

    /// Logical AND; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, value: bool, ordering: Ordering) -> bool {
        self.update(Function::And, value, ordering, real::AtomicBool::fetch_and)
    }

    /// Logical NAND; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_nand(&self, value: bool, ordering: Ordering) -> bool {
        self.update(Function::Nand, value, ordering, real::AtomicBool::fetch_nand)
    }

    /// Logical OR; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, value: bool, ordering: Ordering) -> bool {
        self.update(Function::Or, value, ordering, real::AtomicBool::fetch_or)
    }

    /// Logical XOR; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, value: bool, ordering: Ordering) -> bool {
        self.update(Function::Xor, value, ordering, real::AtomicBool::fetch_xor)
    }

    /// Logical NOT; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.fetch_xor(true, ordering)
    }

    /// Stores `new` if the value is `current`; returns the previous value, as an error on failure.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        assert_failure(failure);
        if !self.is_searched() {
            let result = self.own().compare_exchange(current, new, success, failure);
            if result.is_ok() {
                self.identity.note_outside();
            }
            return result;
        }
        let place = Location::caller();
        let change = Update::new(Function::CompareExchange { expected: current.into() }, new.into(), 1);
        let old = call(|| update(self.cell(), change, success, failure, place)) != 0;
        if old == current { Ok(old) } else { Err(old) }
    }

    /// Like [`Self::compare_exchange`], but may fail spuriously; in a model up to the bound on spurious failures.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        assert_failure(failure);
        let place = Location::caller();
        if call(|| goes_wrong(Matter::Failure, place)) {
            return Err(call(|| fail_spuriously(self.cell(), success, failure, place)) != 0);
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// Like [`Self::compare_exchange`], with one ordering; returns the previous value.
    #[track_caller]
    pub fn compare_and_swap(&self, current: bool, new: bool, ordering: Ordering) -> bool {
        self.compare_exchange(current, new, ordering, on_failure(ordering)).unwrap_or_else(|old| old)
    }

    /// Stores `f` of the value; returns the previous value, or the current one as an error if `f` returns `None`.
    ///
    /// `f` is called again if another thread has written meanwhile, or if the exchange fails spuriously.
    #[inline]
    #[track_caller]
    pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, mut f: F) -> Result<bool, bool>
    where
        F: FnMut(bool) -> Option<bool>,
    {
        let mut old = self.load(failure);
        while let Some(new) = f(old) {
            match self.compare_exchange_weak(old, new, success, failure) {
                Ok(old) => return Ok(old),
                Err(other) => old = other,
            }
        }
        Err(old)
    }

    /// Loads the value without synchronization.
    ///
    /// # Safety
    /// No other thread may write at the same time.
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> bool {
        if self.is_searched() { read_unsynchronized(self.cell()) != 0 } else { self.own().load(Ordering::Relaxed) }
    }

    /// Calls `f` with a mutable reference to the value.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut bool) -> R) -> R {
        f(self.get_mut())
    }

    /// Returns a mutable reference to the value.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut bool {
        let taken = if self.is_searched() { Some(take(self.cell(), &self.identity)) } else { None };
        let value = exclusive(&mut self.real, &self.identity).get_mut();
        if let Some(taken) = taken {
            *value = taken != 0;
        }
        value
    }

    /// Returns the value.
    #[track_caller]
    pub fn into_inner(mut self) -> bool {
        *self.get_mut()
    }

    /// Returns a pointer to the value; accesses through it are not checked.
    pub const fn as_ptr(&self) -> *mut bool {
        self.real.as_ptr()
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        AtomicBool::new(false)
    }
}

impl From<bool> for AtomicBool {
    fn from(value: bool) -> Self {
        AtomicBool::new(value)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = current(|execution| execution.written(self.identity.known(execution)?)).flatten();
        value.map_or_else(|| self.own().load(Ordering::Relaxed), |value| value != 0).fmt(f)
    }
}
