//! Cells: data that is accessed alone, atomics that are moved or taken, and memory that must be given back.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use super::common;

use common::{MODELS, executions, explore, failure};
use teetotal::ModelId;
use teetotal::alloc::{Layout, Track, alloc, dealloc};
use teetotal::cell::{Cell, UnsafeCell};
use teetotal::sync::Arc;
use teetotal::sync::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicUsize, Ordering};
use teetotal::thread;

/// Lets threads share anything.
struct Shared<T>(T);

// SAFETY: what is done with it is what is checked.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: the same.
unsafe impl<T> Send for Shared<T> {}

#[test]
fn two_writes_that_nothing_orders_are_a_race() {
    for model in MODELS {
        let text = failure(model, || {
            let cell = Arc::new(Shared(UnsafeCell::new(0)));
            let other = Arc::clone(&cell);
            // SAFETY: the checker says that it is not.
            thread::spawn(move || other.0.with_mut(|data| unsafe { *data = 1 }));
            // SAFETY: the same.
            cell.0.with(|data| unsafe { *data });
        });
        assert!(text.starts_with("data race"), "{text}");
    }
}

#[test]
fn a_pointer_is_in_use_as_long_as_it_is_there() {
    let text = failure(ModelId::Sc, || {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            let pointer = other.0.0.get_mut();
            other.1.store(true, Ordering::Release);
            // SAFETY: the checker says that it is not.
            pointer.with(|data| unsafe { *data = 1 });
        });
        if shared.1.load(Ordering::Acquire) {
            // SAFETY: the same.
            assert_eq!(unsafe { *shared.0.0.get().deref() }, 0);
        }
    });
    assert!(text.starts_with("data race"), "{text}");
}

/// A lock whose guard holds a pointer, and lets go of it after the lock.
struct Guarded {
    is_locked: AtomicBool,
    data: Shared<UnsafeCell<u32>>,
}

struct Guard<'g> {
    lock: &'g Guarded,
    pointer: teetotal::cell::MutPtr<u32>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.lock.is_locked.store(false, Ordering::Release);
    }
}

impl Guarded {
    fn lock(&self) -> Guard<'_> {
        while self.is_locked.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            teetotal::hint::spin_loop();
        }
        Guard { lock: self, pointer: self.data.0.get_mut() }
    }
}

#[test]
fn a_guard_may_let_go_of_its_pointer_after_the_lock() {
    for model in MODELS {
        executions(model, || {
            let lock = Arc::new(Guarded { is_locked: AtomicBool::new(false), data: Shared(UnsafeCell::new(0)) });
            let other = Arc::clone(&lock);
            // SAFETY: the lock is held.
            let add = |lock: &Guarded| unsafe { *lock.lock().pointer.deref() += 1 };
            let thread = thread::spawn(move || add(&other));
            add(&lock);
            thread.join().expect("it ends");
            // SAFETY: the same.
            assert_eq!(unsafe { *lock.lock().pointer.deref() }, 2);
        });
    }
}

#[test]
fn readers_do_not_race() {
    assert_eq!(
        executions(ModelId::Pso, || {
            let cell = Arc::new(Shared(Cell::new(3)));
            let other = Arc::clone(&cell);
            let thread = thread::spawn(move || other.0.get());
            assert_eq!(cell.0.get() + thread.join().expect("it ends"), 6);
            cell.0.set(4);
        }),
        1
    );
}

