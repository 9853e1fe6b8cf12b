//! What the standard library promises about its types, and what it does not.
//!
//! `docs/guide/std.md` lists the promises; here are those that a simpler look-alike would break.

use super::common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as Results;
use std::time::Duration;

use common::{executions, explore, failure};
use teetotal::ModelId;
use teetotal::cell::UnsafeCell;
use teetotal::model::Builder;
use teetotal::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use teetotal::sync::mpsc::{SendError, TrySendError, channel, sync_channel};
use teetotal::sync::{Arc, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use teetotal::thread;

/// What the executions of `f` return, none of which may fail.
fn results<T: Ord + Clone + Send + 'static>(f: impl Fn() -> T + Sync + Send + 'static) -> BTreeSet<T> {
    results_with(&Builder::new(), f)
}

fn results_with<T: Ord + Clone + Send + 'static>(
    builder: &Builder,
    f: impl Fn() -> T + Sync + Send + 'static,
) -> BTreeSet<T> {
    let results = std::sync::Arc::new(Results::new(BTreeSet::new()));
    let own = std::sync::Arc::clone(&results);
    let report = builder.explore(move || {
        let result = f();
        own.lock().expect("no thread panics").insert(result);
    });
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    let results = results.lock().expect("no thread panics");
    results.clone()
}

/// Data that is accessed without synchronization of its own.
struct Shared(UnsafeCell<u32>);

// SAFETY: the checker looks for races.
#[allow(unsafe_code, reason = "tests of races need races")]
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        Shared(UnsafeCell::new(0))
    }

    fn write(&self) {
        self.0.with_mut(|_| ());
    }

    fn read(&self) {
        self.0.with(|_| ());
    }
}

fn is_race(text: &str) -> bool {
    text.starts_with("data race")
}

#[test]
fn exactly_one_of_two_calls_of_into_inner_gets_the_value() {
    let got = results(|| {
        let first = Arc::new(7);
        let second = Arc::clone(&first);
        let other = thread::spawn(move || Arc::into_inner(second));
        let own = Arc::into_inner(first);
        (own, other.join().expect("it ends"))
    });
    assert_eq!(got, BTreeSet::from([(None, Some(7)), (Some(7), None)]));
}

#[test]
fn two_calls_of_try_unwrap_may_both_fail() {
    let got = results(|| {
        let first = Arc::new(7);
        let second = Arc::clone(&first);
        let other = thread::spawn(move || Arc::try_unwrap(second).ok());
        let own = Arc::try_unwrap(first).ok();
        (own, other.join().expect("it ends"))
    });
    assert!(got.contains(&(None, None)) && !got.contains(&(Some(7), Some(7))), "{got:?}");
}

#[test]
fn the_value_of_into_inner_comes_after_all_other_uses() {
    executions(ModelId::Pso, || {
        let first = Arc::new(Shared::new());
        let second = Arc::clone(&first);
        let other = thread::spawn(move || {
            second.read();
            if let Some(value) = Arc::into_inner(second) {
                value.write();
            }
        });
        first.read();
        if let Some(value) = Arc::into_inner(first) {
            value.write();
        }
        other.join().expect("it ends");
    });
}

#[derive(Debug)]
struct NotToBeCloned(u32);

impl Clone for NotToBeCloned {
    fn clone(&self) -> Self {
        panic!("it is cloned")
    }
}

#[test]
fn make_mut_moves_the_value_away_from_weak_references() {
    executions(ModelId::Sc, || {
        let mut value = Arc::new(NotToBeCloned(1));
        let weak = Arc::downgrade(&value);
        Arc::make_mut(&mut value).0 = 2;
        assert_eq!((value.0, weak.upgrade().is_none()), (2, true));
        assert_eq!((Arc::strong_count(&value), Arc::weak_count(&value)), (1, 0));
    });
}

