//! A replacement for `thread_local!`: values that belong to a thread.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::fmt;
use std::mem::needs_drop;

use rustc_hash::FxHashMap;
use teetotal_program::ThreadId;

use crate::runtime::{current, note_effect, running};

/// Values by their thread, if any, and by name. A value that was dropped is `None`.
pub(crate) type Kept = FxHashMap<(Option<ThreadId>, usize), Option<Local>>;

/// A value that belongs to an execution.
pub(crate) struct Local {
    value: Box<dyn Any>,
    /// Whether it is dropped when its thread has ended.
    needs_drop: bool,
}

/// A thread-local value.
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The error of an access to a value that was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { real, init }
    }

    /// Calls `f` with the value of the current thread.
    ///
    /// # Panics
    /// If the value was dropped, because the thread is ending.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("a value of a thread is used before it is gone")
    }

    /// Calls `f` with the value of the current thread, unless it was dropped.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if running().is_none() {
            return self.real.try_with(f).map_err(|_| AccessError);
        }
        let value = value((running(), std::ptr::from_ref(self).cast::<()>() as usize), self.init).ok_or(AccessError)?;
        // SAFETY: values are dropped only when the thread has ended, or all of them with the execution.
        Ok(f(unsafe { &*value }))
    }

    /// Calls `f` with the value of the current thread, which is `first` if there was none; otherwise `f` also receives
    /// `first`.
    ///
    /// # Panics
    /// If the value was dropped, because the thread is ending.
    fn with_first<R>(&'static self, first: T, f: impl FnOnce(Option<T>, &T) -> R) -> R {
        let mut first = Some(first);
        let name = (running(), std::ptr::from_ref(self).cast::<()>() as usize);
        let value = value(name, || first.take().expect("it is made once")).ok_or(AccessError);
        let value = value.expect("a value of a thread is used before it is gone");
        // SAFETY: as in `try_with`.
        f(first, unsafe { &*value })
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Replaces the value, without initializing it first.
    pub fn set(&'static self, value: T) {
        if running().is_none() {
            return self.real.set(value);
        }
        self.with_first(Cell::new(value), |value, cell| {
            if let Some(value) = value {
                cell.set(value.into_inner());
            }
        });
    }

    /// Returns the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value and leaves the default in its place.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the value; returns the previous value.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with a mutable reference to the value.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Replaces the value, without initializing it first.
    pub fn set(&'static self, value: T) {
        if running().is_none() {
            return self.real.set(value);
        }
        self.with_first(RefCell::new(value), |value, cell| {
            if let Some(value) = value {
                *cell.borrow_mut() = value.into_inner();
            }
        });
    }

    /// Takes the value and leaves the default in its place.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the value; returns the previous value.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Returns the value with this name in the current execution, initialized at first use; `None` if it was dropped.
pub(crate) fn value<T: 'static>(name: (Option<ThreadId>, usize), init: impl FnOnce() -> T) -> Option<*const T> {
    current(|execution| {
        let known =
            |kept: &Option<Local>| kept.as_ref()?.value.downcast_ref::<Box<T>>().map(|value| &raw const **value);
        if let Some(value) = execution.kept.borrow().get(&name) {
            return known(value);
        }
        // Its initializer may use other values.
        let made = Box::new(execution.lend(init));
        let address = std::ptr::from_ref(&*made) as usize;
        execution.values.borrow_mut().push(address..address + size_of::<T>());
        note_effect();
        if let Entry::Vacant(vacant) = execution.kept.borrow_mut().entry(name) {
            let local = Local { value: Box::new(made), needs_drop: needs_drop::<T>() };
            return known(vacant.insert(Some(local)));
        }
        // Another thread has initialized it meanwhile.
        execution.lend(|| drop(made));
        known(execution.kept.borrow().get(&name)?)
    })
    .flatten()
}

/// Returns whether the current execution has values, of any thread.
pub(crate) fn has_kept() -> bool {
    current(|execution| !execution.kept.borrow().is_empty()).unwrap_or(false)
}

/// Drops the values of the current thread, which has ended.
pub(crate) fn drop_locals() {
    current(|execution| {
        let Some(thread) = running() else { return };
        let next = || {
            let mut kept = execution.kept.borrow_mut();
            let is_dropped = |value: &Option<Local>| value.as_ref().is_some_and(|local| local.needs_drop);
            let own = kept.iter_mut().filter(|(name, value)| name.0 == Some(thread) && is_dropped(value));
            own.min_by_key(|(name, _)| **name).and_then(|(_, value)| value.take())
        };
        while let Some(value) = next() {
            execution.lend(|| drop(value));
        }
    });
}

/// Declares thread-locals like `std::thread_local!`, with a value for each thread of a model.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = const $init:block; $($rest:tt)*) => {
        $crate::__thread_local!($(#[$attribute])* $vis $name, $t, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = const $init:block) => {
        $crate::__thread_local!($(#[$attribute])* $vis $name, $t, $init);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::__thread_local!($(#[$attribute])* $vis $name, $t, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => {
        $crate::__thread_local!($(#[$attribute])* $vis $name, $t, $init);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __thread_local {
    ($(#[$attribute:meta])* $vis:vis $name:ident, $t:ty, $init:expr) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn init() -> $t {
                $init
            }
            ::std::thread_local!(static REAL: $t = init());
            $crate::thread::LocalKey::new(&REAL, init)
        };
    };
}
