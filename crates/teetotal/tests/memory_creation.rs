//! Making a value is an access: a pointer that is published without release and acquire is a race, however it was made.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

use teetotal::alloc::Checked;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, ViolationKind};
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use teetotal::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

fn kind(model: impl Fn() + Send + Sync + 'static) -> Option<ViolationKind> {
    let report = Builder::new().explore(model);
    assert!(report.failure.is_some() || report.coverage.is_complete(), "{:?}", report.coverage);
    report.failure.map(|violation| violation.kind)
}

/// Makes a value, publishes it, and lets another thread use what it finds there.
fn publish<T: 'static>(make: fn() -> *mut T, free: fn(*mut T), uses: fn(&T), order: Ordering) -> Option<ViolationKind> {
    kind(move || {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<T>()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let value = other.load(Acquire);
            if !value.is_null() {
                // SAFETY: it is freed after this thread has ended.
                uses(unsafe { &*value });
            }
        });
        let value = make();
        shared.store(value, order);
        thread.join().expect("it ends");
        free(value);
    })
}

#[track_caller]
fn is_a_race_unless_released<T: 'static>(make: fn() -> *mut T, free: fn(*mut T), uses: fn(&T)) {
    assert_eq!(publish(make, free, uses, Relaxed), Some(ViolationKind::DataRace));
    assert_eq!(publish(make, free, uses, Release), None);
}

fn unbox<T>(value: *mut T) {
    // SAFETY: all threads have ended.
    drop(unsafe { Box::from_raw(value) });
}

struct Node {
    value: UnsafeCell<usize>,
    count: AtomicUsize,
}

impl Node {
    fn new(value: usize) -> Self {
        Node { value: UnsafeCell::new(value), count: AtomicUsize::new(value) }
    }

    fn get(&self) -> usize {
        // SAFETY: the checker says if it is not.
        self.value.with(|value| unsafe { *value })
    }
}

#[test]
fn a_cell_in_a_box() {
    is_a_race_unless_released(|| Box::into_raw(Box::new(Node::new(1))), unbox, |node| assert_eq!(node.get(), 1));
}

#[test]
fn an_atomic_in_a_box() {
    let uses = |node: &Node| assert_eq!(node.count.load(Relaxed), 1);
    is_a_race_unless_released(|| Box::into_raw(Box::new(Node::new(1))), unbox, uses);
}

#[test]
fn an_exchange_in_a_box() {
    let uses = |node: &Node| assert_eq!(node.count.fetch_add(1, Relaxed), 1);
    is_a_race_unless_released(|| Box::into_raw(Box::new(Node::new(1))), unbox, uses);
}

#[test]
fn an_element_of_a_vector() {
    let make = || Box::into_raw(Box::new((0..3).map(Node::new).collect::<Vec<_>>()));
    is_a_race_unless_released(make, unbox, |nodes| assert_eq!(nodes[2].get(), 2));
}

#[test]
fn an_element_of_an_array() {
    let make = || Box::into_raw(Box::new([0, 1, 2].map(Node::new)));
    is_a_race_unless_released(make, unbox, |nodes| assert_eq!(nodes[1].count.load(Relaxed), 1));
}

#[test]
fn a_value_written_into_memory() {
    let make = || {
        // SAFETY: the layout is that of a node, and is not of size 0.
        unsafe {
            let node = std::alloc::alloc(Layout::new::<Node>()).cast::<Node>();
            node.write(Node::new(1));
            node
        }
    };
    is_a_race_unless_released(make, unbox, |node| assert_eq!(node.get(), 1));
}

#[test]
fn a_value_that_was_not_there_at_first() {
    let make = || {
        let mut node = Box::new(MaybeUninit::uninit());
        node.write(Node::new(1));
        Box::into_raw(node).cast::<Node>()
    };
    is_a_race_unless_released(make, unbox, |node| assert_eq!(node.get(), 1));
}

