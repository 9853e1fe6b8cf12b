//! Hints are hints: a loop that waits has every execution, whether or not it says that it waits.
//!
//! A program of its own, since some of these tests write to statics all the time, which other models would see.

#![allow(unsafe_code, reason = "cells are accessed through pointers")]

mod common;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

use common::{MODELS, explore, failure};
use teetotal::cell::UnsafeCell;
use teetotal::model::{Report, reached};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};
use teetotal::{ModelId, hint, thread};

/// Every result of `f` in an execution under `model` that counts; one that is given up runs to its end too.
fn outcomes<T: Ord + Clone + Debug + Send + 'static>(
    model: ModelId,
    f: impl Fn() -> T + Sync + Send + 'static,
) -> (BTreeSet<T>, Report) {
    let seen: &'static Mutex<BTreeSet<T>> = Box::leak(Box::default());
    let report = explore(model, move || {
        let result = f();
        reached(&format!("{result:?}"), true);
        seen.lock().expect("no thread panics").insert(result);
    });
    let mut seen = seen.lock().expect("no thread panics").clone();
    seen.retain(|result| report.reachable.iter().any(|mark| mark.name == format!("{result:?}")));
    (seen, report)
}

#[test]
fn a_hint_between_two_loads_deletes_no_execution() {
    for hint in [thread::yield_now as fn(), hint::spin_loop, || thread::sleep(Duration::from_millis(1))] {
        for model in MODELS {
            let (seen, report) = outcomes(model, move || {
                let x = Arc::new(AtomicUsize::new(0));
                let other = x.clone();
                let thread = thread::spawn(move || other.store(1, SeqCst));
                let first = x.load(SeqCst);
                hint();
                let second = x.load(SeqCst);
                thread.join().expect("it ends");
                (first, second)
            });
            assert_eq!(report.failure, None);
            assert!(report.coverage.is_complete());
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 1)], "under {model:?}");
        }
    }
}

#[test]
fn a_bounded_wait_may_end_without_success() {
    for model in MODELS {
        let text = failure(model, || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            thread::spawn(move || other.store(true, Release));
            let mut is_set = false;
            for _ in 0..3 {
                if flag.load(Acquire) {
                    is_set = true;
                    break;
                }
                hint::spin_loop();
            }
            assert!(is_set, "it gave up");
        });
        assert!(text.contains("it gave up"), "{text}");
    }
}

/// What is found where a thread reads data that another one writes before it sets a flag, after `wait` on the flag.
fn read_after(wait: fn(&AtomicUsize)) -> String {
    struct Shared(AtomicUsize, UnsafeCell<usize>);
    // SAFETY: it is not, which is what is found.
    unsafe impl Sync for Shared {}
    failure(ModelId::Sc, move || {
        let shared = Arc::new(Shared(AtomicUsize::new(0), UnsafeCell::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            // SAFETY: none.
            other.1.with_mut(|data| unsafe { *data = 1 });
            other.0.store(1, Release);
        });
        wait(&shared.0);
        // SAFETY: none.
        shared.1.with(|data| unsafe { *data });
        thread.join().expect("it ends");
    })
}

#[test]
fn a_race_behind_a_hint_is_found() {
    let text = read_after(|flag| {
        if flag.load(Acquire) == 0 {
            thread::yield_now();
        }
    });
    assert!(text.starts_with("data race"), "{text}");
}

#[test]
fn a_relaxed_loop_does_not_synchronize() {
    let text = read_after(|flag| {
        while flag.load(Relaxed) == 0 {
            thread::yield_now();
        }
    });
    assert!(text.starts_with("data race"), "{text}");
}

/// A pure loop is one failed await, after at most one iteration that is unrolled, with a hint and without.
#[test]
fn a_pure_loop_has_few_executions() {
    for is_hinted in [true, false] {
        for model in MODELS {
            let report = explore(model, move || {
                let flag = Arc::new(AtomicBool::new(false));
                let other = flag.clone();
                let thread = thread::spawn(move || other.store(true, Release));
                while !flag.load(Acquire) {
                    if is_hinted {
                        hint::spin_loop();
                    }
                }
                thread.join().expect("it ends");
            });
            assert_eq!(report.failure, None);
            assert!(report.coverage.is_complete(), "{:?}", report.coverage);
            // A slot of the frame may be written in the first iteration only, which is then unrolled.
            assert!(report.executions <= if cfg!(debug_assertions) { 3 } else { 2 }, "{}", report.executions);
        }
    }
}

