//! Locks by read-modify-writes, and a sequence lock.

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::fence;
use teetotal::{hint, thread};

use crate::{PSO, SC, Shared, TSO, is_right, verdicts};

/// A ticket lock around an increment, by `n` threads.
fn ticket_lock(n: usize, free: Ordering) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Shared::new(0)));
        let threads: Vec<_> = (0..n)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    let ticket = lock.0.fetch_add(1, Relaxed);
                    while lock.1.load(Acquire) != ticket {
                        hint::spin_loop();
                    }
                    lock.2.set(lock.2.get() + 1);
                    lock.1.store(ticket + 1, free);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        assert_eq!(lock.2.get(), n);
    }
}

#[test]
fn a_ticket_lock_is_freed_with_release() {
    is_right(ticket_lock(2, Release));
    is_right(ticket_lock(3, Release));
    verdicts(&[SC, TSO, PSO], "data race", ticket_lock(2, Relaxed));
}

/// A writer of two words, and a reader that wants them to fit together.
fn sequence_lock(begin: Ordering, end: Ordering, fenced: bool) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        let lock = Arc::new([const { AtomicUsize::new(0) }; 3]);
        let other = Arc::clone(&lock);
        let writer = thread::spawn(move || {
            other[0].store(1, begin);
            if fenced {
                fence(Release);
            }
            other[1].store(1, Relaxed);
            other[2].store(1, Relaxed);
            other[0].store(2, end);
        });
        let before = lock[0].load(Acquire);
        let words = (lock[1].load(Relaxed), lock[2].load(Relaxed));
        fence(Acquire);
        if before % 2 == 0 && lock[0].load(Relaxed) == before {
            assert_eq!(words.0, words.1, "torn");
        }
        writer.join().expect("it ends");
    }
}

#[test]
fn a_sequence_lock_needs_its_stores_in_order() {
    is_right(sequence_lock(Relaxed, Release, true));
    verdicts(&[PSO], "main panicked: assertion `left == right` failed: torn", sequence_lock(Relaxed, Release, false));
    verdicts(&[PSO], "main panicked: assertion `left == right` failed: torn", sequence_lock(Relaxed, Relaxed, true));
}

/// A release fence before a relaxed read-modify-write publishes what came before it.
#[test]
fn a_fence_makes_an_update_publish() {
    let publish = |fenced: bool| {
        move || {
            let shared = Arc::new((Shared::new(0), AtomicUsize::new(0)));
            let other = Arc::clone(&shared);
            let writer = thread::spawn(move || {
                other.0.set(1);
                if fenced {
                    fence(Release);
                }
                other.1.fetch_add(1, Relaxed);
            });
            if shared.1.fetch_add(0, AcqRel) == 1 {
                assert_eq!(shared.0.get(), 1);
            }
            writer.join().expect("it ends");
        }
    };
    is_right(publish(true));
    verdicts(&[SC, TSO, PSO], "data race", publish(false));
}
