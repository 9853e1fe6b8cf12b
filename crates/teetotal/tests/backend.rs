//! Threads of models on threads of the operating system.

mod common;

use std::cell::Cell;

use teetotal::model::{Backend, Builder, Report};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::sync::{Arc, Mutex};
use teetotal::{ModelId, thread};

fn explore(backend: Backend, model: ModelId, f: impl Fn() + Send + Sync + 'static) -> Report {
    let mut builder = Builder::new();
    (builder.backend, builder.model) = (backend, model);
    builder.explore(f)
}

/// What a crate may do that knows nothing of the checker.
fn foreign_count() -> usize {
    std::thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });
    COUNT.set(COUNT.get() + 1);
    COUNT.get()
}

#[test]
fn each_thread_has_thread_locals_of_its_own() {
    let model = || {
        let other = thread::spawn(|| {
            thread::yield_now();
            foreign_count()
        });
        let own = foreign_count();
        assert_eq!((own, other.join().expect("it ends")), (1, 1));
    };
    assert_eq!(explore(Backend::OsThreads, ModelId::Pso, model).failure, None);
    let failure = explore(Backend::Coroutines, ModelId::Pso, model).failure;
    assert!(failure.is_some(), "coroutines share them");
}

/// Store buffering, a lock, and a flag.
fn mixed(asserts: bool) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.0.store(1, Release);
            *other.2.lock().expect("no thread panics") += 1;
            other.1.load(Acquire)
        });
        shared.1.store(1, Release);
        let read = shared.0.load(Acquire);
        *shared.2.lock().expect("no thread panics") += 1;
        let other = thread.join().expect("it ends");
        assert!(!asserts || read + other > 0, "nobody saw a store");
        assert_eq!(*shared.2.lock().expect("no thread panics"), 2);
    }
}

#[test]
fn both_backends_find_the_same() {
    for model in common::MODELS {
        for asserts in [false, true] {
            let [one, two] = [Backend::Coroutines, Backend::OsThreads].map(|backend| {
                let report = explore(backend, model, mixed(asserts));
                (report.executions, report.coverage, report.stats, report.failure)
            });
            assert_eq!(one, two, "{model:?}");
        }
    }
}

#[test]
fn deadlocks_are_found_and_their_threads_left() {
    let report = explore(Backend::OsThreads, ModelId::Sc, || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _second = other.1.lock().expect("no thread panics");
            let _first = other.0.lock().expect("no thread panics");
        });
        let _first = locks.0.lock().expect("no thread panics");
        let _second = locks.1.lock().expect("no thread panics");
        thread.join().expect("it ends");
    });
    let failure = report.failure.expect("they wait for each other");
    assert!(failure.starts_with("deadlock: main, T1 are blocked forever"), "{failure}");
}

#[test]
fn victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let cell = Arc::new(AtomicUsize::new(0));
            let other = Arc::clone(&cell);
            let thread = thread::spawn(move || other.store(foreign_count(), Relaxed));
            thread.join().expect("it ends");
            foreign_count();
            assert_eq!(cell.load(Relaxed), 1, "shared");
        });
    }
}

#[test]
fn the_environment_chooses() {
    let (passes, text) = common::run("victim", &[("TEETOTAL_BACKEND", "os")]);
    assert!(passes, "{text}");
    let (passes, text) = common::run("victim", &[("TEETOTAL_BACKEND", "green")]);
    assert!(!passes && text.contains("TEETOTAL_BACKEND is `green`, and must be coroutines or os"), "{text}");
}