#[test]
fn memory_that_is_used_again_is_another_cell() {
    let report = explore(ModelId::Pso, || {
        let threads: Vec<_> = (0..2)
            .map(|i| {
                thread::spawn(move || {
                    let cell = Box::new(UnsafeCell::new(i));
                    // SAFETY: it is the thread's own.
                    cell.with_mut(|data| unsafe { *data += 1 });
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    });
    assert_eq!((report.failure, report.executions), (None, 1));
}

#[test]
fn an_atomic_keeps_its_value_when_it_is_moved() {
    let report = explore(ModelId::Pso, || {
        let flag = AtomicUsize::new(1);
        flag.store(2, Ordering::Relaxed);
        let boxed = Box::new(flag);
        boxed.fetch_add(1, Ordering::Relaxed);
        let flag = *boxed;
        assert_eq!(flag.load(Ordering::Relaxed), 3);
        assert_eq!(flag.into_inner(), 3);
    });
    assert_eq!(report.failure, None);
}

#[test]
fn what_is_taken_alone_is_seen_by_all_afterwards() {
    for model in MODELS {
        let report = explore(model, || {
            let mut n = AtomicUsize::new(1);
            for round in 1..3 {
                thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(n.load(Ordering::Relaxed), round));
                });
                n.with_mut(|value| *value += 1);
            }
            *n.get_mut() += 1;
            assert_eq!(n.load(Ordering::Relaxed), 4);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn a_load_without_synchronization_may_race() {
    let text = failure(ModelId::Pso, || {
        let n = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&n);
        thread::spawn(move || other.store(1, Ordering::SeqCst));
        // SAFETY: the checker says that it is not.
        unsafe { n.unsync_load() };
    });
    assert!(text.starts_with("data race"), "{text}");
    let right = explore(ModelId::Pso, || {
        let n = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&n);
        thread::spawn(move || other.store(1, Ordering::Relaxed)).join().expect("it ends");
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { n.unsync_load() }, 1);
    });
    assert_eq!(right.failure, None);
}

#[test]
fn atomics_compute_as_those_of_the_standard_library() {
    let compute = || {
        let byte = AtomicI8::new(i8::MAX);
        let flag = AtomicBool::new(true);
        let pointer = AtomicPtr::new(std::ptr::null_mut::<u8>());
        let seen = (
            byte.fetch_add(1, Ordering::Relaxed),
            byte.fetch_max(-3, Ordering::Relaxed),
            byte.fetch_min(-5, Ordering::Relaxed),
            byte.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_add(1)),
            flag.fetch_not(Ordering::Relaxed),
            flag.fetch_nand(true, Ordering::Relaxed),
            pointer.swap(std::ptr::dangling_mut(), Ordering::Relaxed).is_null(),
        );
        (seen, byte.into_inner(), flag.into_inner(), pointer.into_inner().is_null())
    };
    let outside = compute();
    assert_eq!(outside, ((127, -128, -3, Ok(-5), true, false, true), -4, true, false));
    let report = explore(ModelId::Tso, move || assert_eq!(compute(), outside));
    assert_eq!(report.failure, None);
}

#[test]
fn memory_and_tracked_values_must_be_given_back() {
    let right = explore(ModelId::Sc, || {
        let layout = Layout::new::<u64>();
        // SAFETY: it is given back as it was allocated.
        unsafe { dealloc(alloc(layout), layout) };
        drop(Track::new(1));
        assert_eq!(Track::new(2).into_inner(), 2);
    });
    assert_eq!(right.failure, None);
    let text = failure(ModelId::Sc, || {
        // SAFETY: it is never used.
        let _ = unsafe { alloc(Layout::new::<u64>()) };
    });
    assert!(text.starts_with("leak: not freed") && text.contains("this memory was created here"), "{text}");
    let text = failure(ModelId::Sc, || std::mem::forget(Track::new(1)));
    assert!(text.starts_with("leak: not freed") && text.contains("this tracked value was created here"), "{text}");
}

#[test]
fn memory_that_is_given_back_twice_is_told() {
    let text = failure(ModelId::Sc, || {
        let layout = Layout::new::<u64>();
        // SAFETY: it is allocated for this layout.
        let memory = unsafe { alloc(layout) } as usize;
        // SAFETY: there is none for the second, which is to be found.
        let thread = thread::spawn(move || unsafe { dealloc(memory as *mut u8, layout) });
        // SAFETY: the same.
        unsafe { dealloc(memory as *mut u8, layout) };
        thread.join().expect("it ends");
    });
    assert!(text.starts_with("double free: this block of memory was freed before"), "{text}");
    assert_eq!(text.matches("tests/models/cells.rs").count(), 3, "{text}");
    assert!(text.contains("main allocates the block (8 bytes)"), "{text}");
}

#[test]
fn what_seems_to_be_captured_may_have_been_freed() {
    static OUTLIVES: std::sync::OnceLock<Box<AtomicUsize>> = std::sync::OnceLock::new();
    let text = failure(ModelId::Sc, || {
        OUTLIVES.get_or_init(|| Box::new(AtomicUsize::new(0))).fetch_add(1, Ordering::Relaxed);
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, Ordering::Relaxed));
        flag.load(Ordering::Relaxed);
    });
    assert!(text.contains("an object that was created outside of this execution was used"), "{text}");
    assert!(text.contains("help: or it is in memory that was freed"), "{text}");
}

/// Reads `x` without synchronization if `is_unsynchronized`, while another thread reads it; gives the executions.
fn reads_beside(is_unsynchronized: bool) -> u64 {
    let report = explore(ModelId::Pso, move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let (x, z, begun) = &*other;
            begun.store(1, Ordering::Relaxed);
            // SAFETY: only this thread writes to it.
            let seen = if is_unsynchronized { unsafe { x.unsync_load() } } else { x.load(Ordering::Relaxed) };
            x.store(seen + 1, Ordering::Relaxed);
            z.store(1, Ordering::Relaxed);
        });
        shared.1.load(Ordering::Relaxed);
        shared.0.load(Ordering::Relaxed);
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    report.executions
}

#[test]
fn a_load_without_synchronization_is_an_operation_whoever_has_read_before() {
    assert_eq!(reads_beside(true), reads_beside(false));
}
