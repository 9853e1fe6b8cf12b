//! `Arc` and `Weak`: counts are abstracted until a thread observes them, and leaks are reported.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use super::common;

use common::{MODELS, executions, explore, failure};
use teetotal::ModelId;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, ViolationKind};
use teetotal::sync::atomic::{AtomicUsize, Ordering, fence};
use teetotal::sync::{Arc, Weak};
use teetotal::thread;

/// Store buffering with an `Arc` of each cell in each thread.
fn store_buffering(n: usize) -> impl Fn() + Sync + Send + 'static {
    move || {
        let cells: Arc<[AtomicUsize]> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        for i in 0..n {
            let cells = Arc::clone(&cells);
            thread::spawn(move || {
                cells[i].store(1, Ordering::Relaxed);
                cells[(i + 1) % n].load(Ordering::Relaxed);
            });
        }
    }
}

#[test]
fn store_buffering_has_as_many_executions_as_without() {
    for n in 2..=6 {
        for model in MODELS {
            let expected = (1 << n) - u64::from(model == ModelId::Sc);
            assert_eq!(executions(model, store_buffering(n)), expected, "{n} threads under {model:?}");
        }
    }
}

/// Something whose destructor adds to a counter that all can see.
struct Counted(&'static AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_destructor_that_can_be_seen_runs_in_whichever_thread_is_last() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let reached: &'static std::sync::Mutex<Vec<usize>> = Box::leak(Box::default());
    for model in MODELS {
        reached.lock().expect("no thread panics").clear();
        let report = explore(model, move || {
            let shared = Arc::new(Counted(&DROPPED));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                drop(other);
                if DROPPED.load(Ordering::SeqCst) == 1 {
                    LAST.store(1, Ordering::SeqCst);
                }
            });
            drop(shared);
            thread.join().expect("it ends");
            assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
            reached.lock().expect("no thread panics").push(LAST.load(Ordering::SeqCst));
        });
        assert_eq!(report.failure, None);
        let seen = reached.lock().expect("no thread panics");
        assert!(seen.contains(&0) && seen.contains(&1), "under {model:?} only {seen:?}");
    }
}

