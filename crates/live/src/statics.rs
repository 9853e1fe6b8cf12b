//! Statics of the program: each execution works on copies of its own.
//!
//! The initial value of a static is never changed by a model. An execution that uses a value of this crate in a static
//! copies its bytes at the first use, and works on the copy; so every execution begins with the initial value, and
//! models on parallel OS threads may share a static. The copies are dropped with the execution.
//!
//! On systems where the statics of the program cannot be found (see [`Program`]) there are no copies.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::runtime::{current, drop_static};
use crate::surroundings::Program;

/// The copies of an execution, by the addresses of the originals.
#[derive(Default)]
pub(crate) struct Copies(RefCell<FxHashMap<usize, Copy>>);

/// A copy of a value.
struct Copy {
    address: usize,
    layout: Layout,
    /// Drops the value.
    drop: Option<Box<dyn FnOnce()>>,
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copies").field("len", &self.0.borrow().len()).finish()
    }
}

impl Copies {
    /// Returns the copy of the value at `original`, created at the first use.
    ///
    /// # Safety
    /// There is a value in a static.
    unsafe fn of<T: ?Sized>(&self, original: *mut T) -> *mut T {
        let start = original.cast::<u8>() as usize;
        // SAFETY: upheld by the caller.
        if unsafe { size_of_val(&*original) } == 0 {
            // Something else may begin at the same address.
            return original;
        }
        let known = self.0.borrow().get(&start).map(|copy| copy.address);
        let address = known.unwrap_or_else(|| {
            // SAFETY: upheld by the caller.
            let copy = unsafe { Copy::new(original) };
            let address = copy.address;
            self.0.borrow_mut().insert(start, copy);
            address
        });
        original.wrapping_byte_offset((address as isize).wrapping_sub(start as isize))
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the address of the copy of the value at `original`, if there is one.
    fn known<T>(&self, original: *const T) -> Option<*const T> {
        let copies = self.0.borrow();
        let copy = if copies.is_empty() { None } else { copies.get(&(original as usize)) };
        copy.map(|copy| copy.address as *const T)
    }

    /// Drops all values. A destructor that uses a static again finds its initial value.
    pub(crate) fn clear(&self) {
        let mut dropped = Vec::new();
        loop {
            let mut copies: Vec<(usize, Copy)> = self.0.borrow_mut().drain().collect();
            if copies.is_empty() {
                break;
            }
            copies.sort_unstable_by_key(|(original, _)| *original);
            for (_, mut copy) in copies {
                if let Some(drop) = copy.drop.take() {
                    drop_static(drop);
                }
                dropped.push(copy);
            }
        }
        for Copy { address, layout, .. } in dropped {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(address as *mut u8, layout) };
        }
    }
}

impl Copy {
    /// Creates a copy of the value at `original`.
    ///
    /// # Safety
    /// There is a value in a static.
    unsafe fn new<T: ?Sized>(original: *mut T) -> Self {
        // SAFETY: upheld by the caller.
        let layout = unsafe { Layout::for_value(&*original) };
        let start = original.cast::<u8>();
        // SAFETY: the layout has a size.
        let bytes = unsafe { alloc(layout) };
        if bytes.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: both are of this size. Models do not change the original; what else does is an error.
        unsafe { std::ptr::copy_nonoverlapping(start, bytes, layout.size()) };
        let value = original.wrapping_byte_offset((bytes as isize).wrapping_sub(start as isize));
        // SAFETY: it is called once, when no code of the execution runs any more.
        let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { value.drop_in_place() });
        // SAFETY: what is in a static lives as long as the program.
        let drop = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) };
        Copy { address: bytes as usize, layout, drop: Some(drop) }
    }
}

/// Returns the address of the value that the current execution has for `original`: that of a copy if `original` is in a
/// static.
///
/// # Safety
/// There is a value.
pub(crate) unsafe fn own<T: ?Sized>(original: *mut T) -> *mut T {
    let copy = current(|execution| {
        let is_static = execution.program.has_static(original.cast::<u8>() as usize);
        // SAFETY: upheld by the caller.
        is_static.then(|| unsafe { execution.copies.of(original) })
    });
    copy.flatten().unwrap_or(original)
}

/// Returns a reference to the value that the current execution has for `original`.
pub(crate) fn own_ref<T>(original: &T) -> &T {
    // SAFETY: a copy is there as long as the execution, and no code of a model outlives that.
    unsafe { &*own(std::ptr::from_ref(original).cast_mut()) }
}

/// Returns a mutable reference to the value that the current execution has for `original`.
pub(crate) fn own_mut<T: ?Sized>(original: &mut T) -> &mut T {
    // SAFETY: the same, and the original is borrowed exclusively.
    unsafe { &mut *own(original) }
}

/// Returns the value that the current execution has for `original`: a copy only if it may have been changed.
pub(crate) fn known_ref<T>(original: &T) -> &T {
    let copy = current(|execution| execution.copies.known(original)).flatten();
    // SAFETY: as for `own_ref`.
    copy.map_or(original, |copy| unsafe { &*copy })
}

impl Program {
    /// Returns whether a static is at `address`.
    #[inline]
    pub(crate) fn has_static(&self, address: usize) -> bool {
        self.statics.iter().any(|range| range.contains(&address))
    }
}
