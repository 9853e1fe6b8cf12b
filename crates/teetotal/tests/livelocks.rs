//! Loops that change something while they wait: which of them are livelocks, and which are held back by the fairness bound.

#![allow(clippy::unwrap_used, reason = "no thread panics")]
#![allow(unsafe_code, reason = "cells are accessed through pointers")]

mod common;

use common::{explore, failure, is_wanted, run};
use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, Caveat, Report, ViolationKind};
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};
use teetotal::sync::{Arc, Mutex};
use teetotal::{ModelId, StopReason, thread};

const MODELS: [ModelId; 4] = [ModelId::Sc, ModelId::Tso, ModelId::Pso, ModelId::Rc11];

/// Two flags and two other locations.
#[derive(Default)]
struct Shared {
    is_set: [AtomicBool; 2],
    beats: [AtomicUsize; 2],
}

/// Runs `f` in two threads that differ in their number.
fn both(f: fn(&Shared, usize)) {
    let shared = Arc::new(Shared::default());
    let other = shared.clone();
    let thread = thread::spawn(move || f(&other, 1));
    f(&shared, 0);
    thread.join().unwrap();
}

/// Waits for the other thread before it tells it to go on.
fn waits_first(shared: &Shared, me: usize) {
    while !shared.is_set[1 - me].load(Acquire) {
        shared.beats[me].store(1, Relaxed);
        thread::yield_now();
    }
    shared.is_set[me].store(true, Release);
}

#[test]
fn threads_that_store_while_they_wait_for_each_other_are_a_livelock() {
    for model in MODELS {
        let report = explore(model, || both(waits_first));
        let violation = report.failure.unwrap_or_else(|| panic!("{:?} under {model:?}", report.coverage));
        assert_eq!(violation.kind, ViolationKind::Livelock);
        let text = violation.to_string();
        assert!(text.starts_with("livelock: main, T1 are blocked forever"), "{text}");
        assert!(text.contains("main repeats steps") && text.contains("T1 repeats steps"), "{text}");
    }
}

#[test]
fn they_are_one_without_a_hint_too() {
    let text = failure(ModelId::Tso, || {
        both(|shared, me| {
            while !shared.is_set[1 - me].load(Acquire) {
                shared.beats[me].store(1, Relaxed);
            }
            shared.is_set[me].store(true, Release);
        });
    });
    assert!(text.starts_with("livelock: main, T1 are blocked forever"), "{text}");
}

#[test]
fn a_thread_that_stores_for_ever_beside_one_that_is_blocked_is_a_livelock() {
    let text = failure(ModelId::Pso, || {
        let shared = Arc::new(Shared::default());
        let other = shared.clone();
        let thread = thread::spawn(move || {
            thread::park();
            other.is_set[0].store(true, Release);
        });
        while !shared.is_set[0].load(Acquire) {
            shared.beats[0].swap(1, Relaxed);
            shared.beats[0].swap(2, Relaxed);
            thread::yield_now();
        }
        thread.join().unwrap();
    });
    assert!(text.starts_with("livelock: main, T1 are blocked forever"), "{text}");
}

#[test]
fn victim_that_stores_while_it_waits() {
    if is_wanted() {
        Builder::new().check(|| both(waits_first));
    }
}

