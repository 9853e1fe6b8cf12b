//! What may happen for no reason, once in an execution unless something else is asked for.

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex as StdMutex};
use std::task::Poll;

use teetotal::model::{Builder, Report, SearchId};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::sync::{Arc, Condvar, Mutex};
use teetotal::{ModelId, hint, thread};

/// Settings under PSO, since `rf` takes models of store buffers only.
fn under_pso() -> Builder {
    let mut builder = Builder::new();
    builder.model = ModelId::Pso;
    builder
}

/// What a search finds where an execution may have so many failures.
fn explore(spurious: usize, f: impl Fn() + Send + Sync + 'static) -> Report {
    let mut builder = under_pso();
    builder.spurious = spurious;
    builder.explore(f)
}

#[test]
fn a_weak_compare_exchange_fails_unless_that_is_ruled_out() {
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
            *other.0.lock().expect("no thread panics") = true;
            other.1.notify_one();
        });
        let mut ready = shared.0.lock().expect("no thread panics");
        if again {
            while !*ready {
                ready = shared.1.wait(ready).expect("no thread panics");
            }
        } else if !*ready {
            ready = shared.1.wait(ready).expect("no thread panics");
        }
        assert!(*ready, "woken too early");
        drop(ready);
        thread.join().expect("it ends");
    }
}

#[test]
fn a_wait_ends_too_early_unless_that_is_ruled_out() {
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
fn a_park_ends_too_early_unless_that_is_ruled_out() {
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
fn a_future_is_polled_too_early_unless_that_is_ruled_out() {
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

/// Two threads that each try once, by a weak compare-exchange of a cell of their own.
fn both_fail() -> bool {
    let own = || AtomicUsize::new(0).compare_exchange_weak(0, 1, Relaxed, Relaxed).is_err();
    let other = thread::spawn(own);
    own() & other.join().expect("it ends")
}

#[test]
fn the_bound_is_that_of_the_execution() {
    for (search, failures) in
        [(SearchId::Dpor, 1), (SearchId::ReadsFrom, 1), (SearchId::Dpor, 2), (SearchId::ReadsFrom, 2)]
    {
        let mut builder = under_pso();
        (builder.search, builder.spurious) = (search, failures);
        let report = builder.explore(|| assert!(!both_fail(), "both failed"));
        assert_eq!(report.failure.is_some(), failures == 2, "{search:?} with {failures}");
        assert!(failures == 2 || report.coverage.is_complete() && report.executions == 3, "{report:?}");
    }
}

type Tried = Vec<(usize, Result<usize, usize>)>;

/// What two threads of which each tries twice are answered, in every execution.
fn outcomes(search: SearchId, spurious: usize) -> BTreeSet<Tried> {
    let all = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&all);
    let mut builder = under_pso();
    (builder.search, builder.spurious) = (search, spurious);
    let report = builder.explore(move || {
        let cell = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&cell);
        let tries = |cell: &AtomicUsize| -> Tried {
            let attempt = |new: usize| {
                let old = cell.load(Relaxed);
                (old, cell.compare_exchange_weak(old, old + new, Relaxed, Relaxed))
            };
            [1, 10].map(attempt).to_vec()
        };
        let thread = thread::spawn(move || tries(&other));
        let mut tried = tries(&cell);
        tried.extend(thread.join().expect("it ends"));
        seen.lock().expect("no thread panics").insert(tried);
    });
    assert_eq!((report.failure, report.coverage.is_complete()), (None, true), "{search:?}");
    StdArc::into_inner(all).expect("the search is over").into_inner().expect("no thread panics")
}

#[test]
fn the_bound_leaves_out_just_what_has_more() {
    let everything = outcomes(SearchId::Dpor, 4);
    for most in 0..=3 {
        let n_spurious = |tried: &Tried| tried.iter().filter(|(old, answer)| *answer == Err(*old)).count();
        let within: BTreeSet<Tried> = everything.iter().filter(|tried| n_spurious(tried) <= most).cloned().collect();
        assert!(within.len() < everything.len());
        assert_eq!(outcomes(SearchId::Dpor, most), within, "dpor, {most}");
        assert_eq!(outcomes(SearchId::ReadsFrom, most), within, "mcr, {most}");
    }
}

#[test]
fn the_execution_says_what_was_spurious() {
    let failure = explore(1, wait(false)).failure.expect("it may end too early");
    assert!(failure.contains("wakes up spuriously"), "{failure}");
    let weak = || assert!(AtomicUsize::new(0).compare_exchange_weak(0, 1, Relaxed, Relaxed).is_ok());
    let failure = explore(1, weak).failure.expect("it may fail");
    assert!(failure.contains("fails spuriously"), "{failure}");
}

#[test]
fn the_environment_may_rule_it_out() {
    let (passes, text) = common::run("victim", &[("TEETOTAL_SPURIOUS", "0")]);
    assert!(passes, "{text}");
    let (passes, text) = common::run("victim", &[]);
    assert!(!passes && text.contains("it failed") && !text.contains("TEETOTAL_SPURIOUS"), "{text}");
    let (passes, text) = common::run("victim", &[("TEETOTAL_SPURIOUS", "2")]);
    assert!(!passes && text.contains("    TEETOTAL_SPURIOUS=2 TEETOTAL_REPLAY="), "{text}");
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
