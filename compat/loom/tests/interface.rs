//! Tests as users of loom write them.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::thread;

#[test]
fn a_builder_is_set_up_field_by_field() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 10_000;
    builder.max_threads = 3;
    builder.checkpoint_file("unused").check(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let other = n.clone();
        let thread = thread::spawn(move || other.fetch_add(1, Ordering::AcqRel));
        n.fetch_add(1, Ordering::AcqRel);
        thread.join().expect("it is there");
        assert_eq!(n.load(Ordering::Acquire), 2);
    });
}

#[test]
#[should_panic(expected = "data race")]
fn a_cell_that_is_not_guarded_is_a_race() {
    struct Slot(UnsafeCell<usize>);
    // SAFETY: the checker says that it is not.
    unsafe impl Sync for Slot {}
    // SAFETY: the same.
    unsafe impl Send for Slot {}
    loom::model(|| {
        let slot = Arc::new(Slot(UnsafeCell::new(0)));
        let other = slot.clone();
        // SAFETY: the same.
        thread::spawn(move || other.0.with_mut(|data| unsafe { *data = 1 }));
        // SAFETY: the same.
        let _ = unsafe { *slot.0.get().deref() };
    });
}

#[test]
#[should_panic(expected = "not freed")]
fn what_is_forgotten_is_a_leak() {
    loom::model(|| std::mem::forget(Arc::new(1)));
}

#[test]
fn what_threads_run_need_not_be_fit_for_another_thread() {
    loom::model(|| {
        let own = std::rc::Rc::new(1);
        let other = own.clone();
        assert_eq!(thread::spawn(move || *other).join().expect("it is there"), 1);
        assert_eq!(*own, 1);
    });
}

loom::lazy_static! {
    static ref SHARED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    pub(crate) static ref READY: AtomicBool = AtomicBool::new(false);
    /// Fit for one thread only, and with a `get` of its own.
    static ref LAST: loom::cell::Cell<*const ()> = loom::cell::Cell::new(std::ptr::null());
    static ref NUMBERS: Vec<usize> = vec![1, 2];
}

#[test]
fn statics_have_what_their_values_have_and_need_not_be_fit_for_several_threads() {
    loom::model(|| {
        assert!(LAST.get().is_null());
        LAST.set(std::ptr::from_ref(&()));
        assert_eq!(NUMBERS.get(1), Some(&2));
    });
}

loom::thread_local! {
    static OWN: std::cell::RefCell<usize> = std::cell::RefCell::new(1);
}

#[test]
fn statics_are_fresh_in_each_execution() {
    loom::model(|| {
        assert!(SHARED.lock().expect("it is there").is_empty());
        let threads: Vec<_> = (0..2)
            .map(|i| {
                thread::spawn(move || {
                    OWN.with(|own| *own.borrow_mut() += i);
                    SHARED.lock().expect("it is there").push(i);
                    READY.store(true, Ordering::Release);
                    OWN.with(|own| *own.borrow())
                })
            })
            .collect();
        let seen: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("it is there")).collect();
        assert_eq!(seen, [1, 2]);
        assert!(READY.load(Ordering::Acquire));
        assert_eq!(SHARED.lock().expect("it is there").len(), 2);
    });
}

#[test]
fn locks_and_channels_work_together() {
    loom::model(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let table = Arc::new(RwLock::new(0));
        let notify = Arc::new(Notify::new());
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn({
            let (pair, table, notify) = (pair.clone(), table.clone(), notify.clone());
            move || {
                *table.write().expect("it is there") = 2;
                notify.notify();
                *pair.0.lock().expect("it is there") = 1;
                pair.1.notify_all();
                sender.send(3).expect("it is there");
            }
        });
        notify.wait();
        let mut guard = pair.0.lock().expect("it is there");
        while *guard == 0 {
            guard = pair.1.wait(guard).expect("it is there");
        }
        assert_eq!((*guard, *table.read().expect("it is there"), receiver.recv().expect("it is there")), (1, 2, 3));
        thread.join().expect("it is there");
    });
}

#[cfg(feature = "futures")]
#[test]
fn futures_are_waited_for() {
    loom::model(|| assert_eq!(loom::future::block_on(async { 1 }), 1));
}

#[test]
fn threads_may_share_what_is_not_of_loom() {
    loom::model(|| {
        let (x, hidden) = (Arc::new(AtomicBool::new(false)), std::sync::Arc::new(std::sync::Mutex::new(0)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (x, hidden) = (x.clone(), hidden.clone());
                thread::spawn(move || {
                    x.load(Ordering::Relaxed);
                    let mut count = hidden.lock().expect("no thread panics");
                    *count += 1;
                    let is_second = *count == 2;
                    drop(count);
                    x.swap(is_second, Ordering::Relaxed);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    });
}
