//! Rust code under the checker: the shapes that matter, with the verdicts they must have.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use std::panic::{catch_unwind, resume_unwind};

use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, Report};
use teetotal::sync::atomic::{AtomicUsize, Ordering, fence};
use teetotal::sync::{Arc, Mutex};
use teetotal::{ModelId, hint, thread};

fn explore(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> Report {
    let mut builder = Builder::new();
    builder.model = model;
    builder.explore(f)
}

const MODELS: [ModelId; 3] = [ModelId::Sc, ModelId::Tso, ModelId::Pso];

/// Store buffering among `n` threads; not all may read 0.
fn store_buffering(n: usize, store: Ordering, load: Ordering, fenced: bool) -> impl Fn() + Sync + Send + 'static {
    move || {
        let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..n).map(|_| AtomicUsize::new(0)).collect());
        let threads: Vec<_> = (0..n)
            .map(|i| {
                let cells = Arc::clone(&cells);
                thread::spawn(move || {
                    cells[i].store(1, store);
                    if fenced {
                        fence(Ordering::SeqCst);
                    }
                    cells[(i + 1) % cells.len()].load(load)
                })
            })
            .collect();
        let read: Vec<usize> = threads.into_iter().map(|thread| thread.join().expect("it ends")).collect();
        assert!(read.contains(&1), "nobody saw a store");
    }
}

#[test]
fn store_buffering_has_one_execution_for_each_outcome() {
    use Ordering::{Acquire, Relaxed, Release, SeqCst};
    for n in 2..=4 {
        for model in MODELS {
            let weak = explore(model, store_buffering(n, Release, Acquire, false));
            assert_eq!(weak.failure.is_some(), model != ModelId::Sc, "{n} threads under {model:?}");
            for (store, load, fenced) in [(SeqCst, SeqCst, false), (Relaxed, Relaxed, true)] {
                let strong = explore(model, store_buffering(n, store, load, fenced));
                assert_eq!(strong.failure, None);
                assert!(strong.coverage.is_complete());
                assert_eq!(strong.executions, (1 << n) - 1, "{n} threads under {model:?}");
            }
        }
    }
}

/// A piece of data that threads may share.
struct Shared(UnsafeCell<usize>);

// SAFETY: what is done with it is what is checked.
unsafe impl Sync for Shared {}

/// Message passing with this ordering of the flag.
fn message_passing(store: Ordering, load: Ordering) -> impl Fn() + Sync + Send + 'static {
    move || {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let writer = thread::spawn(move || {
            // SAFETY: the checker says whether it is.
            other.0.0.with_mut(|data| unsafe { *data = 1 });
            other.1.store(1, store);
        });
        if shared.1.load(load) == 1 {
            // SAFETY: the checker says whether it is.
            assert_eq!(shared.0.0.with(|data| unsafe { *data }), 1);
        }
        writer.join().expect("it ends");
    }
}

#[test]
fn message_passing_needs_release_and_acquire() {
    for model in MODELS {
        let right = explore(model, message_passing(Ordering::Release, Ordering::Acquire));
        assert_eq!((right.failure, right.executions), (None, 2));
        for (store, load) in [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)] {
            let wrong = explore(model, message_passing(store, load)).failure.expect("it is a race");
            assert!(wrong.starts_with("data race"), "{wrong}");
        }
    }
}

#[test]
fn a_load_that_races_with_load_and_store_sees_both_values() {
    for model in MODELS {
        let report = explore(model, || {
            let x = Arc::new(AtomicUsize::new(0));
            let y = Arc::clone(&x);
            let other = thread::spawn(move || {
                y.load(Ordering::Relaxed);
                y.store(1, Ordering::Relaxed);
            });
            let seen = x.load(Ordering::Relaxed);
            other.join().expect("it ends");
            assert_eq!(seen, 0, "the store was seen");
        });
        assert!(report.failure.is_some_and(|text| text.starts_with("main panicked: assertion")));
    }
}

#[test]
fn a_thread_that_ends_with_a_panic_that_it_caught_shows_that_one() {
    let report = explore(ModelId::Pso, || {
        AtomicUsize::new(0).store(1, Ordering::Relaxed);
        let first = catch_unwind(|| panic!("the first")).expect_err("it panics");
        let _ = catch_unwind(|| panic!("the second"));
        resume_unwind(first);
    });
    let text = report.failure.expect("it panics");
    assert!(text.starts_with("main panicked: the first\n") && text.contains("panic!(\"the first\")"), "{text}");
    let report = explore(ModelId::Pso, || {
        AtomicUsize::new(0).store(1, Ordering::Relaxed);
        let _ = catch_unwind(|| panic!("the first"));
        resume_unwind(Box::new("a value of its own"));
    });
    let text = report.failure.expect("it panics");
    assert!(text.starts_with("main panicked: a value of its own\n") && !text.contains("the first"), "{text}");
}

