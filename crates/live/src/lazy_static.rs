//! A replacement for `lazy_static!`: values that belong to an execution.

use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

use teetotal_program::{OnFailure, Order, ThreadId, Value};

use crate::hidden::{Kind, Name, unseen};
use crate::identity::Identity;
use crate::local::value;
use crate::request::{Cell as Place, Function, Update, What};
use crate::runtime::{current, perform, running};

pub use crate::local::AccessError;
pub use crate::thread::{panicking, yield_now};

/// A value that is initialized at its first use, once in each execution of a model.
pub struct Lazy<T: 'static> {
    /// Its location in the search, if threads can observe which one initializes it.
    identity: Identity,
    real: OnceLock<T>,
    init: fn() -> T,
}

/// The value of the cell of a [`Lazy`] that is initialized.
const MADE: Value = Value::MAX;

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Lazy { identity: Identity::new(), real: OnceLock::new(), init }
    }

    /// Returns the value, initializing it if necessary.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        self.value(Location::caller())
    }

    fn value(&self, place: &'static Location<'static>) -> &T {
        let (name, address) = (Name::new(Kind::Thing, self), std::ptr::from_ref(self).cast::<()>() as usize);
        let value = current(|execution| {
            if execution.is_open(name) && crate::runtime::is_active() {
                self.make_once(place, address)
            } else {
                value((None, address), || unseen(name, None, self.init))
            }
        });
        match value.flatten() {
            // SAFETY: values of an execution are dropped with it, when none of its code runs any more.
            Some(value) => unsafe { &*value },
            None => self.real.get_or_init(self.init),
        }
    }

    /// Returns the value, which one thread initializes while others wait.
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

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// The statics of loom, whose values need not be `Sync`, since the threads of a model run one at a time.
pub mod lenient {
    use crate::runtime::current;

    /// A value that is initialized at its first use, once in each execution of a model.
    #[derive(Debug)]
    pub struct Lazy<T: 'static>(super::Lazy<T>);

    // SAFETY: it is used in models only, whose threads run one at a time.
    unsafe impl<T> Sync for Lazy<T> {}

    impl<T> Lazy<T> {
        #[doc(hidden)]
        pub const fn new(init: fn() -> T) -> Self {
            Lazy(super::Lazy::new(init))
        }

        /// Returns the value, initializing it if necessary.
        ///
        /// # Panics
        /// Outside of a model.
        #[track_caller]
        pub fn get(&'static self) -> &'static T {
            assert!(current(|_| ()).is_some(), "statics of loom are used in a model");
            self.0.get()
        }
    }
}

/// Declares lazily initialized statics like the crate `lazy_static`, with a fresh value for each execution of a model.
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr;)*) => {
        $($crate::__lazy_static!($crate, $(#[$attribute])* $vis $name, $t, $init);)*
    };
}

/// A static that has nothing but what its value has; the `Lazy` is that of a crate.
#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    ($of:tt, $(#[$attribute:meta])* $vis:vis $name:ident, $t:ty, $init:expr) => {
        $(#[$attribute])*
        #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations)]
        $vis struct $name {
            private: (),
        }
        #[allow(missing_docs)]
        $vis static $name: $name = $name { private: () };
        impl ::core::ops::Deref for $name {
            type Target = $t;
            #[track_caller]
            fn deref(&self) -> &$t {
                fn init() -> $t {
                    $init
                }
                static LAZY: $of::lazy_static::Lazy<$t> = $of::lazy_static::Lazy::new(init);
                LAZY.get()
            }
        }
    };
}
