//! Replacements for `std::sync::{Once, OnceLock, LazyLock}`.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync as real;
use std::sync::atomic::{AtomicBool, Ordering};

use teetotal_program::{OnFailure, Order, Value};

use super::mutex::{holder, take};
use crate::erased::Erased;
use crate::identity::Identity;
use crate::request::{Cell, Function, Update, What};
use crate::runtime::{current, is_active, note_effect, perform, perform_in_drop, refuse_misuse, running};

/// The value of the cell of a completed [`Once`].
const DONE: Value = Value::MAX;
/// The value of the cell of a [`Once`] whose closure panicked.
pub(crate) const POISONED: Value = Value::MAX - 1;

/// One-time initialization.
pub struct Once {
    real: real::Once,
    identity: Identity,
}

/// The state that [`Once::call_once_force`] passes to its closure.
#[derive(Debug)]
pub struct OnceState(bool);

impl OnceState {
    /// Returns whether an earlier closure panicked.
    pub fn is_poisoned(&self) -> bool {
        self.0
    }
}

/// A guard that completes the [`Once`], or poisons it on a panic.
struct Finish<'o> {
    once: &'o Once,
    place: &'static Location<'static>,
    state: Value,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let (at, update) = (self.once.cell(), Update::new(Function::Swap, self.state, 64));
        let on_failure = OnFailure::Load(Order::Relaxed);
        perform_in_drop(What::Rmw { at, update, order: Order::Release, on_failure }, self.place);
    }
}

impl Once {
    /// Creates a `Once` whose closure has not run.
    pub const fn new() -> Self {
        Once { real: real::Once::new(), identity: Identity::new() }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: 0, may_race: true }
    }

    /// Returns the state in this execution, as far as the current thread has observed it.
    fn known(&self) -> Option<Value> {
        current(|execution| execution.written(self.identity.known(execution)?)).flatten()
    }

    /// Runs `f` unless a closure has completed, and waits for a closure that runs.
    ///
    /// # Panics
    /// If an earlier closure panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !is_active() {
            self.identity.note_outside();
            return self.real.call_once(f);
        }
        self.call(Location::caller(), |state| {
            assert!(!state.is_poisoned(), "Once instance has previously been poisoned");
            f();
        });
    }

    /// Runs `f` unless a closure has completed, even if an earlier one panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if !is_active() {
            self.identity.note_outside();
            return self.real.call_once_force(|state| f(&OnceState(state.is_poisoned())));
        }
        self.call(Location::caller(), f);
    }

    fn call(&self, place: &'static Location<'static>, f: impl FnOnce(&OnceState)) {
        if perform(What::Load { at: self.cell(), order: Order::Acquire }, place) == DONE {
            return;
        }
        let update = Update::new(Function::SwapUnless { done: DONE }, holder(), 64);
        let old = perform(What::Lock { at: self.cell(), update, order: Order::Acquire, timed: false }, place);
        if old != DONE {
            let mut finish = Finish { once: self, place, state: POISONED };
            f(&OnceState(old == POISONED));
            finish.state = DONE;
        }
    }

    /// Returns whether a closure has completed.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        if !is_active() {
            return self.real.is_completed();
        }
        let at = self.cell();
        let state = perform(What::Load { at, order: Order::Acquire }, Location::caller());
        state == DONE
    }

    /// Waits until the closure has completed.
    ///
    /// # Panics
    /// If the closure panicked.
    #[track_caller]
    pub fn wait(&self) {
        if !is_active() {
            return self.real.wait();
        }
        let state = self.await_at_least(POISONED, Location::caller());
        assert!(state == DONE, "Once instance has previously been poisoned");
    }

    /// Waits until a closure has completed, even if an earlier one panicked.
    #[track_caller]
    pub fn wait_force(&self) {
        if !is_active() {
            return self.real.wait_force();
        }
        self.await_at_least(DONE, Location::caller());
    }

    fn await_at_least(&self, state: Value, place: &'static Location<'static>) -> Value {
        let until = crate::request::Until::AtLeast(state);
        perform(What::Await { at: self.cell(), until, order: Order::Acquire, timed: false }, place)
    }
}