#[test]
fn make_mut_clones_or_moves_while_another_thread_upgrades() {
    let got = results(|| {
        let mut value = Arc::new(1);
        let weak: Weak<i32> = Arc::downgrade(&value);
        let other = thread::spawn(move || weak.upgrade().map(|value| *value));
        *Arc::make_mut(&mut value) = 2;
        (*value, other.join().expect("it ends"))
    });
    assert_eq!(got, BTreeSet::from([(2, None), (2, Some(1))]));
}

#[test]
fn a_rendezvous_has_no_room_unless_the_receiver_waits() {
    executions(ModelId::Sc, || {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        drop(receiver);
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    });
}

#[test]
fn a_rendezvous_with_a_receiver_that_may_wait_may_take_place() {
    let got = results(|| {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || receiver.recv().ok());
        let sent = sender.try_send(1).is_ok();
        drop(sender);
        (sent, other.join().expect("it ends"))
    });
    assert_eq!(got, BTreeSet::from([(false, None), (true, Some(1))]));
}

#[test]
fn a_sender_that_waits_for_a_rendezvous_gets_its_message_back() {
    let got = results(|| {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || sender.send(1));
        drop(receiver);
        other.join().expect("it ends") == Err(SendError(1))
    });
    assert_eq!(got, BTreeSet::from([true]));
}

#[test]
fn a_second_read_may_wait_for_a_writer_that_waits() {
    let text = failure(ModelId::Sc, || {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let writer = thread::spawn(move || *other.write().expect("no thread panics") = 1);
        let first = lock.read().expect("no thread panics");
        let second = lock.read().expect("no thread panics");
        drop((first, second));
        writer.join().expect("it ends");
    });
    assert!(text.starts_with("deadlock: main, T1 are blocked forever"), "{text}");
    assert!(text.contains("to read a lock that it already reads"), "{text}");
}

#[test]
fn a_second_read_without_a_writer_that_waits_goes_on() {
    executions(ModelId::Sc, || {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let reader = thread::spawn(move || {
            let first = other.read().expect("no thread panics");
            let second = other.read().expect("no thread panics");
            drop((first, second));
        });
        drop(lock.read().expect("no thread panics"));
        drop(lock.try_write());
        reader.join().expect("it ends");
        *lock.write().expect("no thread panics") = 1;
    });
}

#[test]
fn readers_and_writers_that_read_once_do_not_deadlock() {
    let got = results(|| {
        let lock = Arc::new(RwLock::new(0));
        let writers: Vec<_> = (1..=2)
            .map(|value| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || *lock.write().expect("no thread panics") = value)
            })
            .collect();
        let first = *lock.read().expect("no thread panics");
        let second = *lock.read().expect("no thread panics");
        writers.into_iter().for_each(|thread| thread.join().expect("it ends"));
        (first, second)
    });
    assert_eq!(got, BTreeSet::from([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]));
}

#[test]
fn is_finished_orders_nothing() {
    for has_fence in [false, true] {
        let text = failure(ModelId::Sc, move || {
            let data = Arc::new(Shared::new());
            let other = Arc::clone(&data);
            let handle = thread::spawn(move || other.write());
            if handle.is_finished() {
                if has_fence {
                    fence(Ordering::Acquire);
                }
                data.read();
            }
        });
        assert!(is_race(&text), "{text}");
    }
}

#[test]
fn a_thread_may_be_waited_for_with_is_finished() {
    for model in common::MODELS {
        executions(model, || {
            let data = Arc::new(Shared::new());
            let other = Arc::clone(&data);
            let handle = thread::spawn(move || other.write());
            while !handle.is_finished() {
                thread::yield_now();
            }
            handle.join().expect("it ends");
            data.read();
        });
    }
}

#[test]
fn a_notification_orders_nothing() {
    let text = failure(ModelId::Sc, || {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), Shared::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.2.write();
            other.1.notify_one();
        });
        let guard = shared.0.lock().expect("no thread panics");
        let waited = shared.1.wait_timeout(guard, Duration::from_secs(1)).expect("no thread panics");
        if !waited.1.timed_out() {
            shared.2.read();
        }
    });
    assert!(is_race(&text), "{text}");
}

