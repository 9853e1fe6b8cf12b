//! A replacement for `std::sync::RwLock`.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync as real;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use teetotal_program::{OnFailure, Order, Value};

use super::lent::Lent;
use super::mutex::{holder, take};
use super::poison::Poison;
use crate::hidden::{Kind, Name};
use crate::identity::Identity;
use crate::request::Function::AddUnless;
use crate::request::{Cell, Function, Matter, Update, What};
use crate::runtime::{current, is_active, perform, perform_in_drop, running};
use crate::statics::{own, own_mut};

/// A reader-writer lock.
pub struct RwLock<T: ?Sized> {
    /// Locks outside of models.
    real: real::RwLock<()>,
    identity: Identity,
    poison: Poison,
    data: UnsafeCell<T>,
}

// SAFETY: as for the lock of the standard library; the search keeps readers and writers apart.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// One reader in the value of the lock; the thread that writes is below it.
const READER: Value = 1 << 32;
const WRITER: Value = READER - 1;
/// One waiting writer, in models in which a thread takes a read lock while it holds one.
const WAITING_WRITER: Value = 1 << 48;
/// All waiting writers.
pub(crate) const WAITING_WRITERS: Value = !(WAITING_WRITER - 1);
/// All threads that hold the lock.
const HOLDERS: Value = WAITING_WRITER - 1;

/// Returns the name that is concrete if a thread takes a read lock while it holds one.
///
/// The standard library does not specify whether a reader may enter while a writer waits. This matters to a thread that
/// already reads: the writer waits for it, so it is blocked forever if it may not enter.
fn is_read_twice() -> Name {
    static TWICE: u8 = 0;
    Name::new(Kind::Thing, &TWICE)
}

/// Returns whether waiting writers are counted.
fn counts_writers() -> bool {
    current(|execution| execution.is_open(is_read_twice())).unwrap_or(false)
}

/// Shared access to the data of an [`RwLock`].
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<real::RwLockReadGuard<'a, ()>>,
}

/// Exclusive access to the data of an [`RwLock`].
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    real: Option<real::RwLockWriteGuard<'a, ()>>,
    panicking: bool,
    lent: Lent,
}

impl<T> RwLock<T> {
    /// Creates an unlocked lock around `data`.
    pub const fn new(data: T) -> Self {
        RwLock {
            real: real::RwLock::new(()),
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

impl<T: ?Sized> RwLock<T> {
    /// Returns a pointer to the data.
    fn data(&self) -> *mut T {
        // SAFETY: there is a value.
        unsafe { own(self.data.get()) }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: 0, may_race: true }
    }

    fn change(&self, function: Function, operand: Value, order: Order, place: &'static Location<'static>) -> Value {
        let update = Update::new(function, operand, 64);
        let on_failure = OnFailure::Load(Order::Relaxed);
        perform(What::Rmw { at: self.cell(), update, order, on_failure }, place)
    }

    /// Waits for shared access.
    ///
    /// A thread that already reads may be blocked forever if another thread waits to write.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        if !is_active() {
            self.identity.refuse_outsiders();
            return self.reads(Some(self.real.read().unwrap_or_else(PoisonError::into_inner)), place);
        }
        if self.is_read_here() {
            self.read_again(place);
        } else {
            self.lock(AddUnless { bits: WRITER }, READER, place);
        }
        self.reads(None, place)
    }

    /// Takes a read lock in a thread that already holds one.
    fn read_again(&self, place: &'static Location<'static>) {
        current(|execution| execution.expose(is_read_twice()));
        let bits = WRITER | WAITING_WRITERS;
        if self.change(AddUnless { bits }, READER, Order::Acquire, place) & bits == 0 {
            return;
        }
        let is_kept_out = perform(What::Choose { alternatives: 2, matter: Matter::Reader }, place) == 1;
        self.lock(AddUnless { bits: if is_kept_out { bits } else { WRITER } }, READER, place);
    }

    /// Returns whether the current thread already holds a read lock.
    fn is_read_here(&self) -> bool {
        let key = self.identity.key();
        current(|execution| Some(execution.readers.borrow().contains(&(running()?, key)))).flatten().unwrap_or(false)
    }

    /// Records one more read lock of the current thread.
    fn note_reader(&self) {
        let key = self.identity.key();
        current(|execution| execution.readers.borrow_mut().extend(running().map(|thread| (thread, key))));
    }

    /// Records one read lock less of the current thread.
    fn forget_reader(&self) {
        let key = self.identity.key();
        current(|execution| {
            let (mut readers, thread) = (execution.readers.borrow_mut(), running()?);
            let at = readers.iter().rposition(|&reader| reader == (thread, key))?;
            Some(readers.remove(at))
        });
    }

