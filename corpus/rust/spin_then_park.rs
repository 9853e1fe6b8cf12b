//! A lock that tries once and then parks its thread, around an increment.
//!
//! A thread that waits must be in the list before it says that somebody waits, or nobody unparks it.

use teetotal::hint;
use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::thread::{self, Thread};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || increment(true, false) },
    Case { variant: "listed too late", verdicts: everywhere("deadlock"), run: || increment(false, false) },
    Case { variant: "right, with a hint", verdicts: HOLDS, run: || increment(true, true) },
    Case { variant: "listed too late, with a hint", verdicts: everywhere("deadlock"), run: || increment(false, true) },
];

/// The state is 0 where it is free, 1 where it is taken, and 2 where somebody waits.
struct Lock {
    state: AtomicUsize,
    waiting: Mutex<Vec<Thread>>,
    data: Shared<usize>,
}

fn increment(listed_first: bool, is_hinted: bool) {
    let lock = Lock { state: AtomicUsize::new(0), waiting: Mutex::new(Vec::new()), data: Shared::new(0) };
    let lock = both(lock, move |lock, _| {
        lock.take(listed_first, is_hinted);
        lock.data.set(lock.data.get() + 1);
        lock.free();
    });
    assert_eq!(lock.data.get(), 2);
}

impl Lock {
    fn take(&self, listed_first: bool, is_hinted: bool) {
        if self.state.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            return;
        }
        if is_hinted {
            hint::spin_loop();
        }
        let wait = || self.waiting.lock().expect("nobody panics").push(thread::current());
        loop {
            if listed_first {
                wait();
            }
            if self.state.swap(2, Acquire) == 0 {
                return;
            }
            if !listed_first {
                wait();
            }
            thread::park();
        }
    }

    fn free(&self) {
        if self.state.swap(0, Release) == 2 {
            let waiting = std::mem::take(&mut *self.waiting.lock().expect("nobody panics"));
            waiting.iter().for_each(Thread::unpark);
        }
    }
}
