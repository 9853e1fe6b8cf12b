//! Look-alikes of `thread_local!` and `lazy_static!`: values that belong to a thread or to an execution.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use teetotal_program::{OnFailure, Order, ThreadId, Value};

use crate::hidden::unseen;
use crate::identity::Identity;
use crate::request::{Cell as Place, Function, Update, What};
use crate::runtime::{current, perform, running};

/// Values by the thread that they belong to, if they belong to one, and by name. One that is gone is nothing.
pub(crate) type Kept = FxHashMap<(Option<ThreadId>, usize), Option<Box<dyn Any>>>;

/// A value of each thread.
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value is gone already.
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

    /// Calls `f` with the value of the thread that runs.
    ///
    /// # Panics
    /// If the value is gone, because the thread is about to end.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("a value of a thread is used before it is gone")
    }

    /// The same, unless the value is gone already.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if running().is_none() {
            return self.real.try_with(f).map_err(|_| AccessError);
        }
        let value = value((running(), std::ptr::from_ref(self).cast::<()>() as usize), self.init).ok_or(AccessError)?;
        // SAFETY: values are dropped only when the thread has ended, or all of them with the execution.
        Ok(f(unsafe { &*value }))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Replaces the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// The value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// The value, which is replaced by the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the value, and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the value, to change it.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Replaces the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    /// The value, which is replaced by the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the value, and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// The value with this name in the execution that runs, made when it is first asked for; nothing if it is gone.
fn value<T: 'static>(name: (Option<ThreadId>, usize), init: impl FnOnce() -> T) -> Option<*const T> {
    current(|execution| {
        let known =
            |kept: &Option<Box<dyn Any>>| kept.as_ref()?.downcast_ref::<Box<T>>().map(|value| &raw const **value);
        if let Some(value) = execution.kept.borrow().get(&name) {
            return known(value);
        }
        // Making it may ask for others.
        let made = Box::new(init());
        let mut kept = execution.kept.borrow_mut();
        known(kept.entry(name).or_insert_with(|| Some(Box::new(made))))
    })
    .flatten()
}

/// Drops the values of the thread that runs, which has ended.
pub(crate) fn drop_locals() {
    current(|execution| {
        let Some(thread) = running() else { return };
        let next = || {
            let mut kept = execution.kept.borrow_mut();
            let own = kept.iter_mut().filter(|(name, value)| name.0 == Some(thread) && value.is_some());
            own.min_by_key(|(name, _)| **name).and_then(|(_, value)| value.take())
        };
        while let Some(value) = next() {
            drop(value);
        }
    });
}

/// A value that is made when it is first used, once in each execution of a model.
pub struct Lazy<T: 'static> {
    /// What the search knows it by, if who makes it can be told.
    identity: Identity,
    real: OnceLock<T>,
    init: fn() -> T,
}

/// What a cell of [`Lazy`] holds when the value is made.
const MADE: Value = Value::MAX;

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Lazy { identity: Identity::new(), real: OnceLock::new(), init }
    }

    /// The value.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        self.value(Location::caller())
    }

    fn value(&self, place: &'static Location<'static>) -> &T {
        let name = std::ptr::from_ref(self).cast::<()>() as usize;
        let value = current(|execution| {
            if execution.is_open(name) && crate::runtime::is_active() {
                self.make_once(place, name)
            } else {
                value((None, name), || unseen(name, None, self.init))
            }
        });
        match value.flatten() {
            // SAFETY: values of an execution are dropped with it, when none of its code runs any more.
            Some(value) => unsafe { &*value },
            None => self.real.get_or_init(self.init),
        }
    }

    /// The value, which one thread makes while others wait.
    fn make_once(&self, place: &'static Location<'static>, name: usize) -> Option<*const T> {
        let at = Place { key: self.identity.key(), initial: 0, may_race: false };
        if perform(What::Load { at, order: Order::Acquire }, place) != MADE {
            let holder = running().map_or(0, ThreadId::as_holder);
            let update = Update::new(Function::SwapUnless { done: MADE }, holder, 64);
            if perform(What::Lock { at, update, order: Order::Acquire, timed: false }, place) != MADE {
                let made = value((None, name), self.init);
                let update = Update::new(Function::Swap, MADE, 64);
                let on_failure = OnFailure::Load(Order::Relaxed);
                perform(What::Rmw { at, update, order: Order::Release, on_failure }, place);
                return made;
            }
        }
        value((None, name), self.init)
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.value(Location::caller())
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// As `std::thread_local!`, with a value of its own for each thread of a model.
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

/// As the macro of the crate of the same name, with a fresh value for each execution of a model.
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr;)*) => {
        $(
            $(#[$attribute])*
            $vis static $name: $crate::lazy_static::Lazy<$t> = {
                fn init() -> $t {
                    $init
                }
                $crate::lazy_static::Lazy::new(init)
            };
        )*
    };
}
