//! The operations that a closure offers, and the effects of the answers.

mod common;

use std::sync::atomic::AtomicU64;

use teetotal_live::sync::atomic::{AtomicBool, AtomicUsize, Ordering, Ordering::Relaxed};
use teetotal_live::sync::{Arc, Mutex};
use teetotal_live::{Ledger, Setup, hint, thread};
use teetotal_memory::models::{Sc, Tso};
use teetotal_memory::{EventKind, Model};
use teetotal_program::{Op, Order, Status, ThreadId};

use crate::common::Run;

#[test]
fn a_thread_stops_at_each_operation_and_is_answered_with_what_memory_holds() {
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let mut run = Run::<Sc>::of(|| {
        let x = AtomicUsize::new(7);
        let before = x.fetch_add(2, Ordering::AcqRel);
        x.store(10 * before + x.load(Relaxed), Ordering::Release);
        SEEN.store(x.load(Ordering::Acquire) as u64, Relaxed);
    });
    assert!(matches!(run.op(0), Op::Rmw { order: Order::AcqRel, .. }));
    run.issue(0);
    assert!(matches!(run.op(0), Op::Load { order: Order::Relaxed, .. }));
    run.issue(0);
    assert!(matches!(run.op(0), Op::Store { value: 79, order: Order::Release, .. }));
    run.finish();
    assert_eq!((run.status(0), SEEN.load(Relaxed)), (Status::Finished, 79));
}

#[test]
fn a_cell_is_the_same_location_wherever_it_is_moved() {
    let mut run = Run::<Sc>::of(|| {
        let (one, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
        one.store(1, Relaxed);
        other.store(1, Relaxed);
        let boxed = Box::new(one);
        boxed.store(2, Relaxed);
        let list = [other, *boxed];
        list[1].store(3, Relaxed);
        list[0].store(2, Relaxed);
    });
    run.finish();
    let locations = run.locations();
    let (one, other) = (locations[0], locations[1]);
    assert_ne!(one, other);
    assert_eq!(locations, [one, other, one, one, other]);
}

#[test]
fn a_new_cell_in_the_place_of_another_is_another_location() {
    let mut run = Run::<Sc>::of(|| {
        for value in 0..3 {
            AtomicUsize::new(value).store(5, Relaxed);
        }
    });
    run.finish();
    let mut locations = run.locations();
    locations.dedup();
    assert_eq!(locations.len(), 3);
}

#[test]
fn locations_and_threads_have_the_same_numbers_in_each_execution() {
    let mut run = Run::<Sc>::of(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::clone(&x);
        let child = thread::spawn(move || y.store(1, Relaxed));
        let _ = x.load(Relaxed);
        child.join().expect("it does not panic");
    });
    run.finish();
    let first = run.trace.clone();
    assert!(first.events().iter().any(|event| event.thread == ThreadId(1)));
    for _ in 0..3 {
        run.restart();
        assert!(run.trace.events().is_empty());
        run.finish();
        assert_eq!(run.trace, first);
    }
}

#[test]
fn a_static_is_as_at_the_beginning_in_each_execution() {
    static X: AtomicUsize = AtomicUsize::new(5);
    let mut run = Run::<Sc>::of(|| {
        assert_eq!(X.load(Relaxed), 5);
        X.store(6, Relaxed);
        assert_eq!(X.load(Relaxed), 6);
    });
    for _ in 0..3 {
        run.finish();
        assert_eq!(run.status(0), Status::Finished);
        run.restart();
    }
    assert_eq!(X.load(Relaxed), 5, "outside of the model it was not changed");
}

#[test]
fn a_panic_is_a_failure_of_its_thread() {
    let mut run = Run::<Sc>::of(|| assert_eq!(AtomicUsize::new(0).load(Relaxed), 1));
    run.issue(0);
    assert!(matches!(run.status(0), Status::Failed(_)));
    assert!(run.live.panics(ThreadId(0))[0].0.contains("left: 0"));
}

#[test]
fn a_join_is_possible_once_the_thread_has_ended() {
    let mut run = Run::<Tso>::of(|| {
        let child = thread::spawn(|| AtomicUsize::new(0).store(1, Relaxed));
        child.join().expect("it does not panic");
    });
    assert!(matches!(run.op(0), Op::Spawn { .. }));
    assert_eq!(run.enabled().len(), 1);
    run.issue(0);
    assert!(matches!(run.op(0), Op::Join { thread: ThreadId(1), .. }));
    assert!(run.enabled().iter().all(|step| step.thread() == ThreadId(1)));
    run.finish();
    assert_eq!((run.status(0), run.status(1)), (Status::Finished, Status::Finished));
}

