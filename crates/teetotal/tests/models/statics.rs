//! Statics are fresh in every execution, whatever is in them, and nothing else survives one.

#![allow(unsafe_code, reason = "cells are accessed through pointers")]

use super::common;

use common::{explore, failure};
use teetotal::ModelId;
use teetotal::cell::{Cell, UnsafeCell, standard};
use teetotal::model::Builder;
use teetotal::sync::atomic::Ordering::{Relaxed, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use teetotal::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use teetotal::thread;

/// Checks that `f` finds a static as it was at first, in each of several executions.
fn is_fresh(f: impl Fn() + Sync + Send + 'static) {
    let report = explore(ModelId::Pso, move || {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        let thread = thread::spawn(move || other.store(1, Relaxed));
        x.load(Relaxed);
        f();
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete());
    assert!(report.executions >= 2, "only several executions can differ");
}

#[test]
fn what_a_static_lock_guards_is_fresh() {
    static MUTEX: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static RW_LOCK: RwLock<(u8, u64)> = RwLock::new((7, 7));
    is_fresh(|| {
        let mut list = MUTEX.lock().expect("no thread panics");
        assert!(list.is_empty());
        list.push(1);
        drop(list);
        assert_eq!(MUTEX.lock().expect("no thread panics").len(), 1);
        assert_eq!(*RW_LOCK.read().expect("no thread panics"), (7, 7));
        *RW_LOCK.write().expect("no thread panics") = (1, 2);
        assert_eq!(*RW_LOCK.read().expect("no thread panics"), (1, 2));
    });
    assert!(MUTEX.lock().expect("no thread panics").is_empty());
}

#[test]
fn a_static_cell_is_fresh() {
    struct Shared(UnsafeCell<u32>, standard::UnsafeCell<u32>, Cell<u32>);
    // SAFETY: one thread uses it.
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared(UnsafeCell::new(1), standard::UnsafeCell::new(2), Cell::new(3));
    is_fresh(|| {
        // SAFETY: this thread is the only one.
        let before = unsafe { (SHARED.0.with(|data| *data), SHARED.1.with(|data| *data), SHARED.2.get()) };
        assert_eq!(before, (1, 2, 3));
        // SAFETY: the same.
        unsafe {
            SHARED.0.with_mut(|data| *data += 10);
            *SHARED.0.get_mut().deref() += 10;
            SHARED.1.with_mut(|data| *data += 10);
        }
        SHARED.2.set(13);
        // SAFETY: the same.
        let after = unsafe { (SHARED.0.with(|data| *data), SHARED.1.with(|data| *data), SHARED.2.get()) };
        assert_eq!(after, (21, 12, 13));
    });
}

#[test]
fn a_static_atomic_is_fresh() {
    static NUMBER: AtomicUsize = AtomicUsize::new(5);
    static FLAG: AtomicBool = AtomicBool::new(true);
    static POINTER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    is_fresh(|| {
        assert_eq!(NUMBER.fetch_add(1, SeqCst), 5);
        assert!(FLAG.swap(false, SeqCst));
        assert!(POINTER.swap(std::ptr::dangling_mut(), SeqCst).is_null());
    });
    assert_eq!(NUMBER.load(SeqCst), 5);
}

#[test]
fn a_static_that_is_borrowed_exclusively_is_fresh() {
    struct All {
        number: AtomicUsize,
        untouched: AtomicUsize,
        flag: AtomicBool,
        pointer: AtomicPtr<u8>,
        mutex: Mutex<Vec<u8>>,
        rw_lock: RwLock<u8>,
        cells: (Cell<u8>, standard::UnsafeCell<u8>),
        once: OnceLock<u8>,
    }
    // SAFETY: one thread uses it.
    unsafe impl Sync for All {}
    static mut ALL: All = All {
        number: AtomicUsize::new(1),
        untouched: AtomicUsize::new(2),
        flag: AtomicBool::new(false),
        pointer: AtomicPtr::new(std::ptr::null_mut()),
        mutex: Mutex::new(Vec::new()),
        rw_lock: RwLock::new(3),
        cells: (Cell::new(4), standard::UnsafeCell::new(5)),
        once: OnceLock::new(),
    };
    is_fresh(|| {
        let all = &raw mut ALL;
        // SAFETY: this thread is the only one, and there are no other references.
        let all = unsafe { &mut *all };
        assert_eq!((all.number.fetch_add(10, SeqCst), *all.number.get_mut()), (1, 11));
        *all.number.get_mut() += 10;
        assert_eq!((all.number.load(SeqCst), all.number.fetch_add(10, SeqCst)), (21, 21));
        assert_eq!((*all.number.get_mut(), all.number.with_mut(|number| *number)), (31, 31));
        *all.untouched.get_mut() += 1;
        assert_eq!(all.untouched.load(SeqCst), 3);
        assert!(!std::mem::replace(all.flag.get_mut(), true) && all.flag.load(SeqCst));
        assert!(std::mem::replace(all.pointer.get_mut(), std::ptr::dangling_mut()).is_null());
        assert!(!all.pointer.load(SeqCst).is_null());
        let list = all.mutex.get_mut().expect("no thread panics");
        list.push(0);
        assert_eq!((list.len(), all.mutex.lock().expect("no thread panics").len()), (1, 1));
        *all.rw_lock.get_mut().expect("no thread panics") += 1;
        assert_eq!(*all.rw_lock.read().expect("no thread panics"), 4);
        *all.cells.0.get_mut() += 1;
        *all.cells.1.get_mut() += 1;
        // SAFETY: this thread is the only one.
        assert_eq!((all.cells.0.get(), all.cells.1.with(|data| unsafe { *data })), (5, 6));
        assert_eq!(all.once.get_mut(), None);
        assert_eq!((all.once.set(7), all.once.take()), (Ok(()), Some(7)));
    });
}

#[test]
fn a_static_that_was_borrowed_exclusively_outside_is_refused() {
    static mut NUMBER: AtomicUsize = AtomicUsize::new(0);
    static mut MUTEX: Mutex<u8> = Mutex::new(0);
    let (number, mutex) = (&raw mut NUMBER, &raw mut MUTEX);
    // SAFETY: there are no other references.
    unsafe {
        *(*number).get_mut() = 1;
        *(*mutex).get_mut().expect("no thread panics") = 1;
    }
    let uses: [fn(); 2] = [
        || {
            let number = &raw const NUMBER;
            // SAFETY: there are no exclusive references.
            unsafe { (*number).load(Relaxed) };
        },
        || {
            let mutex = &raw const MUTEX;
            // SAFETY: the same.
            drop(unsafe { (*mutex).lock() });
        },
    ];
    for f in uses {
        let text = failure(ModelId::Sc, f);
        assert!(text.contains("a static was changed outside of a model"), "{text}");
    }
}

#[test]
fn what_is_done_once_in_a_static_is_done_once_in_each_execution() {
    static ONCE: Once = Once::new();
    static ONCE_LOCK: OnceLock<Vec<u8>> = OnceLock::new();
    static LAZY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1]);
    static CONDVAR: Condvar = Condvar::new();
    static BARRIER: Mutex<Option<Barrier>> = Mutex::new(None);
    is_fresh(|| {
        assert!(!ONCE.is_completed());
        ONCE.call_once(|| {});
        assert!(ONCE.is_completed());
        assert!(ONCE_LOCK.get().is_none());
        ONCE_LOCK.set(vec![1]).expect("it is set once");
        assert_eq!(*LAZY, [1]);
        CONDVAR.notify_all();
        assert!(BARRIER.lock().expect("no thread panics").replace(Barrier::new(1)).is_none());
    });
}

