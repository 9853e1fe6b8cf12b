//! The allocator that knows the blocks of a model.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

use super::region::{contains, is_installed, note_installed};
use crate::lifetimes;

/// A global allocator for tests that detects memory errors in models.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: teetotal_live::alloc::Checked = teetotal_live::alloc::Checked;
/// ```
///
/// It detects uses after free, double frees and frees that race with an access. An access to a block that was published
/// without synchronization is a data race. An allocation may return the address of a freed block, which is a choice of
/// the search. Addresses are the same in every run of the same prefix. Outside of models it is the system allocator.
///
/// Accesses to types of this crate are compared location by location. Other accesses to a block must come after its
/// allocation and before its free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked;

impl Checked {
    /// Returns whether this is the global allocator.
    pub(crate) fn is_installed() -> bool {
        is_installed()
    }
}

// SAFETY: memory comes from the system, or from lanes in which no two blocks overlap as long as both are allocated.
unsafe impl GlobalAlloc for Checked {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note_installed();
        match lifetimes::allocate(layout) {
            Some(block) => block,
            // SAFETY: upheld by the caller.
            None => unsafe { System.alloc(layout) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note_installed();
        match lifetimes::allocate(layout) {
            Some(block) => {
                // SAFETY: the block is of this size.
                unsafe { ptr::write_bytes(block, 0, layout.size()) };
                block
            }
            // SAFETY: upheld by the caller.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if contains(block as usize) {
            lifetimes::free(block as usize);
        } else {
            // SAFETY: upheld by the caller.
            unsafe { System.dealloc(block, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !contains(block as usize) {
            // Memory that was allocated outside of a model stays with the system allocator. SAFETY: upheld by the
            // caller.
            return unsafe { System.realloc(block, layout, size) };
        }
        let Ok(new_layout) = Layout::from_size_align(size, layout.align()) else { return ptr::null_mut() };
        // SAFETY: upheld by the caller.
        let new = unsafe { self.alloc(new_layout) };
        if !new.is_null() {
            // SAFETY: both blocks have this many bytes; otherwise upheld by the caller.
            unsafe {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        new
    }
}
