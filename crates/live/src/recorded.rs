//! Atomics and cells whose creation is an access, as it is in loom.
//!
//! Their constructors are not `const`: they know which thread makes the value, and when. So a value on a stack that is
//! published without synchronization is a race, with or without the checked allocator.

use std::fmt;
use std::panic::Location;

use crate::identity::Identity;
use crate::runtime::{current, running};
use crate::sync::atomic::{self, Ordering};
use crate::{cell, held};

/// The thread that runs makes the value that has this identity.
fn made(identity: &Identity, place: &'static Location<'static>) {
    if running().is_some() {
        current(|execution| execution.construct(identity, place));
    }
}

macro_rules! forward {
    ($value:ty; $($fetch:ident)*) => {
        /// Reads.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, ordering: Ordering) -> $value {
            self.0.load(ordering)
        }

        /// Writes.
        #[inline(always)]
        #[track_caller]
        pub fn store(&self, value: $value, ordering: Ordering) {
            self.0.store(value, ordering);
        }

        /// Writes; returns the previous value.
        #[inline(always)]
        #[track_caller]
        pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
            self.0.swap(value, ordering)
        }

        /// Writes `new` if the value is `current`.
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

        /// As `compare_exchange`, but it may fail spuriously.
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

        /// As `compare_exchange`, with one ordering and the old value alone.
        #[inline(always)]
        #[track_caller]
        pub fn compare_and_swap(&self, current: $value, new: $value, ordering: Ordering) -> $value {
            self.0.compare_and_swap(current, new, ordering)
        }

        /// Writes what `f` makes of the value, unless that is nothing.
        #[inline(always)]
        #[track_caller]
        pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            self.0.fetch_update(success, failure, f)
        }

        /// What it holds, without synchronization.
        ///
        /// # Safety
        /// No other thread may write at the same time.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn unsync_load(&self) -> $value {
            // SAFETY: the caller's.
            unsafe { self.0.unsync_load() }
        }

        /// Calls `f` with the value, which no other thread can access meanwhile.
        #[inline(always)]
        #[track_caller]
        pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
            self.0.with_mut(f)
        }

        /// The value, which no other thread can access meanwhile.
        #[inline(always)]
        #[track_caller]
        pub fn get_mut(&mut self) -> &mut $value {
            self.0.get_mut()
        }

        /// The value.
        #[inline(always)]
        #[track_caller]
        pub fn into_inner(self) -> $value {
            self.0.into_inner()
        }

        /// A pointer to the cell; what is done through it is not the search's affair.
        pub const fn as_ptr(&self) -> *mut $value {
            self.0.as_ptr()
        }

        $(
            /// As the method of the same name of the standard library; returns the previous value.
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
                /// A cell that holds `value`.
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

/// A pointer that threads may share, whose creation is an access.
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// A cell that holds `pointer`.
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

/// Data that is accessed without synchronization of its own, whose creation is an access.
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell around `data`.
    #[track_caller]
    pub fn new(data: T) -> Self {
        let new = UnsafeCell(cell::UnsafeCell::new(data));
        made(&new.0.identity, Location::caller());
        new
    }

    /// The data.
    #[inline(always)]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer, as long as `f` runs.
    #[inline(always)]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(f)
    }

    /// Reads and writes through a pointer, as long as `f` runs.
    #[inline(always)]
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(f)
    }

    /// A pointer to read through.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> held::ConstPtr<T> {
        self.0.get()
    }

    /// A pointer to read and write through.
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
