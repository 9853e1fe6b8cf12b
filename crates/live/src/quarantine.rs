//! Memory that is given back in a model and not given out again before the execution has ended.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use crate::runtime::{current, running};

/// An allocator that gives memory of a model out only once in an execution.
///
/// Lock-free code that gives nodes back compares pointers, and a new node may be where an old one was. Whether it is depends
/// on the allocator, and so on what else happened; a model that is run again may then do something else. With
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: teetotal_live::alloc::Quarantine = teetotal_live::alloc::Quarantine;
/// ```
///
/// in a test, no two nodes of an execution are in the same place. Outside of models it is the allocator of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quarantine;

/// What was given back, each piece with a note at its beginning.
#[derive(Debug, Default)]
pub(crate) struct GivenBack(Cell<Option<ptr::NonNull<Note>>>);

/// What stands at the beginning of a piece of memory that was given back.
struct Note {
    next: Option<ptr::NonNull<Note>>,
    layout: Layout,
}

/// Room for a note, too.
fn with_room(layout: Layout) -> Layout {
    let (size, align) = (layout.size().max(size_of::<Note>()), layout.align().max(align_of::<Note>()));
    Layout::from_size_align(size, align).unwrap_or(layout)
}

impl GivenBack {
    /// Keeps a piece of memory.
    ///
    /// # Safety
    /// Nobody uses it any more, and the system gave it out with this layout, which has room for a note.
    unsafe fn keep(&self, piece: *mut u8, layout: Layout) {
        let note = piece.cast::<Note>();
        // SAFETY: there is room for a note, and nobody else uses it.
        unsafe { note.write(Note { next: self.0.get(), layout }) };
        self.0.set(ptr::NonNull::new(note));
    }

    /// Gives everything back to the system.
    pub(crate) fn release(&self) {
        let mut next = self.0.take();
        while let Some(note) = next {
            // SAFETY: it was written by `keep`, and is read once.
            let Note { next: later, layout } = unsafe { note.read() };
            next = later;
            // SAFETY: the system gave it out with this layout.
            unsafe { System.dealloc(note.as_ptr().cast(), layout) };
        }
    }
}

impl Drop for GivenBack {
    fn drop(&mut self) {
        self.release();
    }
}

// SAFETY: memory comes from the system and goes back to it, if later.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { System.alloc(with_room(layout)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(with_room(layout)) }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        let layout = with_room(layout);
        // SAFETY: the caller's.
        let keep = |given_back: &GivenBack| unsafe { given_back.keep(piece, layout) };
        if running().is_none() || current(|execution| keep(&execution.given_back)).is_none() {
            // SAFETY: the caller's.
            unsafe { System.dealloc(piece, layout) };
        }
    }
}
