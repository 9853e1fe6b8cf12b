//! Models that cannot be checked: each gets a message with what happened and what to do.
//!
//! Each test runs this file's own binary again, with one of its victims and with variables of its own.

mod common;

use std::sync::atomic::Ordering::Relaxed as Real;

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Relaxed, SeqCst};
use teetotal::sync::{Arc, Mutex, Notify, RwLock, mpsc};
use teetotal::thread;

use common::run;

/// Needs more stack than there is.
fn recurse(n: usize) -> usize {
    let bytes = std::hint::black_box([n; 64]);
    if bytes[n % 64] == usize::MAX { 0 } else { 1 + recurse(n + 1) + bytes[0] }
}

#[test]
fn deep_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let cell = AtomicUsize::new(0);
            cell.store(recurse(0), Relaxed);
        });
    }
}

#[cfg(unix)]
#[test]
fn a_stack_that_is_too_small_is_told() {
    let (passes, text) = run("deep_victim", &[("TEETOTAL_STACK", "65536")]);
    assert!(!passes && text.contains("thread 0 of a model needs more stack than the "), "{text}");
    assert!(text.contains("set TEETOTAL_STACK or `Builder::stack_size`"), "{text}");
}

#[test]
fn blocked_victim() {
    if common::is_wanted() {
        static REAL: std::sync::Mutex<()> = std::sync::Mutex::new(());
        teetotal::model(|| {
            let cell = Arc::new(AtomicUsize::new(0));
            let own = REAL.lock();
            let other = Arc::clone(&cell);
            let thread = thread::spawn(move || {
                other.store(1, Relaxed);
                drop(REAL.lock());
            });
            cell.load(Relaxed);
            drop(own);
            thread.join().expect("it ends");
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_blocked_outside_of_the_checker_is_named_and_ends_the_process() {
    let (passes, text) = run("blocked_victim", &[("TEETOTAL_WATCHDOG", "1")]);
    assert!(!passes, "{text}");
    let told = "teetotal: blocked_victim: T1 is blocked outside of the checker: it has performed no operation after the one at ";
    let first = text.lines().find(|line| line.starts_with(told)).unwrap_or_else(|| panic!("{text}"));
    assert!(first.contains("tests/misuse.rs:"), "{text}");
    assert!(text.contains("use those of `teetotal`"), "{text}");
}

/// Waits for something outside of the checker, as the variable `BLOCKED_BY` says.
#[test]
fn waiting_victim() {
    if !common::is_wanted() {
        return;
    }
    let by = std::env::var("BLOCKED_BY").unwrap_or_default();
    let mut builder = teetotal::model::Builder::new();
    if by == "os" || by == "busy os" {
        builder.backend = teetotal::model::Backend::OsThreads;
    }
    builder.check(move || {
        let cell = Arc::new(AtomicUsize::new(0));
        let (other, by) = (Arc::clone(&cell), by.clone());
        let thread = thread::spawn(move || {
            other.store(1, Relaxed);
            let (sender, receiver) = std::sync::mpsc::channel::<()>();
            match by.as_str() {
                "sleep" => std::thread::sleep(std::time::Duration::from_secs(600)),
                "park" | "os" => std::thread::park(),
                "join" => drop(std::thread::spawn(move || receiver.recv().is_ok()).join()),
                // Others do not wait forever.
                "busy os" => {
                    let begin = std::time::Instant::now();
                    while begin.elapsed().as_secs() < 3 {
                        std::hint::black_box(0);
                    }
                }
                "naps" => (0..300).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(10))),
                _ => drop(receiver.recv()),
            }
            drop(sender);
        });
        cell.load(Relaxed);
        thread.join().expect("it ends");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_blocks_outside_of_the_checker_ends_the_process() {
    for by in ["channel", "sleep", "park", "join", "os"] {
        let (passes, text) = run("waiting_victim", &[("TEETOTAL_WATCHDOG", "1"), ("BLOCKED_BY", by)]);
        assert!(!passes && text.contains("T1 is blocked outside of the checker"), "{by}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_only_takes_long_is_told_and_goes_on() {
    for by in ["busy os", "naps"] {
        let (passes, text) = run("waiting_victim", &[("TEETOTAL_WATCHDOG", "1"), ("BLOCKED_BY", by)]);
        assert!(passes && text.contains("T1 has performed no operation"), "{by}: {text}");
    }
}

#[test]
fn a_few_executions_that_cannot_be_run_again_are_left_out() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let report = common::explore(teetotal::ModelId::Sc, || {
        let is_odd_one = RUNS.fetch_add(1, Real) == 700;
        let cell = Arc::new(AtomicUsize::new(0));
        let add = |cell: Arc<AtomicUsize>, is_odd_one: bool| {
            if is_odd_one {
                cell.load(Relaxed);
            }
            (0..3).for_each(|_| _ = cell.fetch_add(1, Relaxed));
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let cell = Arc::clone(&cell);
                thread::spawn(move || add(cell, is_odd_one))
            })
            .collect();
        add(cell, is_odd_one);
        others.into_iter().for_each(|thread| thread.join().expect("it ends"));
    });
    assert_eq!(report.failure, None);
    let teetotal::Coverage::Stopped(teetotal::StopReason::Unrepeatable(left_out)) = report.coverage else {
        panic!("{:?}", report.coverage)
    };
    // Nine steps, three of each of three threads.
    assert!((1_600..1_680).contains(&report.executions) && left_out <= 10, "{} and {left_out}", report.executions);
}

/// Which thread comes first is known only to the threads themselves.
fn share_what_is_not_of_the_model() {
    let hidden = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let cell = Arc::new(AtomicUsize::new(0));
    let visit = |cell: &AtomicUsize, hidden: &std::sync::atomic::AtomicUsize| {
        cell.load(Relaxed);
        if hidden.fetch_add(1, Real) == 1 {
            cell.fetch_add(1, Relaxed);
        }
        cell.load(Relaxed);
    };
    let (other_cell, other_hidden) = (cell.clone(), hidden.clone());
    let other = thread::spawn(move || visit(&other_cell, &other_hidden));
    visit(&cell, &hidden);
    other.join().expect("it ends");
}

#[test]
fn what_threads_share_beside_the_model_is_told_or_left_out() {
    let mut builder = teetotal::model::Builder::new();
    let report = builder.explore(share_what_is_not_of_the_model);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::NotDeterministic));
    builder.leave_out_unrepeatable = true;
    let report = builder.explore(share_what_is_not_of_the_model);
    let is_left_out = matches!(
        report.coverage,
        teetotal::Coverage::Stopped(teetotal::StopReason::Unrepeatable(n)) if n > 0
    );
    assert!(is_left_out && report.failure.is_none() && report.executions > 0, "{:?}", report.coverage);
}

/// Nondeterministic code of all kinds is reported and breaks nothing.
#[test]
fn models_that_change_in_every_way_are_told() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    for seed in 0..300 {
        RUNS.store(seed, Real);
        for leave_out_unrepeatable in [false, true] {
            let mut builder = teetotal::model::Builder::new();
            builder.leave_out_unrepeatable = leave_out_unrepeatable;
            builder.max_permutations = Some(1_000);
            let report = builder.explore(move || {
                let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
                let lock = Arc::new(teetotal::sync::Mutex::new(0));
                let work = move |cells: &[AtomicUsize; 2], lock: &teetotal::sync::Mutex<i32>, me: usize| {
                    for _ in 0..3 {
                        let dice = RUNS.fetch_add(1, Real).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                        let cell = &cells[dice & 1];
                        match dice >> 1 & 7 {
                            0 => teetotal::sync::atomic::fence(SeqCst),
                            1 => _ = cell.fetch_add(1, Relaxed),
                            2 => _ = cell.load(Relaxed),
                            3 => _ = cell.compare_exchange(me, 2, Relaxed, Relaxed),
                            4 => *lock.lock().expect("no thread panics") += 1,
                            5 => cell.store(me, Relaxed),
                            6 => thread::yield_now(),
                            _ => {}
                        }
                    }
                };
                let (other_cells, other_lock) = (cells.clone(), lock.clone());
                let other = thread::spawn(move || work(&other_cells, &other_lock, 1));
                work(&cells, &lock, 0);
                other.join().expect("it ends");
            });
            assert_eq!(report.failure, None, "seed {seed}");
        }
    }
}

#[test]
fn foreign_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let cell = Arc::new(AtomicUsize::new(0));
            cell.store(1, Relaxed);
            let other = Arc::clone(&cell);
            let foreign = std::thread::spawn(move || other.fetch_add(1, Relaxed));
            let result = foreign.join();
            assert!(result.is_ok(), "the foreign thread is well");
        });
    }
}

