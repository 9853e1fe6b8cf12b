//! Peterson's lock around an increment.
//!
//! [G. L. Peterson, 1981]
//!
//! A store must not be passed by the loads that follow it. Under PSO the stores of the flag and of the turn may change
//! places before the fence, which does no harm.

use teetotal::hint;
use teetotal::sync::atomic::Ordering::{self, Acquire, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize, fence};

use super::{Case, HOLDS, Shared, both, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "all sequentially consistent", verdicts: HOLDS, run: || peterson(SeqCst, SeqCst, false) },
    Case { variant: "one fence", verdicts: HOLDS, run: || peterson(Release, Acquire, true) },
    Case { variant: "no fence", verdicts: under_buffers("data race"), run: || peterson(Release, Acquire, false) },
];

struct Lock {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    data: Shared<u32>,
}

fn peterson(store: Ordering, load: Ordering, fenced: bool) {
    let wants = [AtomicBool::new(false), AtomicBool::new(false)];
    let lock = Lock { wants, turn: AtomicUsize::new(0), data: Shared::new(0) };
    let lock = both(lock, move |lock, me| {
        lock.wants[me].store(true, store);
        lock.turn.store(1 - me, store);
        if fenced {
            fence(SeqCst);
        }
        while lock.wants[1 - me].load(load) && lock.turn.load(load) == 1 - me {
            hint::spin_loop();
        }
        lock.data.set(lock.data.get() + 1);
        lock.wants[me].store(false, Release);
    });
    assert_eq!(lock.data.get(), 2);
}