#[test]
fn a_loop_that_no_thread_ends_is_a_livelock() {
    for model in MODELS {
        let text = failure(model, || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let thread = thread::spawn(move || other.store(false, Release));
            while !flag.load(Acquire) {}
            thread.join().expect("it ends");
        });
        assert!(text.starts_with("livelock: main is blocked forever"), "{text}");
    }
}

/// Waits for another thread with a time limit, again and again.
fn wait_with_time_limit() {
    let shared = Arc::new((teetotal::sync::Mutex::new(false), teetotal::sync::Condvar::new()));
    let setter = shared.clone();
    let thread = thread::spawn(move || {
        *setter.0.lock().expect("no thread panics") = true;
        setter.1.notify_one();
    });
    let mut is_set = shared.0.lock().expect("no thread panics");
    while !*is_set {
        is_set = shared.1.wait_timeout(is_set, Duration::from_millis(1)).expect("no thread panics").0;
    }
    drop(is_set);
    thread.join().expect("it ends");
}

/// Statics are compared, and other OS threads may change them at any time.
#[test]
fn what_other_os_threads_do_to_statics_decides_nothing() {
    use std::sync::atomic::{AtomicBool as RealBool, AtomicUsize as RealUsize};
    static NOISE: RealUsize = RealUsize::new(0);
    static IS_OVER: RealBool = RealBool::new(false);
    let told = |report: Report| (report.coverage, report.failure, report.executions);
    let expected = told(explore(ModelId::Pso, wait_with_time_limit));
    let noise = std::thread::spawn(|| {
        while !IS_OVER.load(Relaxed) {
            NOISE.fetch_add(1, Relaxed);
        }
    });
    let all: Vec<_> = (0..200).map(|_| told(explore(ModelId::Pso, wait_with_time_limit))).collect();
    IS_OVER.store(true, Relaxed);
    noise.join().expect("it ends");
    assert!(all.iter().all(|one| *one == expected), "{expected:?}: {all:?}");
}

/// A static that changes now and then is seen in some iterations and not in others.
#[test]
fn statics_that_change_now_and_then_hide_no_livelock() {
    use std::sync::atomic::{AtomicBool as RealBool, AtomicUsize as RealUsize};
    static NOISE: RealUsize = RealUsize::new(0);
    static IS_OVER: RealBool = RealBool::new(false);
    let noise = std::thread::spawn(|| {
        while !IS_OVER.load(Relaxed) {
            NOISE.fetch_add(1, Relaxed);
            (0..1_000).for_each(|_| std::hint::spin_loop());
        }
    });
    let wait_for_what_may_be_gone = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = flag.clone();
        thread::spawn(move || (1..3).for_each(|value| other.store(value, Release)));
        while flag.load(Acquire) != 1 {
            hint::spin_loop();
        }
    };
    let is_missed = |report: &Report| report.failure.is_none() && report.coverage.is_complete();
    let missed = (0..400).map(|_| explore(ModelId::Sc, wait_for_what_may_be_gone)).filter(is_missed).count();
    IS_OVER.store(true, Relaxed);
    noise.join().expect("it ends");
    assert_eq!(missed, 0);
}

/// A loop that counts in a static of another library may end by that.
#[test]
fn a_loop_that_counts_in_a_static_is_unrolled() {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let text = failure(ModelId::Sc, || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        COUNT.store(0, SeqCst);
        thread::spawn(move || other.store(true, Release));
        while !flag.load(Acquire) {
            hint::spin_loop();
            assert!(COUNT.fetch_add(1, SeqCst) < 3, "it gave up");
        }
    });
    assert!(text.contains("it gave up"), "{text}");
}

