//! Threads: scopes, parking, values of threads, values of executions, and loops that wait.

use super::common;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use common::{MODELS, executions, explore, failure};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use teetotal::sync::{Arc, Condvar, Mutex};
use teetotal::{ModelId, future, hint, lazy_static, thread, thread_local};

#[test]
fn store_buffering_in_a_scope_and_with_statics_has_as_many_executions_as_without() {
    static X: AtomicUsize = AtomicUsize::new(0);
    static Y: AtomicUsize = AtomicUsize::new(0);
    lazy_static! {
        static ref A: AtomicUsize = AtomicUsize::new(0);
        static ref B: AtomicUsize = AtomicUsize::new(0);
    }
    fn half(own: &AtomicUsize, other: &AtomicUsize) {
        own.store(1, Ordering::Relaxed);
        other.load(Ordering::Relaxed);
    }
    for model in MODELS {
        let expected = 4 - u64::from(model == ModelId::Sc);
        let scoped = executions(model, || {
            let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                scope.spawn(|| half(&x, &y));
                scope.spawn(|| half(&y, &x));
            });
        });
        let statics = executions(model, || {
            thread::spawn(|| half(&X, &Y));
            half(&Y, &X);
        });
        let lazy = executions(model, || {
            thread::spawn(|| half(&A, &B));
            half(&B, &A);
        });
        assert_eq!((scoped, statics, lazy), (expected, expected, expected), "under {model:?}");
    }
}