impl Default for Once {
    fn default() -> Self {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// A value that is set once.
///
/// In a model the value belongs to the execution, so a static is empty at the beginning of each.
pub struct OnceLock<T> {
    once: Once,
    real: real::OnceLock<T>,
}

// SAFETY: as for the type of the standard library; the value that belongs to an execution is used on its thread.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Creates an empty cell.
    pub const fn new() -> Self {
        OnceLock { once: Once::new(), real: real::OnceLock::new() }
    }

    /// Returns the value of this execution.
    fn value(&self) -> Option<&T> {
        let pointer = current(|execution| {
            let key = self.once.identity.known(execution)?;
            execution.once.borrow().get(&key).map(Erased::pointer)
        });
        // SAFETY: it was put there by `put`, and is there until the lock is dropped or the execution is over.
        pointer.flatten().map(|pointer| unsafe { &*pointer.cast::<T>() })
    }

    /// Returns whether the lock is used outside of executions, or was made with a value.
    #[track_caller]
    fn is_outside(&self) -> bool {
        if running().is_some() && self.real.get().is_some() {
            self.once.identity.key();
            refuse_misuse(Location::caller());
        }
        running().is_none() || self.real.get().is_some()
    }

    fn put(&self, value: T) {
        current(|execution| {
            let key = self.once.identity.key();
            let value = Erased::new(value);
            let address = value.pointer() as usize;
            execution.values.borrow_mut().push(address..address + size_of::<T>());
            note_effect();
            execution.once.borrow_mut().insert(key, value);
        });
    }

    /// Returns the value if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.is_outside() {
            return self.real.get();
        }
        if is_active() && !self.once.is_completed() {
            return None;
        }
        self.value()
    }

    /// Returns a mutable reference to the value.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.is_outside() {
            self.once.identity.note_outside();
            return self.real.get_mut();
        }
        take(&self.once.identity);
        let value: *const T = self.value()?;
        // SAFETY: the lock is borrowed exclusively, and the value is its own.
        Some(unsafe { &mut *value.cast_mut() })
    }

    /// Sets the value; returns `value` as an error if it is already set.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is made once"));
        value.map_or(Ok(()), Err)
    }

    /// Returns the value, initializing it with `f` if it is not set.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.init(|_| f())
    }

    /// Returns the value, initialized by `f` if it is not set; `f` receives whether it panicked before in this
    /// execution.
    #[track_caller]
    fn init(&self, f: impl FnOnce(&OnceState) -> T) -> &T {
        if self.is_outside() {
            self.once.identity.note_outside();
            return self.real.get_or_init(|| f(&OnceState(false)));
        }
        self.once.call(Location::caller(), |state| self.put(f(state)));
        self.value().expect("it was just set")
    }

    /// Waits until the value is set.
    #[track_caller]
    pub fn wait(&self) -> &T {
        if self.is_outside() {
            return self.real.wait();
        }
        self.once.wait_force();
        self.value().expect("it is set")
    }

    /// Returns the value if it is set.
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value if it is set.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        if self.is_outside() {
            self.once.identity.note_outside();
            return self.real.take();
        }
        take(&self.once.identity);
        self.remove()
    }

    fn remove(&mut self) -> Option<T> {
        let value = current(|execution| {
            let key = self.once.identity.renew()?;
            execution.once.borrow_mut().remove(&key)
        });
        // SAFETY: what is kept under this key is of this type.
        value.flatten().map(|value| unsafe { value.into_inner() })
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        if running().is_some() && self.real.get().is_none() {
            drop(self.remove());
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        OnceLock { once: Once::new(), real: value.into() }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

/// A value that is initialized at its first use.
pub struct LazyLock<T, F = fn() -> T> {
    lock: OnceLock<T>,
    /// The initializer, moved out when it is called; a static calls it once in each execution.
    init: ManuallyDrop<F>,
    /// Whether it was called outside of models and has not returned.
    has_panicked: AtomicBool,
}

// SAFETY: as for the type of the standard library; the function is called by the thread that makes the value.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `f` initializes.
    pub const fn new(f: F) -> Self {
        LazyLock { lock: OnceLock::new(), init: ManuallyDrop::new(f), has_panicked: AtomicBool::new(false) }
    }

    /// Returns the value, initializing it if necessary.
    ///
    /// # Panics
    /// If the initializer panicked before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.lock.init(|state| {
            let is_outside = !is_active();
            let has_panicked = state.is_poisoned() || is_outside && this.has_panicked.load(Ordering::Relaxed);
            assert!(!has_panicked, "LazyLock instance has previously been poisoned");
            if is_outside {
                this.has_panicked.store(true, Ordering::Relaxed);
            }
            // SAFETY: it is called once, or once in each execution if the lock is a static; a static's function is one
            // that captures nothing, or the lock was made in this execution.
            let init: F = unsafe { std::ptr::read(&raw const *this.init) };
            let value = init();
            if is_outside {
                this.has_panicked.store(false, Ordering::Relaxed);
            }
            value
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        let was_called = matches!(self.lock.once.known(), Some(DONE | POISONED));
        if !was_called && !*self.has_panicked.get_mut() && self.lock.real.get_mut().is_none() {
            // SAFETY: the function was not called, so that it is still there.
            unsafe { ManuallyDrop::drop(&mut self.init) };
        }
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