#[test]
fn a_lock_keeps_others_out() {
    for model in MODELS {
        let report = explore(model, || {
            let n = Arc::new(Mutex::new(0));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let n = Arc::clone(&n);
                    thread::spawn(move || *n.lock().expect("no thread panics") += 1)
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
            assert_eq!(*n.lock().expect("no thread panics"), 3);
        });
        assert_eq!((report.failure, report.executions), (None, 6));
    }
}

#[test]
fn locks_in_opposite_order_deadlock() {
    let report = explore(ModelId::Pso, || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _b = other.1.lock();
            let _a = other.0.lock();
        });
        {
            let _a = locks.0.lock();
            let _b = locks.1.lock();
        }
        thread.join().expect("it ends");
    });
    let text = report.failure.expect("they may deadlock");
    assert!(text.starts_with("deadlock: main, T1 are blocked forever"), "{text}");
}

#[test]
fn a_loop_that_waits_ends() {
    for model in MODELS {
        let report = explore(model, || {
            let flag = Arc::new(AtomicUsize::new(0));
            let other = Arc::clone(&flag);
            let waiter = thread::spawn(move || {
                while other.load(Ordering::Acquire) == 0 {
                    hint::spin_loop();
                }
            });
            flag.store(1, Ordering::Release);
            waiter.join().expect("it ends");
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn an_execution_may_be_much_longer_than_the_others() {
    let report = explore(ModelId::Pso, || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        let writer = thread::spawn(move || other.store(1, Ordering::Relaxed));
        let n = if flag.load(Ordering::Relaxed) == 0 { 1 } else { 60 };
        // Each is a location that no thread has used before.
        (0..n).for_each(|n| assert_eq!(AtomicUsize::new(n).fetch_add(1, Ordering::Relaxed), n));
        writer.join().expect("it ends");
    });
    assert_eq!((report.failure, report.executions), (None, 2));
    assert!(report.coverage.is_complete());
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let counts = [1, 2, 4].map(|jobs| {
        let mut builder = Builder::new();
        builder.jobs = jobs;
        let report = builder.check(store_buffering(4, Ordering::SeqCst, Ordering::SeqCst, false));
        (report.executions, report.coverage)
    });
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

/// Two threads that read and write in either order, and in one of these orders do more than fits into the smallest sets.
fn long_in_one_order() {
    let cells: Arc<[AtomicUsize; 3]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
    let own = Arc::clone(&cells);
    let other = thread::spawn(move || {
        own[0].store(1, Ordering::Relaxed);
        own[1].load(Ordering::Relaxed)
    });
    if cells[0].load(Ordering::Relaxed) == 1 {
        for _ in 0..100 {
            cells[2].fetch_add(1, Ordering::Relaxed);
        }
    }
    other.join().expect("it ends");
}

#[test]
fn a_search_goes_on_where_it_was_when_executions_become_long() {
    for model in MODELS {
        let report = explore(model, long_in_one_order);
        assert_eq!((report.failure, report.executions), (None, 2), "under {model:?}");
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn what_one_thread_does_before_there_is_another_is_no_part_of_the_search() {
    let mut builder = Builder::new();
    builder.max_branches = 20_000;
    let report = builder.explore(|| {
        let cell = Arc::new(AtomicUsize::new(0));
        for _ in 0..10_000 {
            cell.fetch_add(1, Ordering::Relaxed);
        }
        let own = Arc::clone(&cell);
        let other = thread::spawn(move || own.fetch_add(1, Ordering::Relaxed));
        let before = cell.swap(0, Ordering::Relaxed);
        let between = other.join().expect("it ends");
        assert!(matches!((before, between), (10_000, 0) | (10_001, 10_000)));
    });
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    assert_eq!((report.failure, report.executions), (None, 2));
}

#[test]
fn what_fails_is_shown_from_the_beginning() {
    let report = explore(ModelId::Pso, || {
        let cell = Arc::new(AtomicUsize::new(0));
        cell.store(7, Ordering::Relaxed);
        let own = Arc::clone(&cell);
        let other = thread::spawn(move || own.store(8, Ordering::Relaxed));
        assert_eq!(cell.load(Ordering::Relaxed), 7);
        other.join().expect("it ends");
    });
    let failure = report.failure.expect("the other thread may be first");
    assert!(failure.contains("cell.store(7, Ordering::Relaxed)"), "{failure}");
}