    fn lock(&self, function: Function, operand: Value, place: &'static Location<'static>) {
        let update = Update::new(function, operand, 64);
        perform(What::Lock { at: self.cell(), update, order: Order::Acquire, timed: false }, place);
    }

    /// Waits for exclusive access.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        if !is_active() {
            self.identity.refuse_outsiders();
            return self.writes(Some(self.real.write().unwrap_or_else(PoisonError::into_inner)), place);
        }
        if !counts_writers() {
            self.lock(AddUnless { bits: HOLDERS }, holder(), place);
            return self.writes(None, place);
        }
        let function = Function::AddOr { bits: HOLDERS, otherwise: WAITING_WRITER };
        if self.change(function, holder(), Order::Acquire, place) & HOLDERS != 0 {
            self.lock(AddUnless { bits: HOLDERS }, holder().wrapping_sub(WAITING_WRITER), place);
        }
        self.writes(None, place)
    }

    /// Takes shared access unless a writer holds the lock.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let real = if is_active() {
            let old = self.change(AddUnless { bits: WRITER }, READER, Order::Acquire, Location::caller());
            if old & WRITER != 0 {
                return Err(TryLockError::WouldBlock);
            }
            None
        } else {
            self.identity.refuse_outsiders();
            match self.real.try_read() {
                Ok(real) => Some(real),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            }
        };
        self.reads(real, Location::caller()).map_err(TryLockError::Poisoned)
    }

    /// Takes exclusive access unless the lock is held.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let real = if is_active() {
            let old = self.change(AddUnless { bits: HOLDERS }, holder(), Order::Acquire, Location::caller());
            if old & HOLDERS != 0 {
                return Err(TryLockError::WouldBlock);
            }
            None
        } else {
            self.identity.refuse_outsiders();
            match self.real.try_write() {
                Ok(real) => Some(real),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            }
        };
        self.writes(real, Location::caller()).map_err(TryLockError::Poisoned)
    }

    fn reads<'a>(
        &'a self,
        real: Option<real::RwLockReadGuard<'a, ()>>,
        place: &'static Location<'static>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        if real.is_none() && is_active() {
            self.note_reader();
        }
        let guard = RwLockReadGuard { lock: self, real };
        if self.poison.get_locked(place) { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn writes<'a>(
        &'a self,
        real: Option<real::RwLockWriteGuard<'a, ()>>,
        place: &'static Location<'static>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        let guard = RwLockWriteGuard { lock: self, real, panicking: std::thread::panicking(), lent: Lent::default() };
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

    /// Returns whether a thread panicked during exclusive access.
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

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Ends the permission to change the data.
    fn end_loan(&mut self) {
        self.lent.end(|| self.lock.identity.key(), self.lock.data());
    }

    /// Turns exclusive into shared access, with no writer in between.
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'a, T> {
        let lock = guard.lock;
        guard.end_loan();
        let Some(real) = guard.real.take() else {
            if is_active() {
                lock.change(Function::Add, READER.wrapping_sub(holder()), Order::Release, Location::caller());
                lock.note_reader();
            }
            std::mem::forget(guard);
            return RwLockReadGuard { lock, real: None };
        };
        drop(real);
        std::mem::forget(guard);
        RwLockReadGuard { lock, real: Some(lock.real.read().unwrap_or_else(PoisonError::into_inner)) }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: there is no writer as long as the guard exists.
        unsafe { &*self.lock.data() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: there is no other reader or writer as long as the guard exists.
        unsafe { &*self.lock.data() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        if self.real.is_some() {
            self.lock.identity.note_outside();
        }
        self.lent.begin(|| self.lock.identity.key(), self.lock.data());
        // SAFETY: as above.
        unsafe { &mut *self.lock.data() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.real.is_none() && running().is_some() {
            self.lock.forget_reader();
            let (at, update) = (self.lock.cell(), Update::new(Function::Sub, READER, 64));
            let on_failure = OnFailure::Load(Order::Relaxed);
            perform_in_drop(What::Rmw { at, update, order: Order::Release, on_failure }, Location::caller());
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let place = Location::caller();
        if !self.panicking && std::thread::panicking() {
            self.lock.poison.set(&self.lock.identity, place);
        }
        if self.real.is_none() && running().is_some() {
            self.end_loan();
            let (at, order) = (self.lock.cell(), Order::Release);
            if counts_writers() {
                let update = Update::new(Function::And, !WRITER, 64);
                perform_in_drop(What::Rmw { at, update, order, on_failure: OnFailure::Load(Order::Relaxed) }, place);
            } else {
                perform_in_drop(What::Unlock { at, order }, place);
            }
        }
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(data: T) -> Self {
        RwLock::new(data)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").field("poisoned", &self.poison.known()).finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