#[test]
fn a_value_that_was_used_before_it_was_moved() {
    let make = || {
        let node = Node::new(0);
        // SAFETY: no other thread knows it.
        node.value.with_mut(|value| unsafe { *value = 1 });
        node.count.store(1, Relaxed);
        Box::into_raw(Box::new(node))
    };
    is_a_race_unless_released(make, unbox, |node| assert_eq!((node.get(), node.count.load(Relaxed)), (1, 1)));
}

#[test]
fn a_lock_in_a_box() {
    let make = || Box::into_raw(Box::new(Mutex::new(1)));
    is_a_race_unless_released(make, unbox, |lock| assert_eq!(*lock.lock().expect("no thread panics"), 1));
}

#[test]
fn a_pointer_published_by_a_compare_exchange() {
    let model = |order| {
        move || {
            let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<Node>()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                let node = other.load(Acquire);
                // SAFETY: it is freed after this thread has ended.
                assert!(node.is_null() || unsafe { (*node).get() } == 1);
            });
            let node = Box::into_raw(Box::new(Node::new(1)));
            assert!(shared.compare_exchange(ptr::null_mut(), node, order, Relaxed).is_ok());
            thread.join().expect("it ends");
            unbox(node);
        }
    };
    assert_eq!(kind(model(Relaxed)), Some(ViolationKind::DataRace));
    assert_eq!(kind(model(Release)), None);
}

/// Another thread says that it is done with a node, and this one takes the node apart.
fn take_apart(done: Ordering, last: fn(Box<Node>)) -> Option<ViolationKind> {
    kind(move || {
        let node = Box::into_raw(Box::new(Node::new(1)));
        let is_done = Arc::new(AtomicBool::new(false));
        let (other, address) = (Arc::clone(&is_done), node as usize);
        let thread = thread::spawn(move || {
            let node = address as *const Node;
            // SAFETY: it is not freed before this thread says that it is done.
            unsafe { assert_eq!((*node).get() + (*node).count.load(Relaxed), 2) };
            other.store(true, done);
        });
        let is_done = is_done.load(Acquire);
        if !is_done {
            thread.join().expect("it ends");
        }
        // SAFETY: the other thread is done with it.
        last(unsafe { Box::from_raw(node) });
    })
}

#[test]
fn get_mut_is_an_access() {
    let last = |mut node: Box<Node>| {
        *node.count.get_mut() = 2;
        std::mem::forget(node);
    };
    assert_eq!(take_apart(Relaxed, last), Some(ViolationKind::DataRace));
    assert_eq!(take_apart(Release, last), None);
}

#[test]
fn into_inner_is_an_access() {
    let last = |node: Box<Node>| {
        let Node { value, count } = *node;
        assert_eq!(value.into_inner() + count.into_inner(), 2);
    };
    assert!(take_apart(Relaxed, last).is_some());
    assert_eq!(take_apart(Release, last), None);
}

#[test]
fn a_free_is_an_access() {
    assert_eq!(take_apart(Relaxed, drop), Some(ViolationKind::UseAfterFree));
    assert_eq!(take_apart(Release, drop), None);
}

/// Locks that a thread uses, and that another thread takes apart when it is notified.
#[derive(Default)]
struct Locks {
    mutex: Mutex<usize>,
    lock: RwLock<usize>,
    once: OnceLock<usize>,
    condvar: Condvar,
}

/// How a lock is used, and how it is taken apart.
type Case = (fn(&Locks), fn(Box<Locks>));

/// One thread uses a lock and says so, and this one has the locks to itself then.
fn take_locks(uses: fn(&Locks), done: Ordering, last: fn(Box<Locks>)) -> Option<ViolationKind> {
    kind(move || {
        let locks = Box::into_raw(Box::<Locks>::default());
        let is_done = Arc::new(AtomicBool::new(false));
        let (other, address) = (Arc::clone(&is_done), locks as usize);
        let thread = thread::spawn(move || {
            // SAFETY: they are not freed before this thread says that it is done.
            uses(unsafe { &*(address as *const Locks) });
            other.store(true, done);
        });
        if !is_done.load(Acquire) {
            thread.join().expect("it ends");
        }
        // SAFETY: the other thread is done with them.
        last(unsafe { Box::from_raw(locks) });
    })
}