#[test]
fn what_the_mutex_of_a_condition_orders_is_no_race() {
    executions(ModelId::Pso, || {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), Shared::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.2.write();
            *other.0.lock().expect("no thread panics") = true;
            other.1.notify_one();
        });
        let guard = shared.0.lock().expect("no thread panics");
        drop(shared.1.wait_while(guard, |is_set| !*is_set).expect("no thread panics"));
        shared.2.read();
    });
}

#[test]
fn a_wait_with_a_time_limit_may_end_spuriously_without_a_time_out() {
    let timed_out = || {
        let pair = (Mutex::new(()), Condvar::new());
        let guard = pair.0.lock().expect("no thread panics");
        let (_guard, result) = pair.1.wait_timeout(guard, Duration::from_secs(1)).expect("no thread panics");
        result.timed_out()
    };
    assert_eq!(results(timed_out), BTreeSet::from([false, true]));
    let mut builder = Builder::new();
    builder.spurious = 0;
    assert_eq!(results_with(&builder, timed_out), BTreeSet::from([true]));
}

#[test]
fn a_wait_that_timed_out_takes_no_notification() {
    let mut builder = Builder::new();
    builder.spurious = 0;
    results_with(&builder, || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let guard = shared.0.lock().expect("no thread panics");
        drop(shared.1.wait_timeout(guard, Duration::from_secs(1)).expect("no thread panics"));
        let other = Arc::clone(&shared);
        let waiter = thread::spawn(move || {
            let guard = other.0.lock().expect("no thread panics");
            drop(other.1.wait_while(guard, |is_set| !*is_set).expect("no thread panics"));
        });
        *shared.0.lock().expect("no thread panics") = true;
        shared.1.notify_one();
        waiter.join().expect("it ends");
    });
}

/// How often `fetch_update` calls its closure in each execution, if so many failures may be spurious.
fn calls(spurious: usize, update: fn(&mut dyn FnMut())) -> BTreeSet<usize> {
    let mut builder = Builder::new();
    builder.spurious = spurious;
    results_with(&builder, move || {
        let mut calls = 0;
        update(&mut || calls += 1);
        calls
    })
}

#[test]
fn fetch_update_calls_its_closure_again_after_a_spurious_failure() {
    const ORDER: Ordering = Ordering::SeqCst;
    let integer = |call: &mut dyn FnMut()| {
        let cell = AtomicUsize::new(1);
        let old = cell.fetch_update(ORDER, ORDER, |value| {
            call();
            Some(value + 1)
        });
        assert_eq!((old, cell.load(ORDER)), (Ok(1), 2));
    };
    let flag = |call: &mut dyn FnMut()| {
        let cell = AtomicBool::new(false);
        let old = cell.fetch_update(ORDER, ORDER, |value| {
            call();
            Some(!value)
        });
        assert_eq!((old, cell.load(ORDER)), (Ok(false), true));
    };
    let pointer = |call: &mut dyn FnMut()| {
        let cell = AtomicPtr::<u8>::default();
        let old = cell.fetch_update(ORDER, ORDER, |value| {
            call();
            Some(value)
        });
        assert!(old.is_ok());
    };
    for update in [integer as fn(&mut dyn FnMut()), flag, pointer] {
        assert_eq!(calls(0, update), BTreeSet::from([1]));
        assert_eq!(calls(1, update), BTreeSet::from([1, 2]));
        assert_eq!(calls(2, update), BTreeSet::from([1, 2, 3]));
    }
}

/// The text that `f` panics with.
fn panic_of<R>(f: impl FnOnce() -> R) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}