#[test]
fn poison_of_a_static_is_fresh() {
    static MUTEX: Mutex<u8> = Mutex::new(0);
    static RW_LOCK: RwLock<u8> = RwLock::new(0);
    is_fresh(|| {
        assert!(!MUTEX.is_poisoned() && !RW_LOCK.is_poisoned());
        let _ = std::panic::catch_unwind(|| {
            let (_guard, _other) = (MUTEX.lock(), RW_LOCK.write());
            panic!("it is caught");
        });
        assert!(MUTEX.is_poisoned() && RW_LOCK.is_poisoned());
        assert!(MUTEX.lock().is_err() && RW_LOCK.read().is_err());
    });
}

#[test]
fn what_is_nested_in_a_static_is_fresh() {
    struct Inner {
        count: AtomicUsize,
        list: Mutex<Vec<Option<Box<u32>>>>,
    }
    static OUTER: Mutex<Inner> = Mutex::new(Inner { count: AtomicUsize::new(0), list: Mutex::new(Vec::new()) });
    is_fresh(|| {
        let outer = OUTER.lock().expect("no thread panics");
        assert_eq!(outer.count.fetch_add(1, Relaxed), 0);
        let mut list = outer.list.lock().expect("no thread panics");
        list.push(Some(Box::new(1)));
        assert_eq!(list.len(), 1);
    });
}

