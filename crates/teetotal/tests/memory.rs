//! The memory of a model: what is found with the checked allocator, and that right code passes.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

mod common;

use std::ptr;

use teetotal::ModelId;
use teetotal::alloc::Checked;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, SearchId, ViolationKind};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// What is wrong with a model, if anything is.
fn fault(model: impl Fn() + Send + Sync + 'static) -> Option<(ViolationKind, String)> {
    let report = Builder::new().explore(model);
    report.failure.map(|violation| (violation.kind, violation.to_string()))
}

fn kind(model: impl Fn() + Send + Sync + 'static) -> Option<ViolationKind> {
    fault(model).map(|(kind, _)| kind)
}

#[track_caller]
fn assert_holds(model: impl Fn() + Send + Sync + 'static) {
    let report = Builder::new().explore(model);
    assert!(report.failure.is_none(), "{}", report.failure.map(|violation| violation.to_string()).unwrap_or_default());
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
}

struct Node {
    value: UnsafeCell<usize>,
    next: AtomicPtr<Node>,
}

fn node(value: usize) -> *mut Node {
    Box::into_raw(Box::new(Node { value: UnsafeCell::new(value), next: AtomicPtr::new(ptr::null_mut()) }))
}

/// Publishes a node with the ordering, and reads its value in another thread.
fn publish(order: teetotal::sync::atomic::Ordering) -> Option<(ViolationKind, String)> {
    fault(move || {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<Node>()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let node = other.load(Acquire);
            if !node.is_null() {
                // SAFETY: it is freed after this thread has ended.
                let value = unsafe { (*node).value.with(|value| *value) };
                assert_eq!(value, 7);
            }
        });
        let node = node(7);
        shared.store(node, order);
        thread.join().expect("it ends");
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(node) });
    })
}

#[test]
fn a_node_published_by_a_relaxed_store_is_a_race_with_its_creation() {
    assert_eq!(publish(Release), None);
    let (kind, text) = publish(Relaxed).expect("nothing orders the creation of the node");
    assert_eq!(kind, ViolationKind::DataRace);
    assert!(text.contains("allocates the block"), "{text}");
    assert!(text.contains("but (2) does not release"), "{text}");
}

#[test]
fn an_atomic_in_a_node_published_by_a_relaxed_store_is_a_race_too() {
    let model = |order| {
        move || {
            let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<AtomicUsize>()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                let cell = other.load(Acquire);
                // SAFETY: it is freed after this thread has ended.
                cell.is_null() || unsafe { (*cell).load(Relaxed) } == 7
            });
            let cell = Box::into_raw(Box::new(AtomicUsize::new(7)));
            let _ = shared.compare_exchange(ptr::null_mut(), cell, order, Relaxed);
            assert!(thread.join().expect("it ends"));
            // SAFETY: the other thread has ended.
            drop(unsafe { Box::from_raw(cell) });
        }
    };
    assert_eq!(kind(model(Relaxed)), Some(ViolationKind::DataRace));
    assert_eq!(kind(model(Release)), None);
}

#[test]
fn a_value_moved_into_its_block_is_created_there() {
    let model = |order| {
        move || {
            let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<AtomicUsize>()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                let cell = other.load(Acquire);
                // SAFETY: it is freed after this thread has ended.
                cell.is_null() || unsafe { (*cell).load(Relaxed) } == 8
            });
            let cell = AtomicUsize::new(7);
            cell.store(8, Relaxed);
            let cell = Box::into_raw(Box::new(cell));
            shared.store(cell, order);
            assert!(thread.join().expect("it ends"));
            // SAFETY: the other thread has ended.
            drop(unsafe { Box::from_raw(cell) });
        }
    };
    assert_eq!(kind(model(Relaxed)), Some(ViolationKind::DataRace));
    assert_eq!(kind(model(Release)), None);
}

/// A Treiber stack that frees a node as soon as it is popped, whatever other threads do with it.
#[derive(Default)]
struct EagerStack {
    head: AtomicPtr<Node>,
}

impl EagerStack {
    fn push(&self, value: usize) {
        let new = node(value);
        loop {
            let head = self.head.load(Acquire);
            // SAFETY: only this thread knows the node.
            unsafe { (*new).next.store(head, Relaxed) };
            if self.head.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            if head.is_null() {
                return None;
            }
            // SAFETY: there is none, which is to be found.
            let next = unsafe { (*head).next.load(Relaxed) };
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                // SAFETY: the same.
                let node = unsafe { Box::from_raw(head) };
                return Some(node.value.with(|value| unsafe { *value }));
            }
        }
    }
}

