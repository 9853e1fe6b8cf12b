//! Dekker's lock: who wants to enter says so and looks whether the other does.
//!
//! [E. W. Dijkstra, 1965]

use teetotal::hint;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};

use super::{Case, HOLDS, Shared, both, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "one try, sequentially consistent", verdicts: HOLDS, run: || try_once(SeqCst, SeqCst) },
    Case { variant: "one try, release", verdicts: under_buffers("data race"), run: || try_once(Release, Acquire) },
    Case { variant: "one try, relaxed", verdicts: under_buffers("data race"), run: || try_once(Relaxed, Relaxed) },
    Case { variant: "with turns, sequentially consistent", verdicts: HOLDS, run: || with_turns(SeqCst, SeqCst) },
    Case { variant: "with turns, release", verdicts: under_buffers("data race"), run: || with_turns(Release, Acquire) },
];

struct Lock {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    data: Shared<u32>,
}

fn lock() -> Lock {
    let wants = [AtomicBool::new(false), AtomicBool::new(false)];
    Lock { wants, turn: AtomicUsize::new(0), data: Shared::new(0) }
}

fn try_once(store: Ordering, load: Ordering) {
    both(lock(), move |lock, me| {
        lock.wants[me].store(true, store);
        if !lock.wants[1 - me].load(load) {
            lock.data.set(lock.data.get() + 1);
        }
    });
}

fn with_turns(store: Ordering, load: Ordering) {
    let lock = both(lock(), move |lock, me| {
        lock.wants[me].store(true, store);
        while lock.wants[1 - me].load(load) {
            if lock.turn.load(load) != me {
                lock.wants[me].store(false, store);
                while lock.turn.load(load) != me {
                    hint::spin_loop();
                }
                lock.wants[me].store(true, store);
            } else {
                hint::spin_loop();
            }
        }
        lock.data.set(lock.data.get() + 1);
        lock.turn.store(1 - me, store);
        lock.wants[me].store(false, Release);
    });
    assert_eq!(lock.data.get(), 2);
}