#[test]
fn models_on_parallel_threads_share_a_static() {
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let models: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let report = explore(ModelId::Tso, || {
                    let add = || {
                        let number = COUNT.fetch_add(1, Relaxed) as u32;
                        LIST.lock().expect("no thread panics").push(number);
                    };
                    let thread = thread::spawn(add);
                    add();
                    thread.join().expect("it ends");
                    let mut list = std::mem::take(&mut *LIST.lock().expect("no thread panics"));
                    list.sort_unstable();
                    assert_eq!(list, [0, 1]);
                });
                assert_eq!(report.failure, None);
                report.executions
            })
        })
        .collect();
    let executions: Vec<u64> = models.into_iter().map(|model| model.join().expect("it ends")).collect();
    assert!(executions.iter().all(|n| *n == executions[0]), "{executions:?}");
}

#[test]
fn a_static_that_was_changed_outside_is_refused() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    *MUTEX.lock().expect("no thread panics") = 1;
    let text = failure(ModelId::Sc, || drop(MUTEX.lock()));
    assert!(text.contains("a static was changed outside of a model"), "{text}");
    assert!(text.contains("statics.rs"), "the place is that of the user: {text}");
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    NUMBER.store(1, Relaxed);
    let text = failure(ModelId::Sc, || _ = NUMBER.load(Relaxed));
    assert!(text.contains("a static was changed outside of a model"), "{text}");
    static LOCK: OnceLock<u32> = OnceLock::new();
    LOCK.get_or_init(|| 1);
    let text = failure(ModelId::Sc, || _ = LOCK.get());
    assert!(text.contains("a static was changed outside of a model"), "{text}");
}

#[test]
fn poison_of_a_static_that_was_changed_outside_is_refused() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    let poisoned = std::panic::catch_unwind(|| {
        let _guard = MUTEX.lock();
        std::panic::resume_unwind(Box::new(()))
    });
    assert!(poisoned.is_err());
    for f in [|| _ = MUTEX.is_poisoned(), || drop(MUTEX.lock())] {
        let text = failure(ModelId::Sc, f);
        assert!(text.contains("a static was changed outside of a model"), "{text}");
    }
}

#[test]
fn a_static_that_was_only_looked_at_outside_is_not_refused() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static RW_LOCK: RwLock<u32> = RwLock::new(0);
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    static FLAG: AtomicBool = AtomicBool::new(false);
    let outside = || {
        assert_eq!(*MUTEX.lock().expect("no thread panics"), 0);
        assert_eq!(*RW_LOCK.write().expect("no thread panics"), 0);
        assert_eq!(NUMBER.compare_exchange(1, 2, SeqCst, SeqCst), Err(0));
        assert_eq!(FLAG.compare_exchange(true, false, SeqCst, SeqCst), Err(false));
        MUTEX.clear_poison();
    };
    outside();
    is_fresh(|| {
        *MUTEX.lock().expect("no thread panics") += 1;
        *RW_LOCK.write().expect("no thread panics") += 1;
        assert_eq!((NUMBER.fetch_add(1, SeqCst), FLAG.swap(true, SeqCst)), (0, false));
    });
    outside();
}

/// A program never drops what is in a static.
#[test]
fn a_panic_in_a_destructor_of_a_static_means_nothing() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a static is dropped");
        }
    }
    static MUTEX: Mutex<Option<Bomb>> = Mutex::new(None);
    static ONCE_LOCK: OnceLock<[Bomb; 1]> = OnceLock::new();
    is_fresh(|| {
        assert!(MUTEX.lock().expect("no thread panics").replace(Bomb).is_none());
        assert!(ONCE_LOCK.set([Bomb]).is_ok());
    });
}

