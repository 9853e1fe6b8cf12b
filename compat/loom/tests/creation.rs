//! Constructors record: a value that is published without synchronization is a race, wherever it is, as it is in loom.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicPtr, AtomicUsize};
use loom::sync::{Arc, Mutex, mpsc};
use loom::thread;

/// How the failure of a model begins, if it fails.
fn failure(model: impl Fn() + Send + Sync + 'static) -> Option<String> {
    let failure = catch_unwind(AssertUnwindSafe(|| loom::model(model))).err()?;
    failure.downcast_ref::<String>().cloned()
}

#[track_caller]
fn is_a_race_unless_released(model: fn(Ordering)) {
    let text = failure(move || model(Relaxed)).expect("nothing orders the creation before the access");
    assert!(text.starts_with("data race: "), "{text}");
    assert!(text.contains("main creates it here"), "{text}");
    assert_eq!(failure(move || model(Release)), None);
}

/// Publishes a value on the stack of the first thread.
fn publish<T: 'static>(value: impl FnOnce() -> T, order: Ordering, uses: fn(&T) -> usize) {
    let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<T>()));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let value = other.load(Acquire);
        // SAFETY: it is there until this thread has ended.
        assert!(value.is_null() || uses(unsafe { &*value }) == 7);
    });
    let value = value();
    shared.store((&raw const value).cast_mut(), order);
    thread.join().expect("it ends");
}

#[test]
fn an_atomic_on_the_stack() {
    is_a_race_unless_released(|order| publish(|| AtomicUsize::new(7), order, |value| value.load(Relaxed)));
    is_a_race_unless_released(|order| publish(|| [AtomicUsize::from(7)], order, |[value]| value.load(Relaxed)));
}

#[test]
fn a_cell_on_the_stack() {
    is_a_race_unless_released(|order| {
        // SAFETY: whether nothing writes is what is checked.
        publish(|| UnsafeCell::new(7), order, |value| value.with(|value| unsafe { *value }));
    });
}

#[test]
fn a_value_in_memory_that_other_threads_know() {
    is_a_race_unless_released(|order| {
        type Slots = [MaybeUninit<UnsafeCell<usize>>; 2];
        let slots = Box::into_raw(Box::<Slots>::new([const { MaybeUninit::uninit() }; 2])) as usize;
        let full = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&full);
        let slot = move |index: usize| (slots as *mut UnsafeCell<usize>).wrapping_add(index);
        let thread = thread::spawn(move || {
            let index = other.load(Acquire);
            // SAFETY: it was made, and what is checked is whether that is over.
            assert!(index == 0 || unsafe { (*slot(index)).with(|value| *value) } == 7);
        });
        // SAFETY: no other thread uses it yet.
        unsafe { slot(1).write(UnsafeCell::new(7)) };
        full.store(1, order);
        thread.join().expect("it ends");
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(slots as *mut Slots) });
    });
}

loom::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(0);
    static ref IN_A_BOX: Box<(AtomicUsize, AtomicUsize)> = Box::new((AtomicUsize::new(1), AtomicUsize::new(2)));
}

#[test]
fn what_is_made_by_a_lazy_value_is_known_to_all() {
    let uses = || COUNT.fetch_add(IN_A_BOX.0.load(Relaxed) + IN_A_BOX.1.load(Relaxed), Relaxed);
    let model = move || {
        let thread = thread::spawn(uses);
        uses();
        thread.join().expect("it ends");
        assert_eq!(COUNT.load(Relaxed), 6);
    };
    assert_eq!(failure(model), None);
}

#[test]
fn what_is_handed_over_is_known() {
    let model = || {
        let lock = Arc::new(Mutex::new(None));
        let other = Arc::clone(&lock);
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            *other.lock().expect("no panic") = Some(AtomicUsize::new(1));
            sender.send(AtomicUsize::new(2)).expect("there is a receiver");
        });
        if let Some(value) = lock.lock().expect("no panic").take() {
            // It moves to the heap.
            let boxed: Box<AtomicUsize> = Box::new(value);
            assert_eq!(boxed.load(Relaxed), 1);
        }
        let boxed: Box<AtomicUsize> = Box::new(receiver.recv().expect("it is sent"));
        assert_eq!(boxed.into_inner(), 2);
        thread.join().expect("it ends");
    };
    assert_eq!(failure(model), None);
}