#[test]
fn a_thread_that_is_no_part_of_the_model_is_refused() {
    let (passes, text) = run("foreign_victim", &[]);
    assert!(!passes, "{text}");
    assert!(text.contains("an object of a model was used by a thread outside of the model"), "{text}");
    assert!(text.contains("with `teetotal::thread::spawn` or `scope`"), "{text}");
    assert!(text.contains("the foreign thread is well"), "{text}");
}

#[test]
fn fickle_victim() {
    if common::is_wanted() {
        static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        teetotal::model(|| {
            let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let other = Arc::clone(&cells);
            let thread = thread::spawn(move || other[0].store(1, Relaxed));
            let n = RUNS.fetch_add(1, Real) % 3;
            cells[0].load(Relaxed);
            (0..n).for_each(|_| cells[1].store(1, Relaxed));
            cells[0].load(Relaxed);
            thread.join().expect("it ends");
        });
    }
}

#[test]
fn a_model_that_changes_is_told() {
    let (passes, text) = run("fickle_victim", &[]);
    assert!(!passes && text.contains("nondeterministic replay: the model diverged from its previous run\n"), "{text}");
    assert!(text.contains("  main is at ") && text.contains("misuse.rs"), "{text}");
    assert!(text.contains("help: a model must not use random numbers"), "{text}");
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb went off");
    }
}

