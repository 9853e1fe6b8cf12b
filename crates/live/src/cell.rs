//! Cells whose accesses are checked for data races.

use std::fmt;
use std::panic::Location;

use crate::complaint::{Complaint, Kind};
use crate::identity::{Identity, Key};
use crate::loops::mix;
use crate::runtime::{current, fail, is_active, note, refuse_misuse, running};
use crate::statics::{own, own_mut};

pub use crate::held::{ConstPtr, MutPtr};

/// Records an access to a cell, and ends the thread if it is a race.
#[track_caller]
pub(crate) fn access(key: Key, kind: Kind) {
    let place = Location::caller();
    access_at(key, kind, place);
}

pub(crate) fn access_at(key: Key, kind: Kind, place: &'static Location<'static>) {
    refuse_misuse(place);
    let race = current(|execution| {
        let thread = running()?;
        if execution.is_over.get() {
            return None;
        }
        execution.be_seen(thread);
        execution.note_operation();
        note_plain(key, kind);
        let race = execution.races.borrow_mut().access(thread, key, place, kind)?;
        Some(execution.complaint_of(race))
    });
    if let Some(complaint) = race.flatten() {
        fail(complaint, place);
    }
}

/// Records a non-atomic access for the detection of loops: a write is a lasting effect.
fn note_plain(key: Key, kind: Kind) {
    note(|noted| {
        noted.has_effect |= kind.is_write;
        noted.plain = mix(noted.plain.wrapping_add(1), key.index() as u64);
    });
}

/// A cell whose data is accessed without synchronization; each access is checked for data races.
///
/// The interface is that of loom: [`UnsafeCell::get`] and [`UnsafeCell::get_mut`] return pointers that count as
/// accesses for as long as they exist. The cell in [`standard`] has the interface of the standard library.
pub struct UnsafeCell<T: ?Sized> {
    pub(crate) identity: Identity,
    data: std::cell::UnsafeCell<T>,
}

/// An access with a duration.
#[derive(Debug)]
struct Lasting {
    /// The cell, the time of the beginning by the clock of the thread, and the place.
    began: Option<(Key, u32, &'static Location<'static>)>,
    kind: Kind,
}

impl Lasting {
    #[track_caller]
    fn begin(identity: &Identity, kind: Kind) -> Self {
        if !is_active() {
            return Lasting { began: None, kind };
        }
        let (key, place) = (identity.key(), Location::caller());
        access_at(key, kind, place);
        Lasting { began: now().map(|time| (key, time, place)), kind }
    }
}

/// Returns the number of steps of the current thread that other threads may observe.
pub(crate) fn now() -> Option<u32> {
    current(|execution| running().map(|thread| execution.races.borrow_mut().time(thread))).flatten()
}

impl Drop for Lasting {
    fn drop(&mut self) {
        // Other threads may have observed the beginning of the access, which does not order its end.
        if let Some((key, time, place)) = self.began
            && is_active()
            && now() != Some(time)
        {
            access_again(key, self.kind, place);
        }
    }
}

/// Records that an access continues: another thread may have freed the memory meanwhile.
pub(crate) fn access_again(key: Key, kind: Kind, place: &'static Location<'static>) {
    let fault = current(|execution| {
        let thread = running().filter(|_| !execution.is_over.get())?;
        execution.use_since_free(thread, key, place)
    });
    match fault.flatten() {
        Some(fault) => fail(Complaint::Memory(Box::new(fault)), place),
        None => access_at(key, kind, place),
    }
}

impl<T> UnsafeCell<T> {
    /// Creates a cell that holds `data`.
    pub const fn new(data: T) -> Self {
        UnsafeCell { identity: Identity::new(), data: std::cell::UnsafeCell::new(data) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        if is_active() {
            access(self.identity.key(), Kind::WRITE);
        }
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Returns a pointer to the data.
    fn data(&self) -> *mut T {
        // SAFETY: there is a value.
        unsafe { own(self.data.get()) }
    }

    /// Calls `f` with a pointer to read through; the access lasts as long as `f` runs.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let _reading = Lasting::begin(&self.identity, Kind::READ);
        f(self.data())
    }

    /// Calls `f` with a pointer to read and write through; the access lasts as long as `f` runs.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.identity.note_outside();
        let _writing = Lasting::begin(&self.identity, Kind::WRITE);
        f(self.data())
    }

    /// Returns a pointer for reading; the access lasts as long as the pointer exists.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr::new(&self.identity, self.data())
    }

    /// Returns a pointer for reading and writing; the access lasts as long as the pointer exists.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        self.identity.note_outside();
        MutPtr::new(&self.identity, self.data())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(data: T) -> Self {
        UnsafeCell::new(data)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// A [`std::cell::Cell`] whose accesses are checked for data races.
pub struct Cell<T: ?Sized> {
    cell: UnsafeCell<T>,
}

impl<T> Cell<T> {
    /// Creates a cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Cell { cell: UnsafeCell::new(value) }
    }

    /// Replaces the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Replaces the value; returns the previous value.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: the cell is not shared between threads, and no reference to the value leaves it.
        self.cell.with_mut(|old| std::mem::replace(unsafe { &mut *old }, value))
    }

    /// Swaps the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            // SAFETY: the same, and these are two.
            self.cell.with_mut(|own| other.cell.with_mut(|other| unsafe { std::ptr::swap(own, other) }));
        }
    }

    /// Returns the value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }

    /// Takes the value and leaves the default in its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Returns the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the same as in `replace`.
        self.cell.with(|value| unsafe { *value })
    }
}

impl<T: ?Sized> Cell<T> {
    /// Returns a mutable reference to the value.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.cell.with_mut(|_| ());
        own_mut(self.cell.data.get_mut())
    }

    /// Returns a pointer to the value; accesses through it are not checked.
    pub fn as_ptr(&self) -> *mut T {
        self.cell.identity.note_outside();
        self.cell.data()
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Self {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Self {
        Cell::new(value)
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}

/// Cells with the interface of the standard library.
pub mod standard {
    use super::{Kind, access, is_active, own_mut};

    /// A [`super::UnsafeCell`] whose [`UnsafeCell::get_mut`] is that of the standard library.
    #[derive(Debug, Default)]
    pub struct UnsafeCell<T: ?Sized>(super::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Creates a cell that holds `data`.
        pub const fn new(data: T) -> Self {
            UnsafeCell(super::UnsafeCell::new(data))
        }

        /// Returns the data.
        #[track_caller]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Calls `f` with a pointer to read through; the access lasts as long as `f` runs.
        #[track_caller]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            self.0.with(f)
        }

        /// Calls `f` with a pointer to read and write through; the access lasts as long as `f` runs.
        #[track_caller]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            self.0.with_mut(f)
        }

        /// Returns a mutable reference to the data.
        #[track_caller]
        pub fn get_mut(&mut self) -> &mut T {
            if is_active() {
                access(self.0.identity.key(), Kind::WRITE);
            }
            self.0.identity.note_outside();
            own_mut(self.0.data.get_mut())
        }

        /// Returns a pointer to the data. The call counts as a write; accesses through the pointer are not checked.
        #[track_caller]
        pub fn get(&self) -> *mut T {
            self.0.with_mut(|data| data)
        }
    }

    impl<T> From<T> for UnsafeCell<T> {
        fn from(data: T) -> Self {
            UnsafeCell::new(data)
        }
    }
}
