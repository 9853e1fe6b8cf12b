//! A slab: values have a slot each, and a handle is the number of a slot and its generation.
//!
//! A slot is used again for another value, with the next generation, so that an old handle finds nothing.

use std::ptr;

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::AtomicPtr;
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || remove(Compared) },
    Case { variant: "generation not compared", verdicts: everywhere("T1 panicked: another value"), run: || remove(Ignored) },
    Case {
        variant: "generation compared, then removed",
        verdicts: everywhere("double free"),
        run: remove_twice,
    },
    Case { variant: "read while it is removed", verdicts: everywhere("use after free"), run: read },
];

#[derive(Clone, Copy, PartialEq)]
enum Generation {
    /// Removing a value is an exchange that compares the generation.
    Compared,
    Ignored,
}

use Generation::{Compared, Ignored};

/// Even generations are of slots that are free, odd ones of those that have a value.
struct Slot {
    generation: AtomicUsize,
    value: AtomicPtr<Shared<usize>>,
}

impl Slot {
    /// A value is put into the slot if that is free; returns its generation.
    fn insert(&self, value: usize) -> Option<usize> {
        let generation = self.generation.load(Acquire);
        if generation % 2 == 1 {
            return None;
        }
        // Only one thread inserts.
        self.value.store(Box::into_raw(Box::new(Shared::new(value))), Relaxed);
        self.generation.store(generation + 1, Release);
        Some(generation + 1)
    }

    /// The value of that generation, if it is still there.
    fn remove(&self, generation: usize, how: Generation) -> Option<usize> {
        let now = self.generation.load(Acquire);
        let is_this = now == generation || how == Ignored;
        if !is_this || now.is_multiple_of(2) {
            return None;
        }
        let node = self.value.load(Relaxed);
        self.generation.compare_exchange(now, now + 1, AcqRel, Relaxed).ok()?;
        // SAFETY: who has changed the generation has the value.
        Some(unsafe { Box::from_raw(node) }.get())
    }
}

fn slab() -> Slot {
    Slot { generation: AtomicUsize::new(0), value: AtomicPtr::new(ptr::null_mut()) }
}

/// Both threads have the handle of the first value. One removes it and inserts another; the other removes it too.
fn remove(how: Generation) {
    let slot = slab();
    let first = slot.insert(1).expect("it is free");
    let slot = both(slot, move |slot, me| {
        if let Some(value) = slot.remove(first, how) {
            assert!(value == 1, "another value");
            if me == 0 {
                slot.insert(2);
            }
        }
    });
    let last = slot.generation.load(Relaxed);
    slot.remove(last, Compared);
}

/// One thread reads the value that the other removes, after it has compared the generation.
fn read() {
    let slot = slab();
    let first = slot.insert(1).expect("it is free");
    both(slot, move |slot, me| {
        if me == 0 {
            slot.remove(first, Compared);
        } else if slot.generation.load(Acquire) == first {
            // SAFETY: there is none, which is to be found.
            unsafe { (*slot.value.load(Relaxed)).get() };
        }
    });
}

/// Both threads compare the generation and then change it.
fn remove_twice() {
    let slot = slab();
    let first = slot.insert(1).expect("it is free");
    both(slot, move |slot, _| {
        if slot.generation.load(Acquire) == first {
            slot.generation.store(first + 1, Release);
            // SAFETY: there is none, which is to be found.
            drop(unsafe { Box::from_raw(slot.value.load(Relaxed)) });
        }
    });
}
