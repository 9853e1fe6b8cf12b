//! A replacement for `std::sync::Mutex`.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync as real;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use teetotal_program::{OnFailure, Order, ThreadId};

use super::lent::Lent;
use super::poison::Poison;
use crate::cell::access;
use crate::complaint::Kind;
use crate::entry::call;
use crate::identity::Identity;
use crate::request::{Cell, Function, Update, What};
use crate::runtime::{is_active, perform, perform_in_drop, running};
use crate::statics::{own, own_mut};

/// A mutual exclusion lock around data.
pub struct Mutex<T: ?Sized> {
    /// Locks outside of models.
    real: real::Mutex<()>,
    identity: Identity,
    poison: Poison,
    data: UnsafeCell<T>,
}

// SAFETY: as for the mutex of the standard library; the search gives the lock to one thread at a time.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// Access to the data of a locked [`Mutex`].
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// The lock outside of models.
    real: Option<real::MutexGuard<'a, ()>>,
    panicking: bool,
    lent: Lent,
    /// A guard stays in its thread.
    stays: PhantomData<*const ()>,
}

// SAFETY: a reference to the guard provides only references to the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

/// Returns the value of a lock that the current thread holds.
pub(super) fn holder() -> teetotal_program::Value {
    running().map_or(1, ThreadId::as_holder)
}

/// Takes exclusive access to a lock in the current thread, which races with unordered accesses.
#[track_caller]
pub(super) fn take(lock: &Identity) {
    if is_active() {
        access(lock.key(), Kind::WRITE);
    }
}

impl<T> Mutex<T> {
    /// Creates an unlocked lock around `data`.
    pub const fn new(data: T) -> Self {
        Mutex {
            real: real::Mutex::new(()),
            identity: Identity::new(),
            poison: Poison::new(),
            data: UnsafeCell::new(data),
        }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        take(&self.identity);
        let poisoned = self.poison.known();
        let data = self.data.into_inner();
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Returns a pointer to the data.
    fn data(&self) -> *mut T {
        // SAFETY: there is a value.
        unsafe { own(self.data.get()) }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: 0, may_race: true }
    }

    /// Waits for the lock and takes it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock_at(Location::caller())
    }

    pub(super) fn lock_at(&self, place: &'static Location<'static>) -> LockResult<MutexGuard<'_, T>> {
        if is_active() {
            call(|| {
                let update = Update::new(Function::CompareExchange { expected: 0 }, holder(), 64);
                perform(What::Lock { at: self.cell(), update, order: Order::Acquire, timed: false }, place)
            });
            return self.guard(None, place);
        }
        self.identity.refuse_outsiders();
        let real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        self.guard(Some(real), place)
    }

    /// Takes the lock if it is free, without waiting.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        let guard = if is_active() {
            let old = call(|| {
                let update = Update::new(Function::CompareExchange { expected: 0 }, holder(), 64);
                let on_failure = OnFailure::Load(Order::Relaxed);
                perform(What::Rmw { at: self.cell(), update, order: Order::Acquire, on_failure }, place)
            });
            if old != 0 {
                return Err(TryLockError::WouldBlock);
            }
            self.guard(None, place)
        } else {
            self.identity.refuse_outsiders();
            match self.real.try_lock() {
                Ok(real) => self.guard(Some(real), place),
                Err(TryLockError::Poisoned(poisoned)) => self.guard(Some(poisoned.into_inner()), place),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            }
        };
        guard.map_err(TryLockError::Poisoned)
    }

    fn guard<'a>(
        &'a self,
        real: Option<real::MutexGuard<'a, ()>>,
        place: &'static Location<'static>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let guard = MutexGuard {
            lock: self,
            real,
            panicking: std::thread::panicking(),
            lent: Lent::default(),
            stays: PhantomData,
        };
        if self.poison.get_locked(place) { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Returns a mutable reference to the data.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        take(&self.identity);
        let poisoned = self.poison.known();
        self.identity.note_outside();
        let data = own_mut(self.data.get_mut());
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }

    /// Returns whether a thread panicked while it held the lock.
    ///
    /// It may change at any time, unless the thread holds the lock.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.get(Location::caller())
    }

    /// Clears the poison flag.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.poison.clear(&self.identity, Location::caller());
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Releases the lock under the checker; returns the mutex.
    pub(super) fn free(mut self, place: &'static Location<'static>) -> &'a Mutex<T> {
        let lock = self.lock;
        self.end_loan();
        if self.real.is_none() {
            perform(What::Unlock { at: lock.cell(), order: Order::Release }, place);
        }
        std::mem::forget(self);
        lock
    }

    /// Ends the permission to change the data.
    fn end_loan(&mut self) {
        self.lent.end(|| self.lock.identity.key(), self.lock.data());
    }

    /// Waits with the lock outside of models.
    pub(super) fn wait_outside(
        mut self,
        place: &'static Location<'static>,
        wait: impl FnOnce(real::MutexGuard<'a, ()>) -> real::MutexGuard<'a, ()>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let lock = self.lock;
        let real = self.real.take();
        std::mem::forget(self);
        // A guard of an abandoned model has no lock outside, and nothing to wait for.
        lock.guard(real.map(wait), place)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.data() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        if self.real.is_some() {
            self.lock.identity.note_outside();
        }
        self.lent.begin(|| self.lock.identity.key(), self.lock.data());
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.lock.data() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let place = Location::caller();
        if !self.panicking && std::thread::panicking() {
            call(|| self.lock.poison.set(&self.lock.identity, place));
        }
        if self.real.is_none() && running().is_some() {
            self.end_loan();
            let at = self.lock.cell();
            call(|| perform_in_drop(What::Unlock { at, order: Order::Release }, place));
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(data: T) -> Self {
        Mutex::new(data)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("poisoned", &self.poison.known()).finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
