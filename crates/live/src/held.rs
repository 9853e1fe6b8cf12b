//! Pointers to the data of a cell that count as accesses while they exist.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use crate::cell::{access_again, access_at, now};
use crate::complaint::Kind;
use crate::identity::{Identity, Key};
use crate::runtime::{current, is_active, running};

/// An access that lasts as long as a pointer exists.
///
/// It is an access at its beginning and whenever the pointer is used. The last use of a reference from the pointer is
/// not observable. A guard that contains the pointer drops it after its destructor has released the lock, so the access
/// is assumed to last until the last release operation of the thread.
#[derive(Debug)]
struct Held {
    key: Option<Key>,
    kind: Kind,
    /// When it was last used, by the clock of its thread.
    used: Cell<Option<u32>>,
    place: Cell<&'static Location<'static>>,
}

impl Held {
    #[track_caller]
    fn begin(identity: &Identity, kind: Kind) -> Self {
        let key = is_active().then(|| identity.key());
        let held = Held { key, kind, used: Cell::new(None), place: Cell::new(Location::caller()) };
        held.touch();
        held
    }

    /// Records a use.
    #[track_caller]
    fn touch(&self) {
        if let Some(key) = self.key
            && is_active()
            && now() != self.used.get()
        {
            self.place.set(Location::caller());
            match self.used.get() {
                Some(_) => access_again(key, self.kind, self.place.get()),
                None => access_at(key, self.kind, self.place.get()),
            }
            self.used.set(now());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let told = now().and_then(|now| now.checked_sub(1));
        if let (Some(key), Some(told), Some(used)) = (self.key, told, self.used.get())
            && is_active()
            && told > used
        {
            current(|execution| {
                let thread = running().filter(|_| !execution.is_over.get())?;
                execution.races.borrow_mut().lasted(thread, key, self.kind, told);
                Some(())
            });
        }
    }
}

/// A pointer to the data of an [`UnsafeCell`](crate::cell::UnsafeCell); a read that lasts as long as the pointer
/// exists.
pub struct ConstPtr<T: ?Sized> {
    reading: Held,
    pointer: *const T,
}

/// A pointer to the data of an [`UnsafeCell`](crate::cell::UnsafeCell); a write that lasts as long as the pointer
/// exists.
pub struct MutPtr<T: ?Sized> {
    writing: Held,
    pointer: *mut T,
}

impl<T: ?Sized> ConstPtr<T> {
    #[track_caller]
    pub(crate) fn new(identity: &Identity, pointer: *const T) -> Self {
        ConstPtr { reading: Held::begin(identity, Kind::READ), pointer }
    }

    /// Returns a reference to the data.
    ///
    /// # Safety
    /// As for a pointer.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "the name is that of loom")]
    pub unsafe fn deref(&self) -> &T {
        self.reading.touch();
        // SAFETY: upheld by the caller.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.reading.touch();
        f(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    #[track_caller]
    pub(crate) fn new(identity: &Identity, pointer: *mut T) -> Self {
        MutPtr { writing: Held::begin(identity, Kind::WRITE), pointer }
    }

    /// Returns a reference to the data.
    ///
    /// # Safety
    /// As for a pointer.
    #[track_caller]
    #[allow(clippy::mut_from_ref, clippy::should_implement_trait, reason = "it stands for a pointer")]
    pub unsafe fn deref(&self) -> &mut T {
        self.writing.touch();
        // SAFETY: upheld by the caller.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.writing.touch();
        f(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer.fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer.fmt(f)
    }
}
