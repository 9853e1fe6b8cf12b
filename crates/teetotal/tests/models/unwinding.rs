//! Threads that unwind: what their destructors do is searched as everything else.

#![allow(unsafe_code, reason = "cells are accessed through pointers")]

use super::common;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as RealMutex;

use common::{MODELS, explore, failure};
use teetotal::ModelId;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Backend, Builder, Report};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Relaxed, SeqCst};
use teetotal::sync::{Arc, Mutex, RwLock};
use teetotal::thread;

/// Every result of `f` in an execution under `model`.
fn outcomes<T: Ord + Clone + Send + 'static>(
    model: ModelId,
    backend: Backend,
    f: impl Fn() -> T + Sync + Send + 'static,
) -> (BTreeSet<T>, Report) {
    let seen: &'static RealMutex<BTreeSet<T>> = Box::leak(Box::default());
    let mut builder = Builder::new();
    (builder.model, builder.backend) = (model, backend);
    let report = builder.explore(move || {
        let result = f();
        seen.lock().expect("no thread panics").insert(result);
    });
    let seen = seen.lock().expect("no thread panics").clone();
    (seen, report)
}

/// Calls `f` when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn unwind(f: impl FnMut()) {
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _on_drop = OnDrop(f);
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
}

#[test]
fn a_guard_that_is_dropped_while_unwinding_releases_its_lock_at_once() {
    let report = explore(ModelId::Pso, || {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let thread = thread::spawn(move || {
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _guard = other.lock();
                panic!("it is caught");
            }));
            assert!(unwound.is_err());
            // No operation follows, so that the lock must be free already.
        });
        let guard = lock.lock();
        let was_poisoned = guard.is_err();
        drop(guard);
        thread.join().expect("it ends");
        assert!(lock.is_poisoned());
        assert!(was_poisoned || lock.lock().is_err());
    });
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete());
}

/// Store buffering in destructors has the outcomes that it has elsewhere.
#[test]
fn stores_of_destructors_are_searched() {
    for backend in [Backend::Coroutines, Backend::OsThreads] {
        for model in MODELS {
            let (seen, report) = outcomes(model, backend, || {
                let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
                let run = |cells: Arc<[AtomicUsize; 2]>, own: usize| {
                    let mut read = 0;
                    unwind(|| {
                        assert!(std::thread::panicking());
                        cells[own].store(1, Relaxed);
                        read = cells[1 - own].load(Relaxed);
                        assert!(std::thread::panicking());
                    });
                    assert!(!std::thread::panicking());
                    read
                };
                let other = cells.clone();
                let thread = thread::spawn(move || run(other, 1));
                let first = run(cells, 0);
                (first, thread.join().expect("it ends"))
            });
            assert_eq!(report.failure, None);
            let expected: &[_] =
                if model == ModelId::Sc { &[(0, 1), (1, 0), (1, 1)] } else { &[(0, 0), (0, 1), (1, 0), (1, 1)] };
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected, "under {model:?} on {backend:?}");
        }
    }
}

/// One thread unwinds while another locks: only a guard of the thread that unwinds poisons.
#[test]
fn a_thread_that_does_not_unwind_does_not_poison() {
    let report = explore(ModelId::Sc, || {
        let (x, lock) = (Arc::new(AtomicUsize::new(0)), Arc::new(RwLock::new(0)));
        let other = (x.clone(), lock.clone());
        let thread = thread::spawn(move || {
            unwind(|| {
                other.0.store(1, Relaxed);
                // Taken while it unwinds, and so not poisoned by that.
                drop(other.1.write());
                other.0.store(2, Relaxed);
            });
        });
        x.load(Relaxed);
        assert!(!std::thread::panicking());
        *lock.write().expect("no thread panics with the lock") += 1;
        thread.join().expect("it ends");
        assert!(!lock.is_poisoned());
    });
    assert_eq!(report.failure, None);
}

#[test]
fn whether_a_lock_is_poisoned_is_an_operation() {
    let (seen, report) = outcomes(ModelId::Sc, Backend::Coroutines, || {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        let thread = thread::spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _guard = other.lock();
                std::panic::resume_unwind(Box::new(()));
            }));
        });
        let first = lock.is_poisoned();
        let is_free = lock.try_lock().is_ok();
        let second = lock.is_poisoned();
        thread.join().expect("it ends");
        (first, is_free, second)
    });
    assert_eq!(report.failure, None);
    // The flag is set before the lock is released, and an error of a poisoned lock is not `Ok`.
    let expected =
        [(false, false, false), (false, false, true), (false, true, false), (false, true, true), (true, false, true)];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn clearing_poison_beside_a_lock_has_both_outcomes() {
    let (seen, report) = outcomes(ModelId::Sc, Backend::Coroutines, || {
        let lock = Arc::new(Mutex::new(()));
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.lock();
            std::panic::resume_unwind(Box::new(()));
        }));
        let other = lock.clone();
        let thread = thread::spawn(move || other.clear_poison());
        let is_poisoned = lock.lock().is_err();
        thread.join().expect("it ends");
        (is_poisoned, lock.is_poisoned())
    });
    assert_eq!(report.failure, None);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(false, false), (true, false)]);
}

#[test]
fn a_race_in_a_destructor_that_unwinds_is_found() {
    struct Shared(UnsafeCell<usize>);
    // SAFETY: it is not, which is what is found.
    unsafe impl Sync for Shared {}
    let text = failure(ModelId::Sc, || {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let other = shared.clone();
        // SAFETY: none.
        let thread = thread::spawn(move || other.0.with_mut(|data| unsafe { *data = 1 }));
        // SAFETY: none.
        unwind(|| shared.0.with_mut(|data| unsafe { *data = 2 }));
        thread.join().expect("it ends");
    });
    assert!(text.starts_with("data race"), "{text}");
}

/// A race is found also by code that catches every panic.
#[test]
fn a_race_cannot_be_caught() {
    struct Shared(UnsafeCell<usize>);
    // SAFETY: it is not, which is what is found.
    unsafe impl Sync for Shared {}
    let text = failure(ModelId::Sc, || {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let other = shared.clone();
        let write = |shared: &Shared| {
            // SAFETY: none.
            let _ = catch_unwind(AssertUnwindSafe(|| shared.0.with_mut(|data| unsafe { *data = 1 })));
        };
        let thread = thread::spawn(move || write(&other));
        write(&shared);
        thread.join().expect("it ends");
    });
    assert!(text.starts_with("data race"), "{text}");
}

/// The panic that ends a thread is shown, also if its destructors wait for others.
#[test]
fn a_panic_is_shown_after_its_destructors_were_searched() {
    let text = failure(ModelId::Sc, || {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let other = (x.clone(), y.clone());
        let thread = thread::spawn(move || {
            let _on_drop = OnDrop(|| other.0.store(1, SeqCst));
            panic!("this ends it");
        });
        y.load(SeqCst);
        let _ = thread.join();
    });
    assert!(text.contains("this ends it"), "{text}");
}