#[test]
fn a_mutex_is_held_by_one_thread_at_a_time() {
    let mut run = Run::<Sc>::of(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let child = thread::spawn(move || *other.lock().expect("no thread panics") += 1);
        *lock.lock().expect("no thread panics") += 1;
        child.join().expect("it does not panic");
        assert_eq!(*lock.lock().expect("no thread panics"), 2);
    });
    run.issue(0);
    assert!(matches!((run.op(0), run.op(1)), (Op::Lock { .. }, Op::Lock { .. })));
    run.issue(0);
    assert!(run.enabled().iter().all(|step| step.thread() == ThreadId(0)), "the lock is held");
    run.finish();
    assert_eq!(run.status(0), Status::Finished);
    assert!(run.trace.events().iter().filter(|event| event.kind == EventKind::Lock).count() == 3);
}

/// Whether thread 0 stands at a failed await after `body` has performed so many operations.
fn fails_after<M: Model>(operations: usize, body: impl Fn() + Send + Sync + 'static) -> bool {
    let mut run = Run::<M>::of(body);
    (0..operations).for_each(|_| run.issue(0));
    matches!(run.status(0), Status::FailedAwait(_))
}

#[test]
fn a_loop_that_only_reads_is_a_failed_await_after_an_iteration_that_read_the_same() {
    let wait = || {
        let flag = AtomicBool::new(false);
        while !flag.load(Relaxed) {
            hint::spin_loop();
        }
    };
    assert!((1..=3).any(|operations| fails_after::<Sc>(operations, wait)));
}

#[test]
fn a_loop_that_counts_is_no_failed_await() {
    let count = || {
        let flag = AtomicBool::new(false);
        let mut rounds = 0_u64;
        while !flag.load(Relaxed) && rounds < 1_000 {
            rounds += 1;
            hint::spin_loop();
        }
        std::hint::black_box(rounds);
    };
    assert!((1..=6).all(|operations| !fails_after::<Sc>(operations, count)));
}

#[test]
fn a_loop_that_stores_is_no_failed_await() {
    let store = || {
        let (flag, other) = (AtomicBool::new(false), AtomicUsize::new(0));
        while !flag.load(Relaxed) {
            other.store(1, Relaxed);
            hint::spin_loop();
        }
    };
    assert!((1..=4).all(|operations| !fails_after::<Sc>(operations, store)));
}

/// A weak compare-exchange that could succeed, and what it said.
fn weak(spurious: usize) -> (Run<Sc>, Ledger) {
    let ledger = Ledger::default();
    let setup = Setup { spurious, ..Setup::default() };
    let run = Run::with(&ledger, setup, || {
        let x = AtomicUsize::new(0);
        let first = x.compare_exchange_weak(0, 1, Relaxed, Relaxed);
        if first.is_err() {
            assert_eq!(x.compare_exchange_weak(0, 2, Relaxed, Relaxed), Ok(0));
            assert_eq!(x.load(Relaxed), 2);
        }
    });
    (run, ledger)
}

#[test]
fn a_weak_exchange_fails_spuriously_only_as_often_as_is_allowed() {
    let (mut run, _) = weak(0);
    assert!(matches!(run.op(0), Op::Rmw { .. }));
    run.finish();
    assert_eq!(run.status(0), Status::Finished);

    let (mut run, ledger) = weak(1);
    assert!(matches!(run.op(0), Op::Choose { alternatives: 2 }));
    assert!(ledger.is_spurious_bound_met(), "with more allowed there would be more executions");
    run.take(0, 1);
    run.issue(0);
    assert!(matches!(run.op(0), Op::Rmw { .. }), "it is asked no more: {:?}", run.op(0));
    run.finish();
    assert_eq!(run.status(0), Status::Finished);
}

#[test]
fn the_same_reads_have_the_same_fingerprint() {
    let mut run = Run::<Sc>::of(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::clone(&x);
        let child = thread::spawn(move || y.store(1, Relaxed));
        let _ = x.load(Relaxed);
        child.join().expect("it does not panic");
    });
    let mut of = |order: [u16; 3]| {
        run.restart();
        order.into_iter().for_each(|thread| run.issue(thread));
        run.live.fingerprint()
    };
    let (late, early) = (of([0, 0, 1]), of([0, 1, 0]));
    assert_ne!(late, early);
    assert_eq!(of([0, 0, 1]), late);
}