#[test]
fn such_a_livelock_is_run_again_by_its_token() {
    let (passes, text) = run("victim_that_stores_while_it_waits", &[]);
    assert!(!passes);
    let token = text.split("TEETOTAL_REPLAY=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let token = token.unwrap_or_else(|| panic!("there is no token in {text}"));
    let (passes, again) = run("victim_that_stores_while_it_waits", &[("TEETOTAL_REPLAY", token)]);
    assert!(!passes && again.contains("livelock: main, T1 are blocked forever"), "{again}");
    assert!(again.contains("T1 repeats steps"), "{again}");
}

/// The report on a model that is held back by a fairness bound, with nothing wrong.
fn held_back(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> Report {
    let report = explore(model, f);
    assert_eq!(report.failure, None, "under {model:?}");
    assert!(matches!(report.coverage, teetotal::Coverage::Stopped(StopReason::Turns)), "{:?}", report.coverage);
    assert!(report.caveats.iter().any(|caveat| matches!(caveat, Caveat::Fairness { bound: 4, .. })));
    report
}

/// Both may back off in lock-step forever, but not if one of them runs alone.
#[test]
fn threads_that_back_off_from_each_other_are_held_back() {
    for model in MODELS {
        held_back(model, || {
            both(|shared, me| {
                loop {
                    shared.is_set[me].store(true, SeqCst);
                    if !shared.is_set[1 - me].load(SeqCst) {
                        break;
                    }
                    shared.is_set[me].store(false, SeqCst);
                    thread::yield_now();
                }
                shared.is_set[me].store(false, SeqCst);
            });
        });
    }
}

/// Each time it finds the lock free that the other thread has just freed, which is no news.
#[test]
fn threads_that_lock_in_both_orders_are_held_back_without_a_hint() {
    fn take(first: &Mutex<usize>, second: &Mutex<usize>) {
        loop {
            let mut first = first.lock().unwrap();
            if let Ok(mut second) = second.try_lock() {
                *first += 1;
                *second += 1;
                return;
            }
        }
    }
    for model in MODELS {
        let report = held_back(model, || {
            let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
            let other = locks.clone();
            let thread = thread::spawn(move || take(&other.1, &other.0));
            take(&locks.0, &locks.1);
            thread.join().unwrap();
            assert_eq!(*locks.0.lock().unwrap(), 2);
        });
        assert!(report.executions < 5_000, "{}", report.executions);
    }
}

/// Under RC11 it may read the old value again and again, until it is held back: memory is fair.
#[test]
fn a_thread_that_is_held_back_sees_what_was_done() {
    for model in MODELS {
        let report = held_back(model, || {
            let shared = Arc::new(Shared::default());
            let other = shared.clone();
            let thread = thread::spawn(move || other.is_set[0].store(true, Relaxed));
            while !shared.is_set[0].load(Relaxed) {
                shared.beats[0].fetch_add(1, Relaxed);
                thread::yield_now();
            }
            thread.join().unwrap();
        });
        assert!(report.executions < 20, "{}", report.executions);
    }
}

/// The loop that waits may see what the other one changes, if it looks at the right moment.
#[test]
fn a_cycle_that_another_order_leaves_is_no_livelock() {
    for model in MODELS {
        held_back(model, || {
            let shared = Arc::new(Shared::default());
            let other = shared.clone();
            let thread = thread::spawn(move || {
                while other.beats[0].load(SeqCst) != 1 {}
                other.is_set[0].store(true, SeqCst);
            });
            while !shared.is_set[0].load(SeqCst) {
                shared.beats[0].store(1, SeqCst);
                shared.beats[0].store(0, SeqCst);
                thread::yield_now();
            }
            thread.join().unwrap();
        });
    }
}

/// A loop without a hint that restores what the other thread sees: as many iterations as one with a hint has.
#[test]
fn a_loop_that_repeats_what_it_changes_needs_no_hint() {
    let program = || {
        let shared = Arc::new(Shared::default());
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let seen = other.beats[0].load(SeqCst);
            other.is_set[0].store(true, SeqCst);
            seen
        });
        while !shared.is_set[0].load(SeqCst) {
            shared.beats[0].swap(1, SeqCst);
            shared.beats[0].swap(0, SeqCst);
        }
        thread.join().unwrap()
    };
    for model in MODELS {
        let report = held_back(model, move || _ = program());
        assert!(report.executions < 200, "{}", report.executions);
    }
    let mut builder = Builder::new();
    builder.fairness_bound = Some(7);
    let report = builder.explore(move || _ = program());
    assert!(report.caveats.iter().any(|caveat| matches!(caveat, Caveat::Fairness { bound: 7, .. })));
}

/// These loops do the same on atomics in each iteration, but count elsewhere, and end.
#[test]
fn a_loop_that_counts_elsewhere_is_no_livelock() {
    struct Count(UnsafeCell<usize>);
    // SAFETY: one thread uses it.
    unsafe impl Sync for Count {}
    static STATIC: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    fn beat_until(ends: impl Fn() -> bool) {
        let shared = Arc::new(Shared::default());
        let other = shared.clone();
        let thread = thread::spawn(move || other.is_set[1].load(SeqCst));
        while !ends() {
            shared.beats[0].store(1, SeqCst);
            thread::yield_now();
        }
        thread.join().unwrap();
    }
    let programs: [fn(); 4] = [
        || {
            let count = Mutex::new(0);
            beat_until(|| {
                *count.lock().unwrap() += 1;
                *count.lock().unwrap() > 30
            });
        },
        || {
            let count = Arc::new(Count(UnsafeCell::new(0)));
            // SAFETY: no other thread uses it.
            beat_until(|| count.0.with_mut(|count| unsafe { (*count += 1, *count > 30).1 }));
        },
        || {
            let count = std::cell::Cell::new(0);
            beat_until(|| count.replace(count.get() + 1) > 30);
        },
        || {
            STATIC.store(0, Relaxed);
            beat_until(|| STATIC.fetch_add(1, Relaxed) > 30);
        },
    ];
    for program in programs {
        held_back(ModelId::Sc, program);
    }
}
