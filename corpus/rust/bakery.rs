//! Lamport's bakery for two: who comes takes a number that is larger than all others.
//!
//! [L. Lamport, 1974]

use teetotal::hint;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};

use super::{Case, HOLDS, Shared, both, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "sequentially consistent", verdicts: HOLDS, run: || bakery(SeqCst, SeqCst) },
    Case { variant: "release", verdicts: under_buffers("data race"), run: || bakery(Release, Acquire) },
];

struct Lock {
    chooses: [AtomicBool; 2],
    numbers: [AtomicUsize; 2],
    data: Shared<u32>,
}

fn bakery(store: Ordering, load: Ordering) {
    let chooses = [AtomicBool::new(false), AtomicBool::new(false)];
    let numbers = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let lock = both(Lock { chooses, numbers, data: Shared::new(0) }, move |lock, me| {
        let other = 1 - me;
        lock.chooses[me].store(true, store);
        let mine = 1 + lock.numbers[other].load(load);
        lock.numbers[me].store(mine, store);
        lock.chooses[me].store(false, store);
        while lock.chooses[other].load(load) {
            hint::spin_loop();
        }
        loop {
            let theirs = lock.numbers[other].load(load);
            if theirs == 0 || (mine, me) < (theirs, other) {
                break;
            }
            hint::spin_loop();
        }
        lock.data.set(lock.data.get() + 1);
        lock.numbers[me].store(0, Release);
    });
    assert_eq!(lock.data.get(), 2);
    assert_eq!(lock.numbers[0].load(Relaxed), 0);
}
