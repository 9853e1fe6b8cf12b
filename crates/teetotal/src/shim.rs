//! The standard library in normal builds, and the checked types under `--cfg teetotal`.
//!
//! Write a crate with these paths instead of those of `std`, and run its models with
//! `RUSTFLAGS="--cfg teetotal" cargo test`. In every other build the paths are `std` itself, at no cost.
//!
//! Only [`cell::UnsafeCell`] has an interface of its own, since accesses through a pointer cannot be seen:
//! [`cell::UnsafeCell::with`] and [`cell::UnsafeCell::with_mut`] call a closure with it.
//!
//! ```
//! use teetotal::shim::cell::UnsafeCell;
//! use teetotal::shim::sync::Arc;
//! use teetotal::shim::sync::atomic::{AtomicUsize, Ordering};
//! use teetotal::shim::thread;
//!
//! let n = Arc::new(AtomicUsize::new(0));
//! let other = Arc::clone(&n);
//! thread::spawn(move || other.fetch_add(1, Ordering::Relaxed)).join().unwrap();
//! assert_eq!(n.load(Ordering::Relaxed), 1);
//!
//! let cell = UnsafeCell::new(1);
//! cell.with_mut(|data| unsafe { *data += 1 });
//! assert_eq!(cell.into_inner(), 2);
//! ```

#[cfg(teetotal)]
pub use teetotal_live::{future, hint, lazy_static, sync, thread, thread_local};

#[cfg(not(teetotal))]
pub use std::{future, hint, sync, thread, thread_local};

/// Cells.
#[cfg(teetotal)]
pub mod cell {
    pub use std::cell::{OnceCell, Ref, RefCell, RefMut};
    pub use teetotal_live::cell::Cell;
    pub use teetotal_live::cell::standard::UnsafeCell;
}

/// Cells.
#[cfg(not(teetotal))]
pub mod cell {
    pub use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};

    /// A cell whose data is accessed without synchronization.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Creates a cell that holds `data`.
        #[inline(always)]
        pub const fn new(data: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(data))
        }

        /// Returns the data.
        #[inline(always)]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Calls `f` with a pointer for reading.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Calls `f` with a pointer for reading and writing.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }

        /// Returns a mutable reference to the data.
        #[inline(always)]
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut()
        }

        /// Returns a pointer to the data.
        #[inline(always)]
        pub const fn get(&self) -> *mut T {
            self.0.get()
        }
    }

    impl<T> From<T> for UnsafeCell<T> {
        fn from(data: T) -> Self {
            UnsafeCell::new(data)
        }
    }
}
