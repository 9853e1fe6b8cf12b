//! Loops that wait for data behind a lock: each iteration takes the lock and frees it, and leaves the data or changes it.

#![allow(clippy::unwrap_used, reason = "no thread panics")]

use super::common;

use common::MODELS;
use teetotal::model::{Builder, Report, SearchId};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::SeqCst;
use teetotal::sync::{Arc, Mutex, RwLock};
use teetotal::{ModelId, hint, thread};

/// What both searches find of `f`, under each model.
fn reports(f: impl Fn() + Copy + Sync + Send + 'static) -> Vec<(ModelId, SearchId, Report)> {
    let searches =
        MODELS.into_iter().flat_map(|model| [SearchId::Dpor, SearchId::ReadsFrom].map(|search| (model, search)));
    let explore = |(model, search)| {
        let mut builder = Builder::new();
        (builder.model, builder.search) = (model, search);
        (model, search, builder.explore(f))
    };
    searches.map(explore).collect()
}

/// `f` has executions, all of which end.
fn ends(f: impl Fn() + Copy + Sync + Send + 'static) {
    for (model, search, report) in reports(f) {
        assert_eq!(report.failure, None, "under {model:?} with {search:?}");
        assert!(report.coverage.is_complete(), "{:?} under {model:?} with {search:?}", report.coverage);
        assert!(report.executions > 0);
    }
}

/// `f` has a livelock.
fn repeats(f: impl Fn() + Copy + Sync + Send + 'static) {
    for (model, search, report) in reports(f) {
        let failure = report.failure.unwrap_or_else(|| panic!("{:?} under {model:?} with {search:?}", report.coverage));
        assert!(failure.starts_with("livelock"), "{failure}");
    }
}

/// Starts a thread that shares nothing with the others.
fn start_bystander() {
    let other = AtomicUsize::new(0);
    thread::spawn(move || {
        other.store(1, SeqCst);
        other.store(2, SeqCst);
    });
}

#[test]
fn a_loop_that_counts_behind_a_lock_does_not_only_wait() {
    ends(|| {
        let count = Arc::new(Mutex::new(0));
        let other = count.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        loop {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count >= 8 {
                break;
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_loop_that_counts_behind_a_lock_that_it_tries_does_not_only_wait() {
    ends(|| {
        let count = Arc::new(Mutex::new(0));
        let other = count.clone();
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        loop {
            if let Ok(mut count) = count.try_lock() {
                *count += 1;
                if *count >= 8 {
                    break;
                }
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_loop_that_counts_behind_a_read_write_lock_does_not_only_wait() {
    ends(|| {
        let count = Arc::new(RwLock::new(0));
        let other = count.clone();
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        while *count.read().unwrap() < 8 {
            *count.write().unwrap() += 1;
        }
        thread.join().unwrap();
    });
}

/// The lock is taken once, and what is behind it is on the heap.
#[test]
fn a_loop_that_counts_behind_a_lock_that_it_holds_does_not_only_wait() {
    /// Counts up to a limit while it waits for a flag that another thread sets.
    fn gives_up(count: impl FnMut() -> usize) -> bool {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = flag.clone();
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let mut counts = std::iter::repeat_with(count);
        while flag.load(SeqCst) == 0 {
            if counts.next() == Some(8) {
                return true;
            }
            hint::spin_loop();
        }
        thread.join().unwrap();
        false
    }
    fn add_one(count: &mut usize) -> usize {
        *count += 1;
        *count
    }
    let programs: [fn(); 3] = [
        || {
            let count = Arc::new(Mutex::new(0));
            let mut count = count.lock().unwrap();
            let count = &mut *count;
            assert!(!gives_up(|| add_one(count)), "it gave up");
        },
        || {
            let count = Arc::new(Mutex::new(0));
            let mut count = count.lock().unwrap();
            assert!(!gives_up(|| add_one(&mut count)), "it gave up");
        },
        || {
            let count = Arc::new(RwLock::new(0));
            let mut count = count.write().unwrap();
            let count = &mut *count;
            assert!(!gives_up(|| add_one(count)), "it gave up");
        },
    ];
    for program in programs {
        for (model, search, report) in reports(program) {
            let failure =
                report.failure.unwrap_or_else(|| panic!("{:?} under {model:?} with {search:?}", report.coverage));
            assert!(failure.contains("it gave up"), "{failure}");
        }
    }
}

/// A bystander keeps the search from seeing at once that the thread which sets the flag is the last one.
#[test]
fn a_flag_behind_a_lock_ends_a_loop() {
    ends(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        thread::spawn(move || *other.lock().unwrap() = true);
        start_bystander();
        while !*flag.lock().unwrap() {
            hint::spin_loop();
        }
    });
}

#[test]
fn a_flag_behind_a_lock_that_is_tried_ends_a_loop() {
    ends(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        thread::spawn(move || *other.lock().unwrap() = true);
        start_bystander();
        while !flag.try_lock().is_ok_and(|flag| *flag) {
            thread::yield_now();
        }
    });
}

#[test]
fn a_flag_behind_a_read_write_lock_ends_a_loop() {
    ends(|| {
        let flag = Arc::new(RwLock::new(false));
        let other = flag.clone();
        thread::spawn(move || *other.write().unwrap() = true);
        start_bystander();
        while !*flag.read().unwrap() {
            hint::spin_loop();
        }
    });
}

/// A consumer borrows the queue to change it, and finds nothing to take.
#[test]
fn a_loop_that_pops_from_an_empty_queue_waits() {
    ends(|| {
        let queue = Arc::new(Mutex::new(Vec::new()));
        let other = queue.clone();
        thread::spawn(move || other.lock().unwrap().push(1));
        while queue.lock().unwrap().pop().is_none() {
            hint::spin_loop();
        }
    });
}

#[test]
fn a_flag_behind_a_lock_that_no_thread_sets_is_a_livelock() {
    repeats(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        thread::spawn(move || *other.lock().unwrap() = false);
        start_bystander();
        while !*flag.lock().unwrap() {
            hint::spin_loop();
        }
    });
}

#[test]
fn two_threads_that_wait_for_the_same_flag_behind_a_lock_are_a_livelock() {
    repeats(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        thread::spawn(move || while !*other.lock().unwrap() {});
        while !*flag.lock().unwrap() {}
    });
    repeats(|| {
        let flag = Arc::new(Mutex::new(false));
        let other = flag.clone();
        start_bystander();
        thread::spawn(move || while !*other.lock().unwrap() {});
        while !*flag.lock().unwrap() {}
    });
}