#[test]
fn a_once_whose_closure_panicked_is_poisoned() {
    executions(ModelId::Sc, || {
        let (own, std) = (Once::new(), std::sync::Once::new());
        assert!(panic_of(|| own.call_once(|| panic!("on purpose"))).is_some());
        assert!(panic_of(|| std.call_once(|| panic!("on purpose"))).is_some());
        let again = panic_of(|| own.call_once(|| {}));
        assert!(again.is_some());
        assert_eq!(again, panic_of(|| std.call_once(|| {})));
        assert_eq!(panic_of(|| own.wait()), panic_of(|| std.wait()));
        assert!(!own.is_completed());
        own.call_once_force(|state| assert!(state.is_poisoned()));
        own.wait();
        own.wait_force();
        assert!(own.is_completed());
    });
}

#[test]
fn a_once_lock_whose_closure_panicked_is_not_set() {
    executions(ModelId::Sc, || {
        let lock = OnceLock::new();
        assert!(panic_of(|| lock.get_or_init(|| panic!("on purpose"))).is_some());
        assert_eq!((lock.get(), lock.get_or_init(|| 1)), (None, &1));
        assert_eq!((lock.set(2), lock.wait()), (Err(2), &1));
    });
}

#[test]
fn a_lazy_lock_whose_closure_panicked_is_poisoned() {
    let poison = || {
        let counted = std::sync::Arc::new(());
        let captured = std::sync::Arc::clone(&counted);
        let own: LazyLock<u32, _> = LazyLock::new(move || {
            let _captured = captured;
            panic!("on purpose")
        });
        let std: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| panic!("on purpose"));
        assert_eq!(panic_of(|| *own), Some("on purpose".to_owned()));
        assert!(panic_of(|| *std).is_some());
        assert_eq!(panic_of(|| *own), panic_of(|| *std));
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
        drop(own);
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    };
    executions(ModelId::Sc, poison);
    poison();
}

#[test]
fn a_panic_leaves_a_scope_after_its_threads_have_ended() {
    executions(ModelId::Sc, || {
        let count = AtomicUsize::new(0);
        let text = panic_of(|| {
            thread::scope(|scope| {
                scope.spawn(|| count.fetch_add(1, Ordering::Relaxed));
                panic!("on purpose")
            })
        });
        assert_eq!((text.as_deref(), count.load(Ordering::Relaxed)), (Some("on purpose"), 1));
    });
}

#[test]
fn a_panic_that_waits_for_a_blocked_thread_of_its_scope_is_told() {
    let text = failure(ModelId::Sc, || {
        let (sender, receiver) = sync_channel::<u32>(1);
        thread::scope(|scope| {
            scope.spawn(|| receiver.into_iter().count());
            assert!(sender.send(1).is_err(), "on purpose");
        });
    });
    assert!(text.starts_with("deadlock: main, T1 are blocked forever"), "{text}");
    assert!(text.contains("main panicked before: on purpose"), "{text}");
}

#[test]
fn orderings_that_an_operation_cannot_have_panic_with_the_text_of_the_standard_library() {
    let orderings = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
    executions(ModelId::Sc, move || {
        for order in orderings {
            let (own, std) = (AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
            assert_eq!(panic_of(|| own.load(order)), panic_of(|| std.load(order)));
            assert_eq!(panic_of(|| own.store(0, order)), panic_of(|| std.store(0, order)));
            let exchange = panic_of(|| own.compare_exchange(0, 1, Ordering::SeqCst, order));
            assert_eq!(exchange, panic_of(|| std.compare_exchange(0, 1, Ordering::SeqCst, order)));
            let update = panic_of(|| own.fetch_update(Ordering::SeqCst, order, Some));
            assert_eq!(update, panic_of(|| std.fetch_update(Ordering::SeqCst, order, Some)));
            assert_eq!(panic_of(|| fence(order)), panic_of(|| std::sync::atomic::fence(order)));
        }
    });
}

#[test]
fn unpark_leaves_one_token_at_most() {
    let mut builder = Builder::new();
    builder.spurious = 0;
    let report = builder.explore(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park();
    });
    assert!(report.failure.is_some_and(|text| text.starts_with("deadlock")));
    let once = explore(ModelId::Sc, || {
        thread::current().unpark();
        thread::park();
    });
    assert_eq!(once.failure, None);
}