#[test]
fn a_destructor_knows_what_others_did_before_they_dropped() {
    struct Data(UnsafeCell<usize>);
    // SAFETY: what is done with it is what is checked.
    unsafe impl Sync for Data {}
    // SAFETY: the same.
    unsafe impl Send for Data {}
    impl Drop for Data {
        fn drop(&mut self) {
            // SAFETY: the checker says whether it is.
            self.0.with_mut(|data| unsafe { *data += 1 });
        }
    }
    for model in MODELS {
        let report = explore(model, || {
            let shared = Arc::new(Data(UnsafeCell::new(0)));
            let other = Arc::clone(&shared);
            // SAFETY: the checker says whether it is.
            thread::spawn(move || other.0.with(|data| unsafe { *data }));
            // SAFETY: the same.
            shared.0.with(|data| unsafe { *data });
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn what_is_not_dropped_is_reported_where_it_was_made() {
    let text = failure(ModelId::Pso, || {
        let leaked = Arc::new(1);
        std::mem::forget(leaked);
    });
    assert!(
        text.starts_with("leak: not freed when the execution ends\n    --> crates/teetotal/tests/models/arc.rs:104:22"),
        "{text}"
    );
    let text = failure(ModelId::Sc, || {
        struct Ring(std::sync::Mutex<Option<Arc<Ring>>>);
        let ring = Arc::new(Ring(std::sync::Mutex::new(None)));
        *ring.0.lock().expect("no thread panics") = Some(Arc::clone(&ring));
    });
    assert!(text.starts_with("leak: not freed"), "{text}");
}

#[test]
fn counts_are_those_of_some_order() {
    let seen: &'static std::sync::Mutex<Vec<usize>> = Box::leak(Box::default());
    let report = explore(ModelId::Pso, move || {
        let shared = Arc::new(());
        assert_eq!(Arc::strong_count(&shared), 1);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || drop(other));
        seen.lock().expect("no thread panics").push(Arc::strong_count(&shared));
        thread.join().expect("it ends");
        assert_eq!(Arc::strong_count(&shared), 1);
    });
    assert_eq!(report.failure, None);
    let seen = seen.lock().expect("no thread panics");
    assert!(seen.contains(&1) && seen.contains(&2), "{seen:?}");
}

#[test]
fn only_the_last_owner_gets_the_value() {
    for model in MODELS {
        let report = explore(model, || {
            let shared = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || Arc::try_unwrap(shared).is_ok())
                })
                .collect();
            drop(shared);
            let got = threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|&got| got).count();
            assert!(got <= 1);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn a_weak_reference_is_upgraded_before_the_value_is_gone_or_not() {
    let seen: &'static std::sync::Mutex<Vec<bool>> = Box::leak(Box::default());
    for model in MODELS {
        seen.lock().expect("no thread panics").clear();
        let report = explore(model, move || {
            let shared = Arc::new(AtomicUsize::new(7));
            let weak = Arc::downgrade(&shared);
            let thread = thread::spawn(move || drop(shared));
            let upgraded = weak.upgrade();
            if let Some(shared) = &upgraded {
                assert_eq!(shared.load(Ordering::Relaxed), 7);
            }
            seen.lock().expect("no thread panics").push(upgraded.is_some());
            thread.join().expect("it ends");
        });
        assert_eq!(report.failure, None);
        let seen = seen.lock().expect("no thread panics");
        assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
    }
}

#[test]
fn the_interface_is_that_of_the_standard_library() {
    let report = explore(ModelId::Sc, || {
        let mut own = Arc::new(5);
        *Arc::get_mut(&mut own).expect("nobody else has it") = 6;
        let other = Arc::clone(&own);
        assert!(Arc::get_mut(&mut own).is_none() && Arc::ptr_eq(&own, &other));
        assert_eq!((Arc::strong_count(&own), Arc::weak_count(&own)), (2, 0));
        *Arc::make_mut(&mut own) += 1;
        assert_eq!((*own, *other), (7, 6));
        let raw = Arc::into_raw(other);
        // SAFETY: it comes from `into_raw`.
        let other = unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            Arc::from_raw(raw)
        };
        assert_eq!(Arc::into_inner(other), Some(6));
        assert_eq!(Arc::unwrap_or_clone(own), 7);
        let text: Arc<str> = "text".into();
        let debug: Arc<dyn std::fmt::Debug + Send> = Arc::from_std(std::sync::Arc::new(1));
        assert_eq!((format!("{text}"), format!("{debug:?}")), ("text".to_owned(), "1".to_owned()));
        let cyclic = Arc::new_cyclic(|weak: &Weak<Weak<()>>| {
            assert!(weak.upgrade().is_none());
            Weak::new()
        });
        assert!(cyclic.upgrade().is_none());
    });
    assert_eq!((report.failure, report.executions), (None, 1));
}

#[test]
fn outside_of_a_model_it_behaves_as_that_of_the_standard_library() {
    let shared = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        other.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    });
    thread.join().expect("it ends");
    assert_eq!(Arc::try_unwrap(shared).map(AtomicUsize::into_inner).ok(), Some(1));
}

/// What is wrong with a model that uses an `Arc` after the last reference was dropped.
fn misuse(model: impl Fn() + Send + Sync + 'static) -> (ViolationKind, String) {
    let violation = Builder::new().explore(model).failure.expect("there is no reference left");
    (violation.kind, violation.to_string())
}

#[test]
fn a_reference_that_is_dropped_twice_is_told() {
    let twice = |other: fn(usize)| {
        move || {
            let raw = Arc::into_raw(Arc::new(AtomicUsize::new(0))) as usize;
            let thread = thread::spawn(move || other(raw));
            // SAFETY: there is none for the second, which is to be found.
            drop(unsafe { Arc::from_raw(raw as *const AtomicUsize) });
            thread.join().expect("it ends");
        }
    };
    // SAFETY: the same.
    let (kind, text) = misuse(twice(|raw| drop(unsafe { Arc::from_raw(raw as *const AtomicUsize) })));
    assert_eq!(kind, ViolationKind::DoubleFree, "{text}");
    assert_eq!(text.matches("--> ").count(), 3, "{text}");
    assert!(text.contains("main allocates the block\n") && text.contains("frees it again"), "{text}");
    // SAFETY: the same.
    let (kind, text) = misuse(twice(|raw| unsafe { Arc::decrement_strong_count(raw as *const AtomicUsize) }));
    assert_eq!(kind, ViolationKind::DoubleFree, "{text}");
}

#[test]
fn a_count_that_grows_again_from_zero_is_told() {
    let (kind, text) = misuse(|| {
        let raw = Arc::into_raw(Arc::new(AtomicUsize::new(0)));
        // SAFETY: there is none for the second, which is to be found.
        unsafe {
            Arc::decrement_strong_count(raw);
            Arc::increment_strong_count(raw);
        }
    });
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert!(text.starts_with("use after free: this block of memory was freed before the access"), "{text}");
}