impl Drop for EagerStack {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[test]
fn a_stack_that_frees_too_early_is_told_with_three_places() {
    let (kind, text) = fault(|| {
        let stack = Arc::new(EagerStack::default());
        stack.push(1);
        let other = Arc::clone(&stack);
        let thread = thread::spawn(move || other.pop());
        stack.pop();
        thread.join().expect("it ends");
    })
    .expect("one thread frees what the other reads");
    assert_eq!(kind, ViolationKind::UseAfterFree);
    assert!(text.starts_with("use after free: "), "{text}");
    for part in ["allocates the block", "frees it", "tests/memory.rs"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.matches("--> ").count(), 3, "{text}");
    // The three are rows of the table too, and why it is possible is said below.
    let row = |part: &str| text.lines().position(|line| line.contains('│') && line.contains(part));
    let rows = [row("allocates ptr1, "), row("frees ptr1 :"), row("next.load(Relaxed) in ptr1 :")];
    assert!(rows.is_sorted() && rows[0].is_some(), "{rows:?} {text}");
    assert!(text.contains("T1 has had ptr1 since step ("), "{text}");
    assert!(text.contains("help: free the block when no thread can still have the pointer"), "{text}");
}

#[test]
fn a_stack_used_by_one_thread_at_a_time_passes() {
    assert_holds(|| {
        let stack = Arc::new(EagerStack::default());
        stack.push(1);
        stack.push(2);
        let other = Arc::clone(&stack);
        thread::spawn(move || assert_eq!(other.pop(), Some(2))).join().expect("it ends");
        assert_eq!(stack.pop(), Some(1));
    });
}

#[test]
fn a_double_free_is_a_finding() {
    let (kind, text) = fault(|| {
        let shared = Arc::new(AtomicPtr::new(node(1)));
        let other = Arc::clone(&shared);
        let free = |shared: &AtomicPtr<Node>| {
            let node = shared.load(Acquire);
            if !node.is_null() {
                // SAFETY: there is none, which is to be found.
                drop(unsafe { Box::from_raw(node) });
                shared.store(ptr::null_mut(), Release);
            }
        };
        let thread = thread::spawn(move || free(&other));
        free(&shared);
        thread.join().expect("it ends");
    })
    .expect("both may free it");
    assert_eq!(kind, ViolationKind::DoubleFree, "{text}");
    assert!(text.starts_with("double free: "), "{text}");
}

#[test]
fn a_free_that_nothing_orders_after_an_access_is_a_finding() {
    let model = |order| {
        move || {
            let done = Arc::new(AtomicUsize::new(0));
            let node = Box::into_raw(Box::new(UnsafeCell::new(1_usize)));
            let (other, address) = (Arc::clone(&done), node as usize);
            let thread = thread::spawn(move || {
                // SAFETY: it is freed once this thread says so.
                unsafe { (*(address as *const UnsafeCell<usize>)).with(|value| assert_eq!(*value, 1)) };
                other.store(1, order);
            });
            if done.load(Acquire) == 1 {
                // SAFETY: the other thread is done with it, if the ordering says so.
                drop(unsafe { Box::from_raw(node) });
                thread.join().expect("it ends");
            } else {
                thread.join().expect("it ends");
                // SAFETY: the other thread has ended.
                drop(unsafe { Box::from_raw(node) });
            }
        }
    };
    assert_eq!(kind(model(Release)), None);
    let (kind, text) = fault(model(Relaxed)).expect("nothing orders the free after the access");
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert!(text.contains("main reads at (3) what T1 wrote at (2), but (2) does not release"), "{text}");
}

/// A node whose link is plain memory.
struct Plain {
    next: *mut Plain,
    value: usize,
}

#[test]
fn a_pointer_in_freed_memory_is_not_read() {
    let (kind, text) = fault(|| {
        let last = Box::into_raw(Box::new(Plain { next: ptr::null_mut(), value: 2 }));
        let first = Box::into_raw(Box::new(Plain { next: last, value: 1 }));
        let head = AtomicPtr::new(first);
        let first = head.load(Relaxed);
        // SAFETY: there is none for the second access, which is to be found.
        unsafe {
            drop(Box::from_raw(first));
            let next = ptr::read_volatile(&raw const (*first).next);
            assert_eq!(ptr::read_volatile(&raw const (*next).value), 2);
        }
    })
    .expect("it reads a pointer from freed memory");
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert!(text.contains("ptr::read_volatile(&raw const (*first).next) in ptr1"), "{text}");
}

/// What only ABA breaks: a thread reads the head, another takes it away, frees it and puts another in its place.
#[test]
fn an_address_that_comes_back_is_found() {
    let model = |reuse| {
        let mut builder = Builder::new();
        builder.reuse = reuse;
        builder.explore(|| {
            let first = node(1);
            let head = Arc::new(AtomicPtr::new(first));
            let other = Arc::clone(&head);
            let thread = thread::spawn(move || {
                let old = other.swap(ptr::null_mut(), AcqRel);
                if !old.is_null() {
                    // SAFETY: it was taken.
                    drop(unsafe { Box::from_raw(old) });
                    other.store(node(2), Release);
                }
            });
            let before = head.load(Acquire);
            let is_swapped = head.compare_exchange(before, before, AcqRel, Acquire).is_ok();
            thread.join().expect("it ends");
            let last = head.load(Acquire);
            assert!(!(before == first && is_swapped && last == first && value(last) == 2), "the address came back");
            // SAFETY: no other thread has it.
            drop(unsafe { Box::from_raw(last) });
        })
    };
    assert_eq!(model(1).failure.expect("the address comes back").kind, ViolationKind::Panic);
    let without = model(0);
    assert_eq!(without.failure.map(|violation| violation.to_string()), None);
    assert!(without.coverage.is_complete());
}

/// A block that one thread frees may be given to another, though nothing but the allocator orders the two.
#[test]
fn an_address_that_comes_back_from_another_thread_is_found() {
    let model = |reuse, search, model| {
        let mut builder = Builder::new();
        (builder.reuse, builder.search, builder.model) = (reuse, search, model);
        builder.explore(|| {
            let first = node(1);
            let head = Arc::new(AtomicPtr::new(first));
            let [one, other] = [0; 2].map(|_| Arc::clone(&head));
            let takes = thread::spawn(move || {
                let old = one.swap(ptr::null_mut(), AcqRel);
                if !old.is_null() {
                    // SAFETY: it was taken.
                    drop(unsafe { Box::from_raw(old) });
                }
            });
            let puts = thread::spawn(move || {
                let new = node(2);
                if other.compare_exchange(ptr::null_mut(), new, AcqRel, Relaxed).is_err() {
                    // SAFETY: no other thread knows it.
                    drop(unsafe { Box::from_raw(new) });
                }
            });
            let before = head.load(Acquire);
            let is_swapped = head.compare_exchange(before, before, AcqRel, Acquire).is_ok();
            takes.join().expect("it ends");
            puts.join().expect("it ends");
            let last = head.load(Acquire);
            if !last.is_null() {
                assert!(!(before == first && is_swapped && last == first && value(last) == 2), "the address came back");
                // SAFETY: no other thread has it.
                drop(unsafe { Box::from_raw(last) });
            }
        })
    };
    for id in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
        for search in [SearchId::Dpor, SearchId::ReadsFrom] {
            let found = model(1, search, id).failure.expect("the address comes back");
            assert_eq!(found.kind, ViolationKind::Panic, "{found}");
            assert!(found.contains("reuses the freed block"), "{found}");
            let without = model(0, search, id);
            assert_eq!(without.failure.map(|violation| violation.to_string()), None);
            assert!(without.coverage.is_complete());
        }
    }
}

