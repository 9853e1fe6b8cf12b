//! Memory that must be freed before an execution ends.

use std::panic::Location;

pub use std::alloc::Layout;

pub use crate::heap::Checked;

use crate::complaint::Complaint;
use crate::heap::FaultKind;
use crate::runtime::{current, fail, is_active, running};

/// The name of leaked memory in reports.
const MEMORY: &str = "memory";

/// Allocates memory, which must be freed before the execution ends.
///
/// # Safety
/// As for `std::alloc::alloc`.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: upheld by the caller.
    let memory = unsafe { std::alloc::alloc(layout) };
    note(memory, Location::caller());
    memory
}

/// Allocates zeroed memory, which must be freed before the execution ends.
///
/// # Safety
/// As for `std::alloc::alloc_zeroed`.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: upheld by the caller.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    note(memory, Location::caller());
    memory
}

/// Frees memory.
///
/// # Safety
/// As for `std::alloc::dealloc`.
///
/// # Panics
/// In a model, if the memory was not allocated by [`alloc`].
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let place = Location::caller();
    let fault = current(|execution| {
        let told = execution.possessions.borrow().freed(MEMORY, memory as usize)?;
        execution.told_fault(FaultKind::DoubleFree, place, memory as usize, layout.size(), told)
    });
    if let Some(fault) = fault.flatten() {
        fail(Complaint::Memory(Box::new(fault)), place);
    }
    let is_known = current(|execution| {
        let (mut possessions, told) = (execution.possessions.borrow_mut(), execution.told(place));
        let number = possessions.find(MEMORY, memory as usize);
        number.map(|number| possessions.free(number, told)).is_some()
    });
    assert!(is_known != Some(false) || !is_active(), "memory that is not allocated was freed");
    // SAFETY: upheld by the caller.
    unsafe { std::alloc::dealloc(memory, layout) };
}

fn note(memory: *mut u8, place: &'static Location<'static>) {
    if !memory.is_null() {
        current(|execution| {
            let allocated = execution.told(place)?;
            execution.possessions.borrow_mut().allocate(MEMORY, allocated, memory as usize);
            Some(())
        });
    }
}

/// A value that must be dropped before the execution ends.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    _tracked: Tracked,
}

/// The number of the value among the tracked ones, and its execution.
#[derive(Debug)]
struct Tracked(Option<(usize, u64)>);

impl Drop for Tracked {
    fn drop(&mut self) {
        let Some((number, generation)) = self.0 else { return };
        current(|execution| {
            if execution.generation.get() == generation {
                execution.possessions.borrow_mut().remove(number);
            }
        });
    }
}

impl<T> Track<T> {
    /// Tracks `value`.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let place = Location::caller();
        let tracked = running().and_then(|_| {
            current(|execution| {
                (execution.possessions.borrow_mut().add("tracked value", place, 0), execution.generation.get())
            })
        });
        Track { value, _tracked: Tracked(tracked) }
    }

    /// Returns a reference to the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value, which is no longer tracked.
    pub fn into_inner(self) -> T {
        self.value
    }
}
