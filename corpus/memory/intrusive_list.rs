//! An intrusive list: each waiting thread has its node in memory of its own, which it frees when it was woken.
//!
//! Who wakes a thread must not touch the node after the flag is set, and who leaves must take its node off the list.

use std::ptr;

use teetotal::sync::atomic::AtomicBool;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::sync::Mutex;

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || wake(RIGHT) },
    Case {
        variant: "touched after it was woken",
        verdicts: everywhere("use after free"),
        run: || wake(List { touches: true, ..RIGHT }),
    },
    Case {
        variant: "woken without release",
        verdicts: everywhere("use after free"),
        run: || wake(List { wake: Relaxed, ..RIGHT }),
    },
    Case {
        variant: "not taken off the list",
        verdicts: everywhere("use after free"),
        run: || wake(List { unlinks: false, ..RIGHT }),
    },
    Case {
        variant: "taken off by both",
        verdicts: everywhere("double free"),
        run: taken_twice,
    },
];

#[derive(Clone, Copy)]
struct List {
    /// Whether the node is written once more when its thread was woken.
    touches: bool,
    wake: Ordering,
    /// Whether a thread that does not wait any more takes its node off the list.
    unlinks: bool,
}

const RIGHT: List = List { touches: false, wake: Release, unlinks: true };

struct Node {
    next: *mut Node,
    count: Shared<usize>,
    is_woken: AtomicBool,
}

/// The first node.
struct Head(*mut Node);

// SAFETY: nodes are on the list as long as they are there.
unsafe impl Send for Head {}

/// One thread waits, or gives up; the other wakes the first that waits.
fn wake(list: List) {
    both(Mutex::new(Head(ptr::null_mut())), move |first, me| {
        if me == 0 {
            let mut head = first.lock().expect("no thread panics");
            let node = head.0;
            if node.is_null() {
                return;
            }
            // SAFETY: it is on the list.
            unsafe {
                head.0 = (*node).next;
                drop(head);
                (*node).count.set(1);
                (*node).is_woken.store(true, list.wake);
                if list.touches {
                    (*node).count.set(2);
                }
            }
            return;
        }
        let node = Box::new(Node { next: ptr::null_mut(), count: Shared::new(0), is_woken: AtomicBool::new(false) });
        let node = Box::into_raw(node);
        {
            let mut head = first.lock().expect("no thread panics");
            // SAFETY: no other thread knows the node.
            unsafe { (*node).next = head.0 };
            head.0 = node;
        }
        // SAFETY: only this thread frees it.
        let is_woken = || unsafe { (*node).is_woken.load(Acquire) };
        if !is_woken() {
            let mut head = first.lock().expect("no thread panics");
            if head.0 == node {
                if list.unlinks {
                    // SAFETY: the same.
                    head.0 = unsafe { (*node).next };
                }
                drop(head);
            } else {
                drop(head);
                while !is_woken() {
                    teetotal::hint::spin_loop();
                }
            }
        }
        // SAFETY: it is not on the list, and who took it off has done with it.
        drop(unsafe { Box::from_raw(node) });
    });
}

/// Both threads take the only node off, each after a look without the lock.
fn taken_twice() {
    let node = Box::into_raw(Box::new(0_usize));
    let first = teetotal::sync::atomic::AtomicPtr::new(node);
    both((Mutex::new(()), first), |(lock, first), _| {
        let node = first.load(Acquire);
        if !node.is_null() {
            let _lock = lock.lock();
            first.store(ptr::null_mut(), Release);
            // SAFETY: there is none, which is to be found.
            drop(unsafe { Box::from_raw(node) });
        }
    });
}
