//! Reclamation by epochs: what was unlinked two epochs ago is freed.
//!
//! [K. Fraser, 2004]
//!
//! A thread that reads is pinned in an epoch. The epoch advances when no thread is pinned in an earlier one, so that who
//! may still have a node is in the epoch in which the node was unlinked or in the next.

use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize, fence};

use super::{Case, HOLDS, Shared, both, everywhere, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || replace(RIGHT) },
    Case {
        variant: "freed after one epoch",
        verdicts: everywhere("use after free"),
        run: || replace(Scheme { epochs: 1, ..RIGHT }),
    },
    Case {
        variant: "advanced whoever is pinned",
        verdicts: everywhere("use after free"),
        run: || replace(Scheme { waits: false, ..RIGHT }),
    },
    Case {
        variant: "pinned without a fence",
        verdicts: under_buffers("use after free"),
        run: || replace(Scheme { fences: false, ..RIGHT }),
    },
    Case {
        variant: "unpinned without release",
        verdicts: everywhere("use after free"),
        run: || replace(Scheme { unpin: Relaxed, ..RIGHT }),
    },
    Case {
        variant: "unpinned before the access",
        verdicts: everywhere("use after free"),
        run: || replace(Scheme { stays_pinned: false, ..RIGHT }),
    },
];

#[derive(Clone, Copy)]
struct Scheme {
    /// How many epochs later a node is freed.
    epochs: usize,
    /// Whether the epoch stays as long as a thread is pinned in an earlier one.
    waits: bool,
    fences: bool,
    unpin: Ordering,
    stays_pinned: bool,
}

const RIGHT: Scheme = Scheme { epochs: 2, waits: true, fences: true, unpin: Release, stays_pinned: true };

/// Of each epoch that a thread may be pinned in; 0 is none.
struct Epochs {
    global: AtomicUsize,
    pinned: AtomicUsize,
    current: AtomicPtr<Shared<usize>>,
}

impl Epochs {
    fn pin(&self, scheme: Scheme) {
        self.pinned.store(self.global.load(Relaxed), Relaxed);
        if scheme.fences {
            fence(SeqCst);
        }
    }

    /// Whether the epoch could be advanced.
    fn advance(&self, scheme: Scheme) -> bool {
        let epoch = self.global.load(Relaxed);
        fence(SeqCst);
        let pinned = self.pinned.load(Acquire);
        if scheme.waits && pinned != 0 && pinned != epoch {
            return false;
        }
        self.global.store(epoch + 1, Release);
        true
    }
}

fn node(value: usize) -> *mut Shared<usize> {
    Box::into_raw(Box::new(Shared::new(value)))
}

fn free(node: *mut Shared<usize>) {
    // SAFETY: that no thread has it is what is checked.
    drop(unsafe { Box::from_raw(node) });
}

/// One thread reads the current node while the other replaces it.
fn replace(scheme: Scheme) {
    let (global, pinned, current) = (AtomicUsize::new(1), AtomicUsize::new(0), AtomicPtr::new(node(1)));
    let retired = AtomicPtr::new(std::ptr::null_mut());
    let shared = both((Epochs { global, pinned, current }, retired), move |(epochs, retired), me| {
        if me == 1 {
            epochs.pin(scheme);
            let node = epochs.current.load(Acquire);
            if !scheme.stays_pinned {
                epochs.pinned.store(0, scheme.unpin);
            }
            // SAFETY: it is not freed as long as this thread is pinned.
            assert!(unsafe { (*node).get() } > 0);
            epochs.pinned.store(0, scheme.unpin);
        } else {
            let old = epochs.current.swap(node(2), AcqRel);
            if (0..scheme.epochs).all(|_| epochs.advance(scheme)) {
                free(old);
            } else {
                retired.store(old, Relaxed);
            }
        }
    });
    let (epochs, retired) = &*shared;
    for node in [epochs.current.load(Relaxed), retired.load(Relaxed)] {
        if !node.is_null() {
            free(node);
        }
    }
}
