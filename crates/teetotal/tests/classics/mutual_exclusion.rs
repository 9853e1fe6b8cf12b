//! Mutual exclusion by loads and stores.

use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize, fence};
use teetotal::{hint, thread};

use crate::{PSO, Shared, TSO, is_right, verdicts};

/// Peterson's lock around an increment, by both threads.
fn peterson(store: Ordering, load: Ordering, fenced: bool) -> impl Fn() + Clone + Send + Sync + 'static {
    struct Lock {
        wants: [AtomicBool; 2],
        turn: AtomicUsize,
        data: Shared<u32>,
    }
    move || {
        let lock = Arc::new(Lock {
            wants: [AtomicBool::new(false), AtomicBool::new(false)],
            turn: AtomicUsize::new(0),
            data: Shared::new(0),
        });
        let enter = move |lock: &Lock, me: usize| {
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
        };
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || enter(&other, 1));
        enter(&lock, 0);
        thread.join().expect("it ends");
        assert_eq!(lock.data.get(), 2);
    }
}

#[test]
fn peterson_needs_sequential_consistency() {
    is_right(peterson(SeqCst, SeqCst, false));
    verdicts(&[TSO, PSO], "data race", peterson(Release, Acquire, false));
}

/// Under PSO the stores of the flag and of the turn may change places before the fence, which does no harm.
#[test]
fn peterson_needs_one_fence() {
    is_right(peterson(Release, Acquire, true));
}

/// Each thread enters if the other does not want to.
fn try_lock(store: Ordering, load: Ordering) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        let wants = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let enters = move |wants: &[AtomicBool; 2], me: usize| {
            wants[me].store(true, store);
            !wants[1 - me].load(load)
        };
        let other = Arc::clone(&wants);
        let thread = thread::spawn(move || enters(&other, 1));
        let first = enters(&wants, 0);
        let second = thread.join().expect("it ends");
        assert!(!(first && second), "both entered");
    }
}

#[test]
fn dekker_needs_sequential_consistency() {
    is_right(try_lock(SeqCst, SeqCst));
    verdicts(&[TSO, PSO], "main panicked: both entered", try_lock(Release, Acquire));
    verdicts(&[TSO, PSO], "main panicked: both entered", try_lock(Relaxed, Relaxed));
}