teetotal::thread_local! {
    static AT_END: RefCell<Option<OnDrop>> = const { RefCell::new(None) };
}

/// Calls a function when it is dropped.
struct OnDrop(Option<Box<dyn FnOnce() + Send>>);

impl OnDrop {
    fn new(f: impl FnOnce() + Send + 'static) -> Self {
        OnDrop(Some(Box::new(f)))
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

/// Lets the current thread call `f` when its thread-locals are dropped.
fn at_end(f: impl FnOnce() + Send + 'static) {
    AT_END.with_borrow_mut(|at_end| *at_end = Some(OnDrop::new(f)));
}

#[test]
fn to_set_a_value_of_a_thread_does_not_make_one() {
    teetotal::thread_local! {
        static CELL: Cell<u32> = panic!("on purpose");
        static REF_CELL: RefCell<u32> = panic!("on purpose");
    }
    let set = || {
        CELL.set(1);
        REF_CELL.set(2);
        CELL.set(CELL.get() + 2);
        REF_CELL.set(REF_CELL.take() + 2);
        assert_eq!((CELL.get(), REF_CELL.with_borrow(|value| *value)), (3, 4));
    };
    executions(ModelId::Sc, move || {
        set();
        let thread = thread::spawn(set);
        AtomicBool::new(false).load(Ordering::Relaxed);
        thread.join().expect("it ends");
    });
    std::thread::spawn(set).join().expect("as outside of models");
}

#[test]
fn a_value_that_is_not_dropped_is_there_until_its_thread_has_ended() {
    struct Tells(Arc<AtomicUsize>);
    impl Drop for Tells {
        fn drop(&mut self) {
            let sum = BEFORE.get() + AFTER.get() + LAZY.replace(0);
            self.0.store(sum, Ordering::Relaxed);
            assert!(TELLS.try_with(|_| ()).is_err());
        }
    }
    teetotal::thread_local! {
        static BEFORE: Cell<usize> = const { Cell::new(1) };
        static TELLS: RefCell<Option<Tells>> = const { RefCell::new(None) };
        static AFTER: Cell<usize> = const { Cell::new(2) };
        static LAZY: Cell<usize> = Cell::new(4);
    }
    executions(ModelId::Sc, || {
        let sum = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&sum);
        let thread = thread::spawn(move || {
            BEFORE.set(8);
            AFTER.set(16);
            LAZY.get();
            TELLS.set(Some(Tells(other)));
        });
        thread.join().expect("it ends");
        assert_eq!(sum.load(Ordering::Relaxed), 28);
    });
}

#[test]
fn a_thread_has_finished_before_its_thread_locals_are_dropped() {
    let got = results(|| {
        let cell = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&cell);
        let handle = thread::spawn(move || at_end(move || other.store(1, Ordering::SeqCst)));
        let seen = (handle.is_finished(), cell.load(Ordering::SeqCst));
        handle.join().expect("it ends");
        assert_eq!(cell.load(Ordering::SeqCst), 1, "a join waits for the destructors");
        seen
    });
    assert_eq!(got, BTreeSet::from([(false, 0), (false, 1), (true, 0), (true, 1)]));
}

#[test]
fn a_scope_does_not_wait_for_destructors_of_thread_locals() {
    for joins in [false, true] {
        let got = results(move || {
            let (plain, cell) = (Shared::new(), Arc::new(AtomicUsize::new(0)));
            thread::scope(|scope| {
                let (plain, other) = (&plain, Arc::clone(&cell));
                let handle = scope.spawn(move || {
                    plain.write();
                    at_end(move || other.store(1, Ordering::Relaxed));
                });
                if joins {
                    handle.join().expect("it ends");
                }
            });
            plain.write();
            cell.load(Ordering::Relaxed)
        });
        assert_eq!(got, if joins { BTreeSet::from([1]) } else { BTreeSet::from([0, 1]) });
    }
}

