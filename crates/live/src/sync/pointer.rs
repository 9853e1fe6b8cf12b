//! A look-alike of `std::sync::atomic::AtomicPtr`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;
use std::sync::atomic::Ordering;

use teetotal_program::Value;

use super::atomic::{is_searched, load, on_failure, read_unsynchronized, store, take, update};
use crate::identity::Identity;
use crate::request::{Cell, Function, Matter, Update};
use crate::runtime::current;
use crate::spurious::goes_wrong;

/// A pointer that threads may share.
pub struct AtomicPtr<T> {
    real: real::AtomicPtr<T>,
    identity: Identity,
}

/// The pointer as the search knows it.
fn raw<T>(pointer: *mut T) -> Value {
    pointer.expose_provenance() as Value
}

fn pointer<T>(raw: Value) -> *mut T {
    std::ptr::with_exposed_provenance_mut(raw as usize)
}

impl<T> AtomicPtr<T> {
    /// A cell that holds `pointer`.
    pub const fn new(pointer: *mut T) -> Self {
        AtomicPtr { real: real::AtomicPtr::new(pointer), identity: Identity::new() }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: raw(self.real.load(Ordering::Relaxed)), may_race: true }
    }

    #[track_caller]
    fn is_searched(&self) -> bool {
        is_searched(&self.identity, |value| self.real.store(pointer(value), Ordering::Relaxed))
    }

    /// Reads.
    #[track_caller]
    pub fn load(&self, ordering: Ordering) -> *mut T {
        if self.is_searched() { pointer(load(self.cell(), ordering)) } else { self.real.load(ordering) }
    }

    /// Writes.
    #[track_caller]
    pub fn store(&self, value: *mut T, ordering: Ordering) {
        if self.is_searched() { store(self.cell(), raw(value), ordering) } else { self.real.store(value, ordering) }
    }

    /// Writes, and gives what was there.
    #[track_caller]
    pub fn swap(&self, value: *mut T, ordering: Ordering) -> *mut T {
        if !self.is_searched() {
            return self.real.swap(value, ordering);
        }
        pointer(update(self.cell(), Update::new(Function::Swap, raw(value), 64), ordering, Ordering::Relaxed))
    }

    /// Writes `new` if the pointer is `current`.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        if !self.is_searched() {
            return self.real.compare_exchange(current, new, success, failure);
        }
        let function = Function::CompareExchange { expected: raw(current) };
        let old = pointer(update(self.cell(), Update::new(function, raw(new), 64), success, failure));
        if old == current { Ok(old) } else { Err(old) }
    }

    /// As [`Self::compare_exchange`], but it may fail for no reason; under the checker it does, as often as that is asked for.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        if goes_wrong(Matter::Failure, Location::caller()) {
            return Err(self.load(failure));
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// As [`Self::compare_exchange`], with one ordering and the old pointer alone.
    #[track_caller]
    pub fn compare_and_swap(&self, current: *mut T, new: *mut T, ordering: Ordering) -> *mut T {
        self.compare_exchange(current, new, ordering, on_failure(ordering)).unwrap_or_else(|old| old)
    }

    /// Writes what `f` makes of the pointer, until nobody has come between.
    #[track_caller]
    pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, mut f: F) -> Result<*mut T, *mut T>
    where
        F: FnMut(*mut T) -> Option<*mut T>,
    {
        let mut old = self.load(failure);
        while let Some(new) = f(old) {
            match self.compare_exchange(old, new, success, failure) {
                Ok(old) => return Ok(old),
                Err(other) => old = other,
            }
        }
        Err(old)
    }

    /// What it holds, without synchronization.
    ///
    /// # Safety
    /// No other thread may write at the same time.
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> *mut T {
        if self.is_searched() { pointer(read_unsynchronized(self.cell())) } else { self.real.load(Ordering::Relaxed) }
    }

    /// Calls `f` with the pointer, which nobody else can access meanwhile.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.get_mut())
    }

    /// The pointer, which nobody else can access meanwhile.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut *mut T {
        if self.is_searched() {
            *self.real.get_mut() = pointer(take(self.cell(), &self.identity));
        }
        self.real.get_mut()
    }

    /// The pointer.
    #[track_caller]
    pub fn into_inner(mut self) -> *mut T {
        *self.get_mut()
    }

    /// A pointer to the cell; what is done through it is not the search's affair.
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
        value.map_or_else(|| self.real.load(Ordering::Relaxed), pointer).fmt(f)
    }
}