#[test]
fn a_lazy_static_whose_making_can_be_seen_is_made_by_one_thread() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    lazy_static! {
        static ref VALUE: usize = MADE.fetch_add(1, Ordering::SeqCst) + 1;
    }
    for model in MODELS {
        let report = explore(model, || {
            let thread = thread::spawn(|| *VALUE);
            assert_eq!(*VALUE, 1);
            assert_eq!(thread.join().expect("it ends"), 1);
            assert_eq!(MADE.load(Ordering::SeqCst), 1);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn values_of_a_thread_are_its_own_and_dropped_when_it_ends() {
    struct Tells(Arc<AtomicUsize>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(1) };
        static TELLS: RefCell<Option<Tells>> = RefCell::new(None);
    }
    let report = explore(ModelId::Pso, || {
        let dropped = Arc::new(AtomicUsize::new(0));
        NUMBER.set(5);
        let other = Arc::clone(&dropped);
        let thread = thread::spawn(move || {
            assert_eq!(NUMBER.get(), 1);
            TELLS.with(|tells| *tells.borrow_mut() = Some(Tells(other)));
            NUMBER.replace(2)
        });
        assert_eq!(thread.join().expect("it ends"), 1);
        assert_eq!(NUMBER.get(), 5);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
    assert_eq!(report.failure, None);
}

#[test]
fn a_parked_thread_waits_for_its_token() {
    assert_eq!(
        executions(ModelId::Pso, || {
            let thread = thread::spawn(thread::park);
            thread.thread().unpark();
            thread.join().expect("it ends");
        }),
        2,
        "it goes on with its token, or for no reason"
    );
    let text = failure(ModelId::Pso, thread::park);
    assert!(text.starts_with("deadlock") && text.contains("main waits to be unparked"), "{text}");
    let report = explore(ModelId::Pso, || thread::park_timeout(Duration::from_secs(1)));
    assert_eq!(report.failure, None);
}

#[test]
fn threads_have_names_and_numbers() {
    let report = explore(ModelId::Sc, || {
        let own = thread::current().id();
        let builder = thread::Builder::new().name("worker".to_owned()).stack_size(1 << 20);
        let handle = builder.spawn(move || (thread::current().name().map(str::to_owned), thread::current().id()));
        let handle = handle.expect("it starts");
        let id = handle.thread().id();
        assert_eq!(handle.join().expect("it ends"), (Some("worker".to_owned()), id));
        assert_ne!(own, id);
    });
    assert_eq!(report.failure, None);
}

#[test]
fn a_thread_has_ended_or_not() {
    let seen: &'static std::sync::Mutex<Vec<bool>> = Box::leak(Box::default());
    let report = explore(ModelId::Sc, move || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(true, Ordering::Relaxed));
        let is_finished = thread.is_finished();
        assert!(!is_finished || flag.load(Ordering::Relaxed));
        seen.lock().expect("no thread panics").push(is_finished);
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    let seen = seen.lock().expect("no thread panics");
    assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
}

#[test]
fn a_loop_that_gives_up_after_a_few_turns_is_no_deadlock() {
    for model in MODELS {
        let report = explore(model, || {
            let flag = AtomicBool::new(false);
            let turns = (0..5).take_while(|_| {
                hint::spin_loop();
                !flag.load(Ordering::Relaxed)
            });
            assert_eq!(turns.count(), 5);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn a_loop_that_waits_for_two_things_ends() {
    for model in MODELS {
        let report = explore(model, || {
            let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let threads: Vec<_> = (0..2)
                .map(|i| {
                    let flags = Arc::clone(&flags);
                    thread::spawn(move || flags[i].store(true, Ordering::Release))
                })
                .collect();
            while !(flags[0].load(Ordering::Acquire) & flags[1].load(Ordering::Acquire)) {
                thread::yield_now();
            }
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn a_loop_that_nobody_ends_is_found() {
    let spins = || {
        let flag = AtomicBool::new(false);
        while !flag.load(Ordering::Relaxed) {
            hint::spin_loop();
        }
    };
    let text = failure(ModelId::Sc, spins);
    assert!(text.starts_with("livelock: main is blocked forever"), "{text}");
}

#[test]
fn a_future_is_waited_for() {
    use std::future::poll_fn;
    use std::task::Poll;
    for model in MODELS {
        let report = explore(model, || {
            let shared = Arc::new((AtomicUsize::new(0), future::AtomicWaker::new()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                other.0.store(1, Ordering::SeqCst);
                other.1.wake();
            });
            let seen = future::block_on(poll_fn(|context| {
                shared.1.register_by_ref(context.waker());
                match shared.0.load(Ordering::SeqCst) {
                    0 => Poll::Pending,
                    n => Poll::Ready(n),
                }
            }));
            assert_eq!(seen, 1);
            thread.join().expect("it ends");
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn everything_behaves_as_in_the_standard_library_outside_of_models() {
    let lock = Mutex::new(0);
    let flag = AtomicBool::new(false);
    thread::scope(|scope| {
        let handle = scope.spawn(|| {
            *lock.lock().expect("no thread panics") += 1;
            flag.store(true, Ordering::Release);
        });
        while !flag.load(Ordering::Acquire) {
            hint::spin_loop();
        }
        handle.join().expect("it ends");
    });
    assert_eq!(lock.into_inner().ok(), Some(1));
    assert_eq!(future::block_on(async { 7 }), 7);
}

#[test]
fn a_bound_is_kept_to_when_there_are_too_many_executions() {
    let mut builder = teetotal::model::Builder::new();
    builder.preemption_bound = Some(1);
    let report = builder.explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let n = Arc::clone(&n);
                thread::spawn(move || {
                    for _ in 0..5 {
                        n.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        assert_eq!(n.load(Ordering::Relaxed), 15);
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::Preemptions(1)));
}

#[test]
fn a_thread_that_does_something_and_yields_lets_others_go_on() {
    let report = explore(ModelId::Pso, || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for round in 1..=2 {
                while other.0.load(Ordering::Acquire) < round {
                    thread::yield_now();
                }
            }
            other.1.store(1, Ordering::Release);
        });
        while shared.1.load(Ordering::Acquire) == 0 {
            shared.0.fetch_add(1, Ordering::AcqRel);
            thread::yield_now();
        }
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::Turns));
}

/// A loop may wait longer in each round by yielding more often.
#[test]
fn to_yield_twice_in_a_row_is_to_yield_once() {
    let report = explore(ModelId::Pso, || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.1.store(1, Ordering::Release));
        while shared.1.load(Ordering::Acquire) == 0 {
            shared.0.fetch_add(1, Ordering::AcqRel);
            thread::yield_now();
            hint::spin_loop();
        }
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::Turns));
}

#[test]
fn a_thread_that_yields_once_is_in_no_loop() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let results = std::sync::Arc::clone(&seen);
    let mut builder = teetotal::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.0.store(1, Ordering::SeqCst);
            thread::yield_now();
            other.1.store(1, Ordering::SeqCst);
        });
        let read = (shared.0.load(Ordering::SeqCst), shared.1.load(Ordering::SeqCst));
        results.lock().expect("no thread panics").insert(read);
        thread.join().expect("it ends");
    });
    let seen = seen.lock().expect("no thread panics");
    assert_eq!(seen.iter().copied().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

/// Reads two locations that no thread changes a few times, then sets a flag.
fn give_up(looked_at: &[AtomicUsize; 2], told: &AtomicUsize) {
    for _ in 0..3 {
        assert_eq!(looked_at.each_ref().map(|at| at.load(Ordering::Acquire)), [0, 0]);
        thread::yield_now();
    }
    told.store(1, Ordering::Release);
}

/// Waits for a flag, and updates another location in each iteration.
fn wait_for(told: &AtomicUsize, counted: &AtomicUsize) {
    while told.load(Ordering::Acquire) == 0 {
        counted.fetch_or(0, Ordering::AcqRel);
        thread::yield_now();
    }
}

#[test]
fn threads_that_yield_by_turns_go_on_whoever_was_first() {
    for gives_up_first in [false, true] {
        let report = explore(ModelId::Pso, move || {
            let shared = Arc::new(([const { AtomicUsize::new(0) }; 2], AtomicUsize::new(0), AtomicUsize::new(0)));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || match gives_up_first {
                true => wait_for(&other.1, &other.2),
                false => give_up(&other.0, &other.1),
            });
            match gives_up_first {
                true => give_up(&shared.0, &shared.1),
                false => wait_for(&shared.1, &shared.2),
            }
            thread.join().expect("it ends");
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    }
}

/// The time may be over again and again, while the other thread could go on.
#[test]
fn a_wait_with_a_time_limit_ends_in_a_loop_too() {
    let report = teetotal::model::Builder::new().explore(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let setter = shared.clone();
        let other = thread::spawn(move || {
            *setter.0.lock().expect("no thread panics") = true;
            setter.1.notify_one();
        });
        let mut is_set = shared.0.lock().expect("no thread panics");
        while !*is_set {
            is_set = shared.1.wait_timeout(is_set, Duration::from_millis(1)).expect("no thread panics").0;
        }
        drop(is_set);
        other.join().expect("no thread panics");
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::Turns));
}

/// A thread that parks with a time-out in a loop.
#[test]
fn who_parks_for_some_time_in_a_loop_comes_to_an_end() {
    let report = teetotal::model::Builder::new().explore(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let (setter, waiter) = (flag.clone(), thread::current());
        let other = thread::spawn(move || {
            setter.store(1, Ordering::Release);
            waiter.unpark();
        });
        while flag.load(Ordering::Acquire) == 0 {
            thread::park_timeout(Duration::from_millis(1));
        }
        other.join().expect("no thread panics");
    });
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
}

/// A thread that runs because no other can is ordered after everything done, but not after a read of the lock.
#[test]
fn who_goes_on_at_last_does_not_wait_for_a_look_in_vain() {
    let report = teetotal::model::Builder::new().explore(|| {
        let [a, b] = [0; 2].map(|_| Arc::new(AtomicUsize::new(0)));
        let lock = Arc::new(Mutex::new(()));
        let (other_a, other_b, other_lock) = (a.clone(), b.clone(), lock.clone());
        let other = thread::spawn(move || {
            drop(other_lock.lock());
            other_a.store(1, Ordering::Release);
            let seen = other_b.load(Ordering::Acquire);
            thread::yield_now();
            other_b.load(Ordering::Acquire);
            thread::yield_now();
            seen
        });
        b.store(1, Ordering::Release);
        let own = lock.lock().expect("no thread panics");
        let seen = a.load(Ordering::Acquire);
        drop(own);
        assert!(seen + other.join().expect("it ends") > 0, "neither saw the other");
    });
    let failure = report.failure.expect("stores may be late");
    assert!(failure.starts_with("main panicked: neither saw the other"), "{failure}");
}

/// Whether `main` can store, wait for a thread that has ended, and then miss what another thread stored, which misses it.
fn a_load_passes_a_join(model: ModelId, is_scoped: bool) -> bool {
    let report = explore(model, move || {
        let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = Arc::clone(&cells);
        let beside = thread::spawn(move || {
            other[1].store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            other[0].load(Ordering::Relaxed)
        });
        let store = || cells[0].store(1, Ordering::Relaxed);
        if is_scoped {
            thread::scope(|scope| {
                scope.spawn(|| {});
                store();
            });
        } else {
            let ended = thread::spawn(|| {});
            store();
            ended.join().expect("it ends");
        }
        let own = cells[1].load(Ordering::Relaxed);
        assert_ne!((own, beside.join().expect("it ends")), (0, 0));
    });
    assert!(report.failure.is_some() || report.coverage.is_complete());
    report.failure.is_some()
}

#[test]
fn a_join_does_not_drain_the_buffer_of_the_thread_that_waits() {
    for is_scoped in [false, true] {
        let found = MODELS.map(|model| a_load_passes_a_join(model, is_scoped));
        assert_eq!(found, [false, true, true], "scoped: {is_scoped}");
    }
}