#[test]
fn a_block_that_is_not_freed_is_a_leak_if_asked_for() {
    let model = |leaks| {
        let mut builder = Builder::new();
        builder.leaks = leaks;
        builder.explore(|| {
            let head = Arc::new(AtomicPtr::new(ptr::null_mut()));
            let other = Arc::clone(&head);
            let thread = thread::spawn(move || other.swap(ptr::null_mut(), AcqRel) as usize);
            head.store(node(1), Release);
            let taken = thread.join().expect("it ends") as *mut Node;
            // What the thread did not take is forgotten.
            if !taken.is_null() {
                // SAFETY: it was taken.
                drop(unsafe { Box::from_raw(taken) });
            }
        })
    };
    assert_eq!(model(false).failure.map(|violation| violation.to_string()), None);
    let found = model(true).failure.expect("a node is left");
    assert_eq!(found.kind, ViolationKind::Leak, "{found}");
    assert!(found.contains("this block was created here") && found.contains("tests/memory.rs"), "{found}");
}

#[test]
fn a_node_that_lost_a_race_is_a_leak() {
    let model = |frees: bool| {
        let mut builder = Builder::new();
        builder.leaks = true;
        builder.explore(move || {
            let head = Arc::new(AtomicPtr::new(ptr::null_mut()));
            let other = Arc::clone(&head);
            let put = move |head: &AtomicPtr<Node>| {
                let new = node(1);
                if head.compare_exchange(ptr::null_mut(), new, AcqRel, Relaxed).is_err() && frees {
                    // SAFETY: no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            };
            let thread = thread::spawn(move || put(&other));
            put(&head);
            thread.join().expect("it ends");
            // SAFETY: the other thread has ended.
            drop(unsafe { Box::from_raw(head.load(Relaxed)) });
        })
    };
    let found = model(false).failure.expect("the node of the loser is left");
    assert_eq!(found.kind, ViolationKind::Leak, "{found}");
    assert_eq!(model(true).failure.map(|violation| violation.to_string()), None);
}

teetotal::lazy_static! {
    static ref IN_A_BOX: Box<AtomicUsize> = Box::new(AtomicUsize::new(1));
}

#[test]
fn what_is_made_by_a_lazy_value_is_known_to_all() {
    assert_holds(|| {
        let thread = thread::spawn(|| IN_A_BOX.fetch_add(1, Relaxed));
        IN_A_BOX.fetch_add(1, Relaxed);
        thread.join().expect("it ends");
        assert_eq!(IN_A_BOX.load(Relaxed), 3);
    });
}

/// An access that lasts, while another thread frees what is accessed.
#[test]
fn a_free_in_the_middle_of_an_access_is_a_finding() {
    let model = |tells_last: bool| {
        move || {
            let done = Arc::new(AtomicUsize::new(0));
            let (other, address) = (Arc::clone(&done), node(1) as usize);
            let thread = thread::spawn(move || {
                // SAFETY: it is freed once this thread says so.
                let read = unsafe { &(*(address as *const Node)).value };
                read.with(|_| {
                    other.fetch_add(1, AcqRel);
                    other.load(Relaxed);
                });
                other.fetch_add(1, AcqRel);
            });
            let is_told = if tells_last { done.load(Acquire) == 2 } else { done.load(Acquire) > 0 };
            if !is_told {
                thread.join().expect("it ends");
            }
            // SAFETY: the other thread is done with it, if it tells so last.
            drop(unsafe { Box::from_raw(address as *mut Node) });
        }
    };
    for search in [SearchId::Dpor, SearchId::ReadsFrom] {
        let mut builder = Builder::new();
        // `rf` takes models of store buffers only.
        builder.model = ModelId::Pso;
        builder.search = search;
        let found = builder.explore(model(false)).failure.expect("it is freed while it is read");
        assert_eq!(found.kind, ViolationKind::UseAfterFree, "{found}");
        assert_eq!(builder.explore(model(true)).failure.map(|violation| violation.to_string()), None);
    }
}

#[test]
fn a_use_after_free_before_the_first_operation_is_told() {
    let (kind, text) = fault(|| {
        let node = node(1);
        value(node);
        // SAFETY: there is none for the access, which is to be found.
        drop(unsafe { Box::from_raw(node) });
        value(node);
    })
    .expect("it is freed");
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert!(text.contains("main accesses it"), "{text}");
}

fn value(node: *mut Node) -> usize {
    // SAFETY: it is not freed.
    unsafe { (*node).value.with(|value| *value) }
}

/// A search may have more than one copy of a model, each with addresses of its own, but has more executions than these.
#[test]
fn addresses_are_the_same_in_every_execution() {
    use std::sync::atomic::AtomicUsize as Real;
    static SEEN: [[Real; 2]; 2] = [const { [const { Real::new(0) }; 2] }; 2];
    static COUNT: Real = Real::new(0);
    let note = |index: usize, address: usize| {
        COUNT.fetch_add(1, Relaxed);
        let is_known = |seen: &Real| match seen.load(Relaxed) {
            0 => {
                seen.store(address, Relaxed);
                true
            }
            known => known == address,
        };
        assert!(SEEN[index].iter().any(is_known), "{:?} {address:x}", SEEN[index]);
    };
    assert_holds(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&x);
        let node = Box::new(AtomicUsize::new(0));
        let thread = thread::spawn(move || {
            let node = Box::new(AtomicUsize::new(0));
            node.store(1, Relaxed);
            (0..3).for_each(|_| _ = other.fetch_add(1, Relaxed));
            note(1, &raw const *node as usize);
        });
        node.store(1, Relaxed);
        (0..3).for_each(|_| _ = x.fetch_add(1, Relaxed));
        note(0, &raw const *node as usize);
        thread.join().expect("it ends");
    });
    assert!(COUNT.load(Relaxed) > 20, "{COUNT:?}");
}

#[test]
fn what_escapes_from_an_execution_stays_as_it_is() {
    let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let all = std::sync::Arc::clone(&kept);
    assert_holds(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, Relaxed));
        let read = x.load(Relaxed);
        thread.join().expect("it ends");
        all.lock().expect("it is not poisoned").push(vec![read; 5]);
    });
    let kept = kept.lock().expect("it is not poisoned");
    assert!(kept.iter().all(|list| list.len() == 5 && list.iter().all(|read| *read == list[0])), "{kept:?}");
    assert!(kept.iter().any(|list| list[0] == 0) && kept.iter().any(|list| list[0] == 1));
}
