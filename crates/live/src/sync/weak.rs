//! A replacement for `std::sync::Weak`.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync as real;

use teetotal_program::Order;

use super::arc::Arc;
use super::counts::Tag;

/// A weak reference to the value of an [`Arc`], which does not keep it alive.
pub struct Weak<T: ?Sized> {
    pub(super) value: ManuallyDrop<real::Weak<T>>,
    pub(super) tag: Tag,
}

impl<T> Weak<T> {
    /// Creates a weak reference to no value.
    pub const fn new() -> Self {
        Weak { value: ManuallyDrop::new(real::Weak::new()), tag: Tag::NONE }
    }
}

impl<T: ?Sized> Weak<T> {
    /// Returns the `Weak` of the standard library, without a change of the counts.
    pub(super) fn into_std(self) -> real::Weak<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    /// Returns whether it refers to no value in every execution.
    fn is_empty(&self) -> bool {
        self.tag == Tag::NONE && self.value.strong_count() == 0
    }

    /// Creates a strong reference, unless the value was dropped.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        if self.is_empty() || self.tag.upgrade(Location::caller()) == Some(false) {
            return None;
        }
        let Some(value) = self.value.upgrade() else {
            // The value is still being created, so there is no strong reference.
            self.tag.not_upgraded(Location::caller());
            return None;
        };
        self.tag.upgraded();
        Some(Arc::with_tag(value, self.tag))
    }

    /// Returns the number of strong references.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let counts = self.tag.count(Order::Relaxed, Location::caller());
        counts.map_or_else(|| self.value.strong_count(), |(strong, _)| strong)
    }

    /// Returns the number of weak references, or 0 if there is no strong one.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let counts = self.tag.count(Order::Relaxed, Location::caller());
        counts.map_or_else(|| self.value.weak_count(), |(strong, weak)| if strong == 0 { 0 } else { weak })
    }

    /// Returns whether two references refer to the same value.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.value.ptr_eq(&other.value)
    }

    /// Returns a pointer to the value.
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Turns the reference into a pointer to the value.
    pub fn into_raw(self) -> *const T {
        self.into_std().into_raw()
    }

    /// Turns a pointer back into a reference.
    ///
    /// # Safety
    /// The pointer must come from [`Weak::into_raw`], and must be turned back only once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let tag = Tag::of(pointer.cast::<()>() as usize);
        // SAFETY: upheld by the caller.
        Weak { value: ManuallyDrop::new(unsafe { real::Weak::from_raw(pointer) }), tag }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.tag.weak_added(Location::caller());
        Weak { value: ManuallyDrop::clone(&self.value), tag: self.tag }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.tag.weak_dropped(Location::caller());
        // SAFETY: it is not used again.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        self.tag.let_go(|| drop(value));
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
