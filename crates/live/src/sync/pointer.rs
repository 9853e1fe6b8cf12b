//! A replacement for `std::sync::atomic::AtomicPtr`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;
use std::sync::atomic::Ordering;

use teetotal_program::Value;

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

/// A pointer that threads can share.
pub struct AtomicPtr<T> {
    real: real::AtomicPtr<T>,
    pub(crate) identity: Identity,
}

/// Returns the pointer for the search.
fn raw<T>(pointer: *mut T) -> Value {
    pointer.expose_provenance() as Value
}

fn pointer<T>(raw: Value) -> *mut T {
    std::ptr::with_exposed_provenance_mut(raw as usize)
}

impl<T> AtomicPtr<T> {
    /// Creates a cell that holds `pointer`.
    pub const fn new(pointer: *mut T) -> Self {
        AtomicPtr { real: real::AtomicPtr::new(pointer), identity: Identity::new() }
    }

    fn cell(&self) -> Cell {
        let key = self.identity.key();
        let initial = initial(&self.real, &self.identity).load(Ordering::Relaxed);
        Cell { key, initial: raw(initial), may_race: true }
    }

    /// Returns the cell outside of executions.
    fn own(&self) -> &real::AtomicPtr<T> {
        own_ref(&self.real)
    }

    /// Returns the cell outside of executions, which is about to be changed.
    fn written(&self) -> &real::AtomicPtr<T> {
        self.identity.note_outside();
        own_ref(&self.real)
    }

    #[track_caller]
    fn is_searched(&self) -> bool {
        is_searched(&self.identity, |value| own_ref(&self.real).store(pointer(value), Ordering::Relaxed))
    }

    /// Loads the value.
    #[inline]
    #[track_caller]
    pub fn load(&self, ordering: Ordering) -> *mut T {
        assert_load(ordering);
        if !self.is_searched() {
            return self.own().load(ordering);
        }
        let place = Location::caller();
        pointer(call(|| load(self.cell(), ordering, place)))
    }

    /// Stores a value.
    #[inline]
    #[track_caller]
    pub fn store(&self, value: *mut T, ordering: Ordering) {
        assert_store(ordering);
        if !self.is_searched() {
            return self.written().store(value, ordering);
        }
        let place = Location::caller();
        call(|| store(self.cell(), raw(value), ordering, place));
    }

    /// Stores a value; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn swap(&self, value: *mut T, ordering: Ordering) -> *mut T {
        if !self.is_searched() {
            return self.written().swap(value, ordering);
        }
        let (change, place) = (Update::new(Function::Swap, raw(value), 64), Location::caller());
        pointer(call(|| update(self.cell(), change, ordering, Ordering::Relaxed, place)))
    }

    /// Stores `new` if the pointer is `current`; returns the previous one, as an error on failure.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        assert_failure(failure);
        if !self.is_searched() {
            let result = self.own().compare_exchange(current, new, success, failure);
            if result.is_ok() {
                self.identity.note_outside();
            }
            return result;
        }
        let place = Location::caller();
        let change = Update::new(Function::CompareExchange { expected: raw(current) }, raw(new), 64);
        let old = pointer(call(|| update(self.cell(), change, success, failure, place)));
        if old == current { Ok(old) } else { Err(old) }
    }

    /// Like [`Self::compare_exchange`], but may fail spuriously; in a model up to the bound on spurious failures.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        assert_failure(failure);
        let place = Location::caller();
        if call(|| goes_wrong(Matter::Failure, place)) {
            return Err(pointer(call(|| fail_spuriously(self.cell(), success, failure, place))));
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// Like [`Self::compare_exchange`], with one ordering; returns the previous pointer.
    #[track_caller]
    pub fn compare_and_swap(&self, current: *mut T, new: *mut T, ordering: Ordering) -> *mut T {
        self.compare_exchange(current, new, ordering, on_failure(ordering)).unwrap_or_else(|old| old)
    }

    /// Stores `f` of the pointer; returns the previous one, or the current one as an error if `f` returns `None`.
    ///
    /// `f` is called again if another thread has written meanwhile, or if the exchange fails spuriously.
    #[inline]
    #[track_caller]
    pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, mut f: F) -> Result<*mut T, *mut T>
    where
        F: FnMut(*mut T) -> Option<*mut T>,
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
    pub unsafe fn unsync_load(&self) -> *mut T {
        if self.is_searched() { pointer(read_unsynchronized(self.cell())) } else { self.own().load(Ordering::Relaxed) }
    }

    /// Calls `f` with a mutable reference to the pointer.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.get_mut())
    }

    /// Returns a mutable reference to the pointer.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut *mut T {
        let taken = if self.is_searched() { Some(take(self.cell(), &self.identity)) } else { None };
        let value = exclusive(&mut self.real, &self.identity).get_mut();
        if let Some(taken) = taken {
            *value = pointer(taken);
        }
        value
    }

    /// Returns the pointer.
    #[track_caller]
    pub fn into_inner(mut self) -> *mut T {
        *self.get_mut()
    }

    /// Returns a pointer to the value; accesses through it are not checked.
    pub const fn as_ptr(&self) -> *mut *mut T {
        self.real.as_ptr()
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(pointer: *mut T) -> Self {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = current(|execution| execution.written(self.identity.known(execution)?)).flatten();
        value.map_or_else(|| self.own().load(Ordering::Relaxed), pointer).fmt(f)
    }
}
