//! Locks, with and without what they need.

use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize, fence};
use teetotal::{hint, thread};

use crate::Shared;

/// Peterson's lock.
pub(crate) struct Lock {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Lock {
    fn new() -> Self {
        Lock { wants: [AtomicBool::new(false), AtomicBool::new(false)], turn: AtomicUsize::new(0) }
    }

    fn with_fence(&self, me: usize) {
        self.wants[me].store(true, Release);
        self.turn.store(1 - me, Release);
        fence(SeqCst);
        while self.wants[1 - me].load(Acquire) && self.turn.load(Acquire) == 1 - me {
            hint::spin_loop();
        }
    }

    fn without_fence(&self, me: usize) {
        self.wants[me].store(true, Release);
        self.turn.store(1 - me, Release);
        // The fence is missing here.
        while self.wants[1 - me].load(Acquire) && self.turn.load(Acquire) == 1 - me {
            hint::spin_loop();
        }
    }

    fn unlock(&self, me: usize) {
        self.wants[me].store(false, Release);
    }
}

/// Two threads count under the lock.
fn count(lock: fn(&Lock, usize)) {
    let shared = Arc::new((Lock::new(), Shared::new(0)));
    let enter = move |shared: &(Lock, Shared<u32>), me: usize| {
        lock(&shared.0, me);
        shared.1.set(shared.1.get() + 1);
        shared.0.unlock(me);
    };
    let others = Arc::clone(&shared);
    let other = thread::spawn(move || enter(&others, 1));
    enter(&shared, 0);
    other.join().expect("it ends");
    assert_eq!(shared.1.get(), 2);
}

pub(crate) fn fenced() {
    count(Lock::with_fence);
}

pub(crate) fn unfenced() {
    count(Lock::without_fence);
}