#[test]
fn get_mut_of_a_lock_is_an_access() {
    let forget = |locks: Box<Locks>| std::mem::forget(locks);
    let cases: [Case; 3] = [
        (
            |locks| *locks.mutex.lock().expect("no panic") += 1,
            |mut locks| {
                *locks.mutex.get_mut().expect("no panic") += 1;
                std::mem::forget(locks);
            },
        ),
        (
            |locks| assert_eq!(*locks.lock.read().expect("no panic"), 0),
            |mut locks| {
                *locks.lock.get_mut().expect("no panic") += 1;
                std::mem::forget(locks);
            },
        ),
        (
            |locks| locks.once.set(1).expect("it is not set"),
            |mut locks| {
                assert_eq!(locks.once.get_mut(), Some(&mut 1));
                std::mem::forget(locks);
            },
        ),
    ];
    for (uses, last) in cases {
        assert_eq!(take_locks(uses, Relaxed, last), Some(ViolationKind::DataRace));
        assert_eq!(take_locks(uses, Release, last), None);
        assert_eq!(take_locks(uses, Relaxed, forget), None);
    }
}

#[test]
fn into_inner_of_a_lock_is_an_access() {
    let cases: [Case; 3] = [
        (
            |locks| *locks.mutex.lock().expect("no panic") += 1,
            |locks| {
                // It is moved to the stack, and what it was in is forgotten.
                let mutex = std::mem::take(&mut Box::leak(locks).mutex);
                assert_eq!(mutex.into_inner().expect("no panic"), 1);
            },
        ),
        (
            |locks| *locks.lock.write().expect("no panic") += 1,
            |locks| {
                let lock = std::mem::take(&mut Box::leak(locks).lock);
                assert_eq!(lock.into_inner().expect("no panic"), 1);
            },
        ),
        (
            |locks| locks.once.set(1).expect("it is not set"),
            |locks| {
                let once = std::mem::take(&mut Box::leak(locks).once);
                assert_eq!(once.into_inner(), Some(1));
            },
        ),
    ];
    for (uses, last) in cases {
        assert_eq!(take_locks(uses, Relaxed, last), Some(ViolationKind::DataRace));
        assert_eq!(take_locks(uses, Release, last), None);
    }
}

#[test]
fn a_free_of_a_lock_is_an_access() {
    let cases: [fn(&Locks); 4] = [
        |locks| *locks.mutex.lock().expect("no panic") += 1,
        |locks| assert!(locks.lock.try_write().is_ok()),
        |locks| assert_eq!(locks.once.get(), None),
        |locks| locks.condvar.notify_all(),
    ];
    for uses in cases {
        assert_eq!(take_locks(uses, Relaxed, drop), Some(ViolationKind::UseAfterFree));
        assert_eq!(take_locks(uses, Release, drop), None);
    }
}

#[test]
fn a_lock_is_freed_once_all_have_released_it() {
    // The last of the threads that lock it frees it, which the lock itself orders.
    let model = || {
        let lock = Box::into_raw(Box::new(Mutex::new(2)));
        let address = lock as usize;
        let leave = move || {
            let lock = address as *mut Mutex<usize>;
            // SAFETY: who is not the last does not free it.
            let mut count = unsafe { (*lock).lock().expect("no panic") };
            *count -= 1;
            let is_last = *count == 0;
            drop(count);
            if is_last {
                unbox(lock);
            }
        };
        let thread = thread::spawn(leave);
        leave();
        thread.join().expect("it ends");
    };
    assert_eq!(kind(model), None);
}

#[test]
fn what_is_moved_from_one_vector_to_another_stays_itself() {
    let uses = |nodes: &Vec<Node>| assert_eq!(nodes.iter().map(Node::get).sum::<usize>(), 3);
    let make = || {
        let mut nodes = Vec::new();
        // It grows, so that those that are there move.
        (0..3).for_each(|value| {
            nodes.push(Node::new(value));
            nodes.iter().for_each(|node| assert_eq!(node.get(), node.count.load(Relaxed)));
        });
        Box::into_raw(Box::new(nodes))
    };
    is_a_race_unless_released(make, unbox, uses);
}