/// The other loop is known to wait before this one is met, and has shorter iterations.
#[test]
fn a_loop_that_counts_after_an_inner_loop_has_waited_is_unrolled() {
    fn wait_while(location: &AtomicUsize, value: usize) {
        while location.load(Relaxed) == value {
            hint::spin_loop();
        }
    }
    /// Counts where no other frame shows it, after several operations.
    #[inline(never)]
    fn beat(location: &AtomicUsize, count: &std::sync::atomic::AtomicUsize) {
        let before = count.load(Relaxed);
        wait_while(location, 2 + before);
        let _ = [location.load(Relaxed), location.load(Relaxed), location.load(Relaxed)];
        count.store(before + 1, Relaxed);
        assert!(before < 8, "it gave up");
        location.load(Relaxed);
    }
    for model in MODELS {
        let text = failure(model, || {
            let [is_early, is_begun, is_set, other] = [(); 4].map(|()| AtomicUsize::new(0));
            let count = std::sync::atomic::AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| {
                    if is_early.load(Relaxed) == 1 {
                        return wait_while(&is_begun, 0);
                    }
                    while is_set.load(Relaxed) == 0 {
                        beat(&other, &count);
                    }
                });
                for flag in [&is_early, &is_begun, &is_set] {
                    flag.store(1, Relaxed);
                }
            });
        });
        assert!(text.contains("it gave up"), "{text}");
    }
}

/// The other thread sees two stores, which takes two iterations.
#[test]
fn an_iteration_that_stores_is_no_failed_await() {
    for model in MODELS {
        let (seen, report) = outcomes(model, || {
            let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                let first = other.0.load(SeqCst);
                other.0.store(0, SeqCst);
                let second = other.0.load(SeqCst);
                other.1.store(1, SeqCst);
                (first, second)
            });
            while shared.1.load(SeqCst) == 0 {
                shared.0.store(1, SeqCst);
                thread::yield_now();
            }
            thread.join().expect("it ends")
        });
        assert_eq!(report.failure, None);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (1, 1)], "under {model:?}");
    }
}

/// The store of the other thread comes between a change and its restoration, which overwrites it.
///
/// The thread finds what it left, in an iteration that begins after it was told of the store; so the one before was not
/// without effect. The first iterations are the same for any stack that they begin with.
#[test]
fn an_iteration_that_overwrites_another_thread_is_no_failed_await() {
    for model in MODELS {
        let (seen, report) = outcomes(model, || {
            let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false)));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                while !other.2.load(SeqCst) {}
                other.0.store(1, SeqCst);
                other.1.store(1, SeqCst);
            });
            let (mut iterations, mut has_seen) = (0, false);
            loop {
                let is_told = shared.1.load(SeqCst) == 1;
                let old = shared.0.swap(1, SeqCst);
                shared.0.swap(0, SeqCst);
                has_seen |= old == 1;
                if is_told && old == 0 {
                    break;
                }
                if iterations == 3 {
                    shared.2.store(true, SeqCst);
                }
                iterations = 4.min(iterations + 1);
            }
            thread.join().expect("it ends");
            has_seen
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete(), "{:?} under {model:?}", report.coverage);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [false, true], "under {model:?}");
    }
}

/// A store comes between a change and its restoration in an iteration that begins in a known own state.
///
/// The other thread waits for three iterations that store, of which nothing is left in the own state.
#[test]
fn an_iteration_that_overwrites_another_thread_in_a_known_state_is_no_failed_await() {
    #[derive(Default)]
    struct Shared {
        value: AtomicUsize,
        is_told: AtomicUsize,
        iterations: AtomicUsize,
    }
    #[inline(never)]
    fn count(iterations: &AtomicUsize) {
        let n = iterations.load(SeqCst);
        if n < 3 {
            iterations.store(n + 1, SeqCst);
        }
    }
    #[inline(never)]
    fn iterate(shared: &Shared, has_seen: &mut bool) -> bool {
        // What `count` left in the stack is not there after this.
        shared.iterations.load(SeqCst);
        let is_told = shared.is_told.load(SeqCst) == 1;
        let old = shared.value.swap(1, SeqCst);
        shared.value.swap(0, SeqCst);
        *has_seen |= old == 1;
        count(&shared.iterations);
        is_told && old == 0
    }
    for model in MODELS {
        let text = failure(model, || {
            let shared = Arc::new(Shared::default());
            let other = shared.clone();
            let thread = thread::spawn(move || {
                while other.iterations.load(SeqCst) < 3 {}
                other.value.store(1, SeqCst);
                other.is_told.store(1, SeqCst);
            });
            let mut has_seen = false;
            while !iterate(&shared, &mut has_seen) {
                hint::spin_loop();
            }
            thread.join().expect("it ends");
            assert!(has_seen, "it was overwritten");
        });
        assert!(text.contains("it was overwritten"), "{text}");
    }
}