#[test]
fn dropping_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let cell = AtomicUsize::new(0);
            let _bomb = Bomb;
            cell.store(1, Relaxed);
        });
    }
}

#[test]
fn doubly_dropping_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let _bomb = Bomb;
            assert_eq!(AtomicUsize::new(0).load(Relaxed), 1, "the fuse");
        });
    }
}

#[test]
fn a_panic_in_a_destructor_is_told() {
    let (passes, text) = run("dropping_victim", &[]);
    assert!(!passes && text.contains("main panicked: the bomb went off"), "{text}");
    let (passes, text) = run("doubly_dropping_victim", &[]);
    assert!(!passes && text.contains("the fuse"), "{text}");
    assert!(text.contains("a thread of a model panicked: the bomb went off"), "{text}");
    assert!(text.contains("help: a destructor must not panic"), "{text}");
}

#[test]
fn nesting_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            AtomicUsize::new(0).load(Relaxed);
            teetotal::model(|| AtomicUsize::new(0).store(1, Relaxed));
        });
    }
}

#[test]
fn a_model_in_a_model_is_told() {
    let (passes, text) = run("nesting_victim", &[]);
    assert!(!passes && text.contains("a model is run inside of a model"), "{text}");
}

#[test]
fn variables_that_mean_nothing_are_told() {
    for (variable, value, wanted) in [
        ("TEETOTAL_STACK", "0", "a number of bytes that is at least 1"),
        ("TEETOTAL_JOBS", "0", "a number that is at least 1"),
        ("TEETOTAL_CHECKPOINT_INTERVAL", "0", "a number that is at least 1"),
        ("TEETOTAL_MAX_DURATION", "-1", "a number"),
        ("LOOM_MAX_PREEMPTIONS", "two", "a number"),
    ] {
        let (passes, text) = run("nesting_victim", &[(variable, value)]);
        let expected = format!("{variable} is `{value}`, and must be {wanted}");
        assert!(!passes && text.contains(&expected), "{text}");
    }
}

#[test]
fn a_thread_that_waits_for_what_never_comes_is_said_to() {
    let wait = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        drop(thread::spawn(move || other.store(2, Relaxed)));
        while flag.load(Relaxed) != 1 {
            teetotal::hint::spin_loop();
        }
    };
    let failed = std::panic::catch_unwind(|| teetotal::model(wait)).expect_err("it is blocked forever");
    let text = failed.downcast_ref::<String>().expect("it panics with a text");
    assert!(text.starts_with("livelock: main is blocked forever"), "{text}");
    assert!(text.contains("main repeats this loop, and reads the same each time"), "{text}");
}

#[test]
fn a_test_that_a_limit_has_cut_short_says_so() {
    let (passes, text) = run("short_victim", &[("TEETOTAL_MAX_PERMUTATIONS", "1")]);
    let said = "teetotal: short_victim: holds within the bound: at most 1 execution (1 execution)";
    assert!(passes && text.contains(said), "{text}");
    let (passes, text) = run("short_victim", &[]);
    assert!(passes && !text.contains("within the bound"), "{text}");
}

#[test]
fn short_victim() {
    if common::is_wanted() {
        teetotal::model(|| {
            let flag = Arc::new(AtomicUsize::new(0));
            let other = Arc::clone(&flag);
            let thread = thread::spawn(move || other.load(Relaxed));
            flag.store(1, Relaxed);
            thread.join().expect("it ends");
        });
    }
}

#[test]
fn who_waits_for_good_is_told_with_what_for() {
    let told = |f: fn()| teetotal::model::Builder::new().explore(f).failure.expect("it waits for good");
    let text = told(|| {
        let (sender, receiver) = mpsc::channel::<u8>();
        let _ = receiver.recv();
        drop(sender);
    });
    assert!(text.contains("main waits for a message"), "{text}");
    let text = told(|| Notify::new().wait());
    assert!(text.contains("main waits to be notified"), "{text}");
    let text = told(|| {
        let lock = RwLock::new(());
        let _writer = lock.write().expect("no thread panics");
        let _reader = lock.read();
    });
    assert!(text.contains("main waits for a lock"), "{text}");
    let text = told(|| {
        let lock = Mutex::new(());
        let _guard = lock.lock().expect("no thread panics");
        let _again = lock.lock();
    });
    assert!(text.contains("main waits for a lock that main holds"), "{text}");
}
