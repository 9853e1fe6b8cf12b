//! Cells whose accesses are checked for data races.

use std::panic::Location;

use crate::runtime::{current, fail_with_race, is_active, running};

/// Data that is accessed without synchronization of its own; each access is checked for races.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized> {
    data: std::cell::UnsafeCell<T>,
}

/// Takes note of an access to the data at `address`, and ends the thread if it is a race.
#[track_caller]
fn access(address: usize, is_write: bool) {
    if !is_active() {
        return;
    }
    let place = Location::caller();
    let race = current(|execution| {
        let thread = running()?;
        execution.races.borrow_mut().access(thread, address, place, is_write)
    });
    if let Some(race) = race.flatten() {
        fail_with_race(race);
    }
}

impl<T> UnsafeCell<T> {
    /// A cell around `data`.
    pub const fn new(data: T) -> Self {
        UnsafeCell { data: std::cell::UnsafeCell::new(data) }
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    fn address(&self) -> usize {
        self.data.get().cast::<()>() as usize
    }

    /// Reads through a pointer, as long as `f` runs.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        access(self.address(), false);
        f(self.data.get())
    }

    /// Reads and writes through a pointer, as long as `f` runs.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        access(self.address(), true);
        f(self.data.get())
    }

    /// The data, which nobody else can access meanwhile.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}
