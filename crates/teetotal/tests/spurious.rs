//! What may happen for no reason, where that is asked for.

mod common;

use std::task::Poll;

use teetotal::model::{Builder, Report};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::sync::{Arc, Condvar, Mutex};
use teetotal::{hint, thread};

/// What a search finds where each thread may meet so many failures.
fn explore(spurious: usize, f: impl Fn() + Send + Sync + 'static) -> Report {
    let mut builder = Builder::new();
    builder.spurious = spurious;
    builder.explore(f)
}

#[test]
fn a_weak_compare_exchange_fails_if_that_is_asked_for() {
    let once = || {
        let cell = AtomicUsize::new(0);
        assert_eq!(cell.compare_exchange_weak(0, 1, Relaxed, Relaxed), Ok(0));
    };
    assert_eq!(explore(0, once).failure, None);
    let failure = explore(1, once).failure.expect("it may fail");
    assert!(failure.contains("Err(0)"), "{failure}");
    let strong = || assert!(AtomicUsize::new(0).compare_exchange(0, 1, Relaxed, Relaxed).is_ok());
    assert_eq!(explore(1, strong).failure, None);
}

/// Two threads that increment under a lock which is taken by a weak compare-exchange.
fn spin_lock(says_so: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&lock);
        let increment = move |lock: &(AtomicUsize, AtomicUsize)| {
            while lock.0.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
                if says_so {
                    hint::spin_loop();
                }
            }
            lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
            lock.0.store(0, Release);
        };
        let thread = thread::spawn(move || increment(&other));
        increment(&lock);
        thread.join().expect("it ends");
        assert_eq!(lock.1.load(Relaxed), 2);
    }
}

#[test]
fn a_loop_tries_again() {
    for failures in 0..=2 {
        let report = explore(failures, spin_lock(true));
        assert_eq!(report.failure, None, "{failures} failures");
        assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    }
}

/// A thread that waits until another is ready, looking again or not.
fn wait(again: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            *other.0.lock().expect("nobody panics") = true;
            other.1.notify_one();
        });
        let mut ready = shared.0.lock().expect("nobody panics");
        if again {
            while !*ready {
                ready = shared.1.wait(ready).expect("nobody panics");
            }
        } else if !*ready {
            ready = shared.1.wait(ready).expect("nobody panics");
        }
        assert!(*ready, "woken too early");
        drop(ready);
        thread.join().expect("it ends");
    }
}

#[test]
fn a_wait_ends_too_early_if_that_is_asked_for() {
    assert_eq!(explore(0, wait(false)).failure, None);
    let failure = explore(1, wait(false)).failure.expect("it may end too early");
    assert!(failure.starts_with("main panicked: woken too early"), "{failure}");
    for failures in 0..=2 {
        let report = explore(failures, wait(true));
        assert_eq!(report.failure, None, "{failures} failures");
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn a_park_ends_too_early_if_that_is_asked_for() {
    let park = || {
        let is_ready = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&is_ready);
        let parked = thread::current();
        let thread = thread::spawn(move || {
            other.store(1, Release);
            parked.unpark();
        });
        thread::park();
        assert_eq!(is_ready.load(Acquire), 1, "unparked too early");
        thread.join().expect("it ends");
    };
    assert_eq!(explore(0, park).failure, None);
    let failure = explore(1, park).failure.expect("it may end too early");
    assert!(failure.contains("unparked too early"), "{failure}");
}

#[test]
fn a_future_is_polled_too_early_if_that_is_asked_for() {
    let poll = || {
        let gate = Arc::new(AtomicUsize::new(0));
        let mut polled = 0;
        let polled = teetotal::future::block_on(std::future::poll_fn(|context| {
            if polled == 0 {
                let (gate, waker) = (Arc::clone(&gate), context.waker().clone());
                drop(thread::spawn(move || {
                    gate.store(1, Release);
                    waker.wake();
                }));
            }
            polled += 1;
            if gate.load(Acquire) == 1 { Poll::Ready(polled) } else { Poll::Pending }
        }));
        teetotal::reachable!("polled thrice", polled == 3);
        assert!(polled <= 3, "polled {polled} times");
    };
    assert!(explore(0, poll).failure.is_some_and(|text| text.starts_with("`polled thrice` is never reached")));
    assert_eq!(explore(1, poll).failure, None);
}

#[test]
fn the_environment_may_ask_for_it() {
    let (passes, text) = common::run("victim", &[]);
    assert!(passes, "{text}");
    let (passes, text) = common::run("victim", &[("TEETOTAL_SPURIOUS", "1")]);
    assert!(!passes && text.contains("it failed"), "{text}");
    let (passes, text) = common::run("victim", &[("TEETOTAL_SPURIOUS", "often")]);
    assert!(!passes && text.contains("TEETOTAL_SPURIOUS is `often`, and must be a number"), "{text}");
}

#[test]
fn victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            assert!(AtomicUsize::new(0).compare_exchange_weak(0, 1, Relaxed, Relaxed).is_ok(), "it failed");
        });
    }
}
