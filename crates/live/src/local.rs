//! Look-alikes of `thread_local!` and `lazy_static!`: values that belong to a thread or to an execution.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use teetotal_program::ThreadId;

use crate::runtime::{current, running};

/// A value of each thread.
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value is gone already.
pub use std::thread::AccessError;

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { real, init }
    }

    /// Calls `f` with the value of the thread that runs.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match value((running(), std::ptr::from_ref(self).cast::<()>() as usize), self.init) {
            // SAFETY: values are dropped only when the thread has ended, or all of them with the execution.
            Some(value) => f(unsafe { &*value }),
            None => self.real.with(f),
        }
    }

    /// The same, unless the value is gone already.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if running().is_some() { Ok(self.with(f)) } else { self.real.try_with(f) }
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// The value with this name in the execution that runs, made when it is first asked for.
fn value<T: 'static>(name: (Option<ThreadId>, usize), init: fn() -> T) -> Option<*const T> {
    current(|execution| {
        let known = |kept: &dyn Any| kept.downcast_ref::<Box<T>>().map(|value| &raw const **value);
        if let Some(value) = execution.kept.borrow().get(&name) {
            return known(&**value);
        }
        // Making it may ask for others.
        let made = Box::new(init());
        let mut kept = execution.kept.borrow_mut();
        let value = kept.entry(name).or_insert_with(|| Box::new(made));
        known(&**value)
    })
    .flatten()
}

/// Drops the values of the thread that runs, which has ended.
pub(crate) fn drop_locals() {
    current(|execution| {
        let Some(thread) = running() else { return };
        let mut names: Vec<_> = execution.kept.borrow().keys().copied().filter(|name| name.0 == Some(thread)).collect();
        names.sort_unstable();
        for name in names {
            let value = execution.kept.borrow_mut().remove(&name);
            drop(value);
        }
    });
}

/// A value that is made when it is first used, once in each execution of a model.
pub struct Lazy<T: 'static> {
    real: OnceLock<T>,
    init: fn() -> T,
}

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Lazy { real: OnceLock::new(), init }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match value((None, std::ptr::from_ref(self).cast::<()>() as usize), self.init) {
            // SAFETY: values of an execution are dropped with it, when none of its code runs any more.
            Some(value) => unsafe { &*value },
            None => self.real.get_or_init(self.init),
        }
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
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = const { $init:expr } $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $t = $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn init() -> $t {
                $init
            }
            ::std::thread_local!(static REAL: $t = init());
            $crate::thread::LocalKey::new(&REAL, init)
        };
        $($crate::thread_local!($($rest)*);)?
    };
}

/// As the macro of the crate of the same name, with a fresh value for each execution of a model.
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr;)*) => {
        $(
            $(#[$attribute])*
            $vis static $name: $crate::Lazy<$t> = {
                fn init() -> $t {
                    $init
                }
                $crate::Lazy::new(init)
            };
        )*
    };
}