#[test]
fn a_destructor_of_a_thread_local_races_with_what_follows_its_scope() {
    let text = failure(ModelId::Sc, || {
        let data = Arc::new(Shared::new());
        let other = Arc::clone(&data);
        thread::scope(|scope| drop(scope.spawn(move || at_end(move || other.write()))));
        data.read();
    });
    assert!(is_race(&text), "{text}");
}

#[test]
fn what_a_thread_leaves_is_dropped_by_the_thread_or_with_its_handle() {
    let cell = || {
        let cell = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&cell);
        (cell, move || OnDrop::new(move || other.store(1, Ordering::SeqCst)))
    };
    let detached = results(move || {
        let (cell, leave) = cell();
        drop(thread::spawn(leave));
        cell.load(Ordering::SeqCst)
    });
    assert_eq!(detached, BTreeSet::from([0, 1]));
    let later = results(move || {
        let (cell, leave) = cell();
        let handle = thread::spawn(leave);
        let before = cell.load(Ordering::SeqCst);
        drop(handle);
        (before, cell.load(Ordering::SeqCst))
    });
    assert_eq!(later, BTreeSet::from([(0, 0), (0, 1)]));
    let scoped = results(move || {
        let (cell, leave) = cell();
        let within = thread::scope(|scope| {
            drop(scope.spawn(leave));
            cell.load(Ordering::SeqCst)
        });
        (within, cell.load(Ordering::SeqCst))
    });
    assert_eq!(scoped, BTreeSet::from([(0, 1), (1, 1)]));
    let joined = results(move || {
        let (cell, leave) = cell();
        let left = thread::spawn(leave).join().expect("it ends");
        let before = cell.load(Ordering::SeqCst);
        drop(left);
        (before, cell.load(Ordering::SeqCst))
    });
    assert_eq!(joined, BTreeSet::from([(0, 1)]));
}

#[test]
fn a_thread_that_returns_its_sender_disconnects_it() {
    let got = results(|| {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            sender.send(1).expect("the receiver is there");
            sender
        });
        receiver.into_iter().count()
    });
    assert_eq!(got, BTreeSet::from([1]));
}

#[test]
fn results_that_nobody_can_tell_of_cost_no_execution() {
    let n = executions(ModelId::Sc, || {
        let cell = Arc::new(AtomicUsize::new(0));
        for number in 0..2 {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.fetch_add(1, Ordering::Relaxed);
                vec![number]
            });
        }
    });
    assert_eq!(n, 2);
}

#[test]
fn a_value_that_is_being_made_cannot_be_had() {
    let got = results(|| {
        let value = Arc::new_cyclic(|weak: &Weak<u32>| u32::from(weak.upgrade().is_none()));
        let other = Arc::clone(&value);
        let thread = thread::spawn(move || drop(other));
        let count = Arc::strong_count(&value);
        thread.join().expect("it ends");
        (*value, count, Arc::strong_count(&value))
    });
    assert_eq!(got, BTreeSet::from([(1, 1, 1), (1, 2, 1)]));
    executions(ModelId::Sc, || {
        let made = catch_unwind(|| Arc::new_cyclic(|_: &Weak<u32>| panic!("on purpose")));
        assert!(made.is_err() && AtomicUsize::new(0).load(Ordering::Relaxed) == 0);
    });
}

#[test]
fn a_barrier_has_one_leader_each_time() {
    let got = results(|| {
        let barrier = Arc::new(teetotal::sync::Barrier::new(2));
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || [other.wait().is_leader(), other.wait().is_leader()]);
        let own = [barrier.wait().is_leader(), barrier.wait().is_leader()];
        let other = thread.join().expect("it ends");
        [own[0] != other[0], own[1] != other[1]]
    });
    assert_eq!(got, BTreeSet::from([[true, true]]));
}
