//! Atomics and cells whose creation is an access, as in loom.
//!
//! Their constructors are not `const`: they record which thread creates the value, and when. So publishing a value on a
//! stack without synchronization is a data race, with or without the checked allocator.

use std::fmt;
use std::panic::Location;

use crate::identity::Identity;
use crate::runtime::{current, running};
use crate::sync::atomic::{self, Ordering};
use crate::{cell, held};

/// Records that the current thread creates the value with this identity.
fn made(identity: &Identity, place: &'static Location<'static>) {
    if running().is_some() {
        current(|execution| execution.construct(identity, place));
    }
}

macro_rules! forward {
    ($value:ty; $($fetch:ident)*) => {
        /// Loads the value.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, ordering: Ordering) -> $value {
            self.0.load(ordering)
        }

        /// Stores a value.
        #[inline(always)]
        #[track_caller]
        pub fn store(&self, value: $value, ordering: Ordering) {
            self.0.store(value, ordering);
        }

        /// Stores a value; returns the previous value.
        #[inline(always)]
        #[track_caller]
        pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
            self.0.swap(value, ordering)
        }

        /// Stores `new` if the value is `current`; returns the previous value, as an error on failure.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.0.compare_exchange(current, new, success, failure)
        }

        /// Like `compare_exchange`, but may fail spuriously.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.0.compare_exchange_weak(current, new, success, failure)
        }

        /// Like `compare_exchange`, with one ordering; returns the previous value.
        #[inline(always)]
        #[track_caller]
        pub fn compare_and_swap(&self, current: $value, new: $value, ordering: Ordering) -> $value {
            self.0.compare_and_swap(current, new, ordering)
        }

        /// Stores `f` of the value; returns the previous value, or the current one as an error if `f` returns `None`.
        #[inline(always)]
        #[track_caller]
        pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            self.0.fetch_update(success, failure, f)
        }

        /// Loads the value without synchronization.
        ///
        /// # Safety
        /// No other thread may write at the same time.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn unsync_load(&self) -> $value {
            // SAFETY: upheld by the caller.
            unsafe { self.0.unsync_load() }
        }

        /// Calls `f` with a mutable reference to the value.
        #[inline(always)]
        #[track_caller]
        pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
            self.0.with_mut(f)
        }

        /// Returns a mutable reference to the value.
        #[inline(always)]
        #[track_caller]
        pub fn get_mut(&mut self) -> &mut $value {
            self.0.get_mut()
        }

        /// Returns the value.
        #[inline(always)]
        #[track_caller]
        pub fn into_inner(self) -> $value {
            self.0.into_inner()
        }

        /// Returns a pointer to the value; accesses through it are not checked.
        pub const fn as_ptr(&self) -> *mut $value {
            self.0.as_ptr()
        }

        $(
            /// Performs the operation of the standard library of the same name; returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn $fetch(&self, value: $value, ordering: Ordering) -> $value {
                self.0.$fetch(value, ordering)
            }
        )*
    };
}

macro_rules! atomics {
    ($($name:ident $value:ty { $($fetch:ident)* })*) => {
        $(
            /// An atomic whose creation is an access.
            pub struct $name(atomic::$name);

            impl $name {
                /// Creates an atomic with this value.
                #[track_caller]
                pub fn new(value: $value) -> Self {
                    let new = $name(atomic::$name::new(value));
                    made(&new.0.identity, Location::caller());
                    new
                }

                forward! { $value; $($fetch)* }
            }

            impl Default for $name {
                #[track_caller]
                fn default() -> Self {
                    Self::new(Default::default())
                }
            }

            impl From<$value> for $name {
                #[track_caller]
                fn from(value: $value) -> Self {
                    Self::new(value)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )*
    };
    (integers $($name:ident $value:ty)*) => {
        atomics! {
            $($name $value {
                fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min
            })*
        }
    };
}

atomics! {
    AtomicBool bool { fetch_and fetch_nand fetch_or fetch_xor }
}

atomics! {
    integers
    AtomicU8 u8
    AtomicU16 u16
    AtomicU32 u32
    AtomicU64 u64
    AtomicUsize usize
    AtomicI8 i8
    AtomicI16 i16
    AtomicI32 i32
    AtomicI64 i64
    AtomicIsize isize
}

impl AtomicBool {
    /// Logical NOT; returns the previous value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.0.fetch_not(ordering)
    }
}

/// An atomic pointer whose creation is an access.
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// Creates an atomic with this pointer.
    #[track_caller]
    pub fn new(pointer: *mut T) -> Self {
        let new = AtomicPtr(atomic::AtomicPtr::new(pointer));
        made(&new.0.identity, Location::caller());
        new
    }

    forward! { *mut T; }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> Self {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A cell whose data is accessed without synchronization, and whose creation is an access.
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Creates a cell that holds `data`.
    #[track_caller]
    pub fn new(data: T) -> Self {
        let new = UnsafeCell(cell::UnsafeCell::new(data));
        made(&new.0.identity, Location::caller());
        new
    }

    /// Returns the data.
    #[inline(always)]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` with a pointer for reading; the access lasts as long as `f` runs.
    #[inline(always)]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(f)
    }

    /// Calls `f` with a pointer for reading and writing; the access lasts as long as `f` runs.
    #[inline(always)]
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(f)
    }

    /// Returns a pointer for reading; the access lasts as long as the pointer exists.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> held::ConstPtr<T> {
        self.0.get()
    }

    /// Returns a pointer for reading and writing; the access lasts as long as the pointer exists.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&self) -> held::MutPtr<T> {
        self.0.get_mut()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(data: T) -> Self {
        UnsafeCell::new(data)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