/// The search runs executions again from their beginning, where the object was already used.
#[test]
fn a_captured_object_is_told_also_where_nothing_can_be_run_again() {
    let text = "an object that was created outside of this execution was used";
    for mut builder in [Builder::new(), Builder::like_loom()] {
        for robustness in [false, true] {
            builder.robustness = robustness;
            let captured = std::sync::Arc::new(AtomicUsize::new(0));
            let report = builder.explore(move || {
                let captured = std::sync::Arc::clone(&captured);
                let other = std::sync::Arc::clone(&captured);
                let thread = thread::spawn(move || other.store(1, Relaxed));
                captured.load(Relaxed);
                thread.join().expect("it ends");
            });
            let failure = report.failure.expect("it is refused");
            assert!(failure.contains(text) && failure.contains("statics.rs"), "{failure}");
        }
    }
}

#[test]
fn counts_of_an_arc_that_is_captured_are_refused() {
    let captured = Arc::new(1);
    let shared = captured.clone();
    let uses: [fn(&Arc<i32>); 5] = [
        |arc| assert!(Arc::strong_count(arc) > 0),
        |arc| assert_eq!(Arc::weak_count(arc), 0),
        |arc| assert!(Arc::get_mut(&mut arc.clone()).is_none()),
        |arc| assert!(Arc::into_inner(arc.clone()).is_none()),
        |arc| assert!(Arc::downgrade(arc).upgrade().is_some()),
    ];
    for f in uses {
        let captured = captured.clone();
        let text = failure(ModelId::Sc, move || f(&captured));
        assert!(text.contains("created outside of this execution"), "{text}");
    }
    // What it points to may be read.
    is_fresh(move || assert_eq!(*shared.clone() + *shared, 2));
    is_fresh(|| assert!(teetotal::sync::Weak::<u8>::new().upgrade().is_none()));
}

#[test]
fn a_channel_that_is_captured_is_refused() {
    let (sender, _receiver) = teetotal::sync::mpsc::channel();
    let text = failure(ModelId::Sc, move || _ = sender.send(AtomicUsize::new(1).load(Relaxed)));
    assert!(text.contains("created outside of this execution"), "{text}");
    let (sender, _receiver) = teetotal::sync::mpsc::sync_channel(1);
    let text = failure(ModelId::Sc, move || _ = sender.try_send(1));
    assert!(text.contains("created outside of this execution"), "{text}");
    let handle = thread::spawn(|| ());
    let text = failure(ModelId::Sc, move || _ = handle.is_finished());
    assert!(text.contains("created outside of this execution"), "{text}");
}

#[test]
fn an_object_that_is_captured_is_refused() {
    let captured = std::sync::Arc::new(AtomicUsize::new(0));
    let text = failure(ModelId::Sc, move || {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        let thread = thread::spawn(move || other.store(1, Relaxed));
        x.load(Relaxed);
        captured.fetch_add(1, Relaxed);
        thread.join().expect("it ends");
    });
    assert!(text.contains("created outside of this execution"), "{text}");
    let captured = std::sync::Arc::new(Mutex::new(0));
    *captured.lock().expect("no thread panics") += 1;
    let text = failure(ModelId::Sc, move || *captured.lock().expect("no thread panics") += 1);
    assert!(text.contains("created outside of this execution"), "{text}");
}

#[test]
fn a_lazy_value_whose_makers_wait_for_each_other_is_a_deadlock() {
    static MAKERS: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Told(usize);
    impl Drop for Told {
        fn drop(&mut self) {
            DROPPED.store(1, SeqCst);
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    teetotal::lazy_static! {
        static ref LAZY: Told = {
            MAKERS.fetch_add(1, SeqCst);
            while MAKERS.load(SeqCst) < 2 {
                thread::yield_now();
            }
            Told(7)
        };
    }
    // As long as no thread is known to observe which one initializes the value, there are two.
    let text = failure(ModelId::Sc, || {
        let maker = thread::spawn(|| LAZY.0);
        let user = thread::spawn(|| {
            while DROPPED.load(SeqCst) != 1 {
                thread::yield_now();
            }
            LAZY.0
        });
        assert_eq!(LAZY.0, 7);
        maker.join().expect("it ends");
        user.join().expect("it ends");
    });
    assert!(text.contains("livelock"), "{text}");
}
