//! Lamport's fast lock, tried once by each of two threads.
//!
//! [L. Lamport, A fast mutual exclusion algorithm, 1987]

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Release, SeqCst};

use super::{Case, HOLDS, Shared, both, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "sequentially consistent", verdicts: HOLDS, run: || fast_path(SeqCst, SeqCst) },
    Case { variant: "release", verdicts: under_buffers("data race"), run: || fast_path(Release, Acquire) },
];

fn fast_path(store: Ordering, load: Ordering) {
    // Who came last, who is inside, and what is protected.
    let lock = (AtomicUsize::new(0), AtomicUsize::new(0), Shared::new(0));
    both(lock, move |(last, inside, data), me| {
        last.store(me + 1, store);
        if inside.load(load) != 0 {
            return;
        }
        inside.store(me + 1, store);
        if last.load(load) != me + 1 {
            return;
        }
        data.set(data.get() + 1);
        inside.store(0, Release);
    });
}
