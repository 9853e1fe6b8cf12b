//! Accesses to blocks that are made without any type of the library.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use std::future::poll_fn;
use std::hint::black_box;
use std::ptr;
use std::task::Poll;

use teetotal::alloc::Checked;
use teetotal::future::{AtomicWaker, block_on};
use teetotal::model::{Builder, Caveat, PlainAccesses, ViolationKind};
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use teetotal::sync::{Arc, Mutex, mpsc};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// What is found, if anything is; the search must be complete otherwise.
fn fault(model: impl Fn() + Send + Sync + 'static) -> Option<(ViolationKind, String)> {
    let report = Builder::new().explore(model);
    assert!(report.failure.is_some() || report.coverage.is_complete(), "{:?}", report.coverage);
    report.failure.map(|violation| (violation.kind, violation.to_string()))
}

fn kind(model: impl Fn() + Send + Sync + 'static) -> Option<ViolationKind> {
    fault(model).map(|(kind, _)| kind)
}

/// As it stands in textbooks: the link is plain memory.
struct Node {
    value: usize,
    next: *mut Node,
}

struct Stack {
    head: AtomicPtr<Node>,
    frees: bool,
}

impl Stack {
    fn new(frees: bool) -> Self {
        Stack { head: AtomicPtr::new(ptr::null_mut()), frees }
    }

    fn push(&self, value: usize) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        loop {
            let head = self.head.load(Relaxed);
            // SAFETY: no other thread has it yet.
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, AcqRel, Relaxed).is_ok() {
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
            // SAFETY: there is none if nodes are freed, which is to be found.
            let next = unsafe { (*head).next };
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                // SAFETY: it was taken.
                let value = unsafe { (*head).value };
                if self.frees {
                    // SAFETY: as above.
                    drop(unsafe { Box::from_raw(head) });
                }
                return Some(value);
            }
        }
    }
}

fn two_threads_pop(frees: bool) -> Option<(ViolationKind, String)> {
    fault(move || {
        let stack = Arc::new(Stack::new(frees));
        stack.push(1);
        stack.push(2);
        let other = Arc::clone(&stack);
        let thread = thread::spawn(move || other.pop());
        stack.pop();
        thread.join().expect("it ends");
    })
}

#[test]
fn a_stack_with_plain_links_that_frees_too_early_is_told() {
    let (kind, text) = two_threads_pop(true).expect("one thread frees what the other reads");
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert_eq!(text.matches("--> tests/memory_plain.rs").count(), 3, "{text}");
    assert!(text.contains("T1 accesses it"), "{text}");
    let row = |part: &str| text.lines().position(|line| line.contains('│') && line.contains(part));
    // T1 reads an old value of the head, after the free.
    let rows = [row("allocates ptr2, "), row("frees ptr2 :"), row("(*head) in ptr2 :67")];
    assert!(rows.is_sorted() && rows[0].is_some(), "{rows:?} {text}");
}

#[test]
fn a_stack_with_plain_links_that_does_not_free_holds() {
    assert_eq!(two_threads_pop(false), None);
}

/// A pointer to a block that goes to another thread.
#[derive(Clone, Copy)]
struct Pointer<T>(*mut T);

// SAFETY: there is none, which is to be found.
unsafe impl<T> Send for Pointer<T> {}

impl<T: Copy> Pointer<T> {
    fn new(value: T) -> Self {
        Pointer(Box::into_raw(Box::new(value)))
    }

    fn read(self) -> T {
        // SAFETY: there is none if it was freed.
        unsafe { self.0.read_volatile() }
    }

    fn free(self) {
        // SAFETY: there is none if it was freed.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

#[test]
fn a_block_given_to_a_thread_may_be_freed_once_that_has_ended() {
    let model = |joins_first| {
        move || {
            let block = Pointer::new(5);
            let thread = thread::spawn(move || assert_eq!(block.read(), 5));
            if joins_first {
                thread.join().expect("it ends");
                block.free();
            } else {
                block.free();
                thread.join().expect("it ends");
            }
        }
    };
    assert_eq!(kind(model(true)), None);
    assert_eq!(kind(model(false)), Some(ViolationKind::UseAfterFree));
}

#[test]
fn one_thread_may_not_read_what_it_has_freed() {
    let (kind, text) = fault(|| {
        AtomicUsize::new(0).store(1, Relaxed);
        let block = Pointer::new(5);
        block.free();
        block.read();
    })
    .expect("it was freed");
    assert_eq!(kind, ViolationKind::UseAfterFree, "{text}");
    assert!(text.starts_with("use after free: this block of memory was freed before the access"), "{text}");
}

#[test]
fn a_block_must_be_published_before_it_is_read() {
    let model = |order| {
        move || {
            let shared = Arc::new(AtomicPtr::new(ptr::null_mut()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || other.store(Pointer::new(7).0, order));
            let block = Pointer(shared.load(Acquire));
            if !block.0.is_null() {
                assert_eq!(block.read(), 7);
            }
            thread.join().expect("it ends");
        }
    };
    assert_eq!(kind(model(Release)), None);
    let (kind, text) = fault(model(Relaxed)).expect("nothing orders the creation before the access");
    assert_eq!(kind, ViolationKind::DataRace, "{text}");
    assert!(text.contains("main accesses it"), "{text}");
}

#[test]
fn accesses_before_a_release_are_ordered_and_later_ones_are_not() {
    let model = |reads_later| {
        move || {
            let done = Arc::new(AtomicUsize::new(0));
            let shared = Arc::new(AtomicPtr::new(Pointer::new(1).0));
            let (other, source) = (Arc::clone(&done), Arc::clone(&shared));
            let thread = thread::spawn(move || {
                let block = Pointer(source.load(Acquire));
                block.read();
                other.store(1, Release);
                if reads_later {
                    block.read();
                }
            });
            if done.load(Acquire) == 1 {
                Pointer(shared.load(Relaxed)).free();
            }
            thread.join().expect("it ends");
        }
    };
    assert_eq!(kind(model(false)), None);
    assert_eq!(kind(model(true)), Some(ViolationKind::UseAfterFree));
}

#[test]
fn what_a_published_block_points_to_is_looked_at_too() {
    let model = |joins_first| {
        move || {
            let inner = Pointer::new(3);
            let shared = Arc::new(AtomicPtr::new(Pointer::new(inner).0));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || Pointer(other.load(Acquire)).read().read());
            if joins_first {
                thread.join().expect("it ends");
                inner.free();
            } else {
                inner.free();
                thread.join().expect("it ends");
            }
        }
    };
    assert_eq!(kind(model(true)), None);
    assert_eq!(kind(model(false)), Some(ViolationKind::UseAfterFree));
}

#[test]
fn any_part_of_a_large_block_counts() {
    let found = kind(|| {
        let numbers = Box::into_raw(vec![1_u64; 10_000].into_boxed_slice());
        let shared = Arc::new(AtomicPtr::new(numbers.cast::<u64>()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || Pointer(other.load(Acquire).wrapping_add(9_000)).read());
        // SAFETY: there is none, which is to be found.
        drop(unsafe { Box::from_raw(numbers) });
        thread.join().expect("it ends");
    });
    assert_eq!(found, Some(ViolationKind::UseAfterFree));
}

/// One reader and one hazard pointer.
struct Domain {
    head: AtomicPtr<usize>,
    hazard: AtomicPtr<usize>,
}

#[test]
fn hazard_pointers_keep_a_block_that_is_read() {
    let model = |checks_again: bool| {
        move || {
            let head = AtomicPtr::new(Pointer::new(1).0);
            let domain = Arc::new(Domain { head, hazard: AtomicPtr::new(ptr::null_mut()) });
            let other = Arc::clone(&domain);
            let thread = thread::spawn(move || {
                let block = Pointer(other.head.load(SeqCst));
                other.hazard.store(block.0, SeqCst);
                if !checks_again || other.head.load(SeqCst) == block.0 {
                    assert_ne!(block.read(), 0);
                }
                other.hazard.store(ptr::null_mut(), Release);
            });
            let old = Pointer(domain.head.swap(Pointer::new(2).0, SeqCst));
            if domain.hazard.load(SeqCst) != old.0 {
                old.free();
            }
            thread.join().expect("it ends");
        }
    };
    assert_eq!(kind(model(true)), None);
    assert_eq!(kind(model(false)), Some(ViolationKind::UseAfterFree));
}

/// Where an access is to be shown, the code is left in the middle of it and goes on afterwards.
#[test]
fn what_the_processor_holds_survives_an_access_that_is_recorded() {
    let (_, text) = fault(|| {
        let shared = Arc::new(AtomicPtr::new(Pointer::new([0.5_f64; 8]).0));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let block = other.load(Acquire);
            let weights: [f64; 8] = black_box([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
            let (mut sum, mut count) = (black_box(0.25), black_box(1_u64));
            for (index, weight) in weights.iter().enumerate() {
                // SAFETY: it is freed when this thread has ended.
                sum += weight * unsafe { (*block)[index] };
                count = count.rotate_left(7) ^ index as u64;
            }
            panic!("the sum is {sum} of {count}");
        });
        if shared.load(Acquire).is_null() {
            Pointer(shared.load(Acquire)).free();
        }
        let _ = thread.join();
        Pointer(shared.load(Acquire)).free();
    })
    .expect("the thread panics");
    let count = (0..8).fold(1_u64, |count, index| count.rotate_left(7) ^ index);
    assert!(text.contains(&format!("the sum is 18.25 of {count}")), "{text}");
}

#[test]
fn plain_accesses_may_be_left_unseen() {
    let mut builder = Builder::new();
    builder.plain_accesses = PlainAccesses::Never;
    let report = builder.explore(|| {
        AtomicUsize::new(0).store(1, Relaxed);
        let block = Pointer::new(5);
        block.free();
        block.read();
    });
    assert_eq!(report.failure, None);
}

/// Two threads read a block and add to a counter six times each; the last one frees the block.
fn last_one_frees() {
    let block = AtomicPtr::new(Box::into_raw(Box::new(5)));
    let shared = Arc::new((block, AtomicUsize::new(2), AtomicUsize::new(0)));
    let run = |(block, users, counter): &(AtomicPtr<i32>, AtomicUsize, AtomicUsize)| {
        let pointer = Pointer(block.load(Relaxed));
        pointer.read();
        (0..6).for_each(|_| _ = counter.fetch_add(1, Relaxed));
        if users.fetch_sub(1, AcqRel) == 1 {
            pointer.free();
        }
    };
    let others = shared.clone();
    let other = thread::spawn(move || run(&others));
    run(&shared);
    other.join().expect("it ends");
}

#[test]
fn sampling_of_plain_accesses_is_a_caveat_of_long_searches() {
    let caveat = |accesses| {
        let mut builder = Builder::new();
        builder.plain_accesses = accesses;
        let report = builder.explore(last_one_frees);
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete() && report.executions > 1_500, "{}", report.executions);
        report.caveats.contains(&Caveat::SampledAccesses)
    };
    assert!(caveat(PlainAccesses::Sampled));
    assert!(!caveat(PlainAccesses::All) && !caveat(PlainAccesses::Never));
}

#[test]
fn the_memory_of_an_arc_is_freed_after_what_is_done_through_other_references() {
    assert_eq!(
        kind(|| {
            let text = Arc::new(String::from("text"));
            let weak = Arc::downgrade(&text);
            thread::spawn(move || drop(weak.upgrade()));
            drop(text);
        }),
        None
    );
    assert_eq!(
        kind(|| {
            let counter = Arc::new(AtomicUsize::new(0));
            let weak = Arc::downgrade(&counter);
            let thread = thread::spawn(move || drop(weak));
            counter.store(1, Relaxed);
            drop(counter);
            thread.join().expect("it ends");
        }),
        None
    );
    // Counts that a thread asks for are in the open.
    assert_eq!(
        kind(|| {
            let text = Arc::new(String::from("text"));
            let other = Arc::clone(&text);
            thread::spawn(move || assert_eq!(other.len(), 4));
            drop(Arc::try_unwrap(text));
        }),
        None
    );
}

#[test]
fn one_reference_less_orders_nothing_that_comes_later() {
    let model = |reads_later| {
        move || {
            let number = Arc::new(5_u64);
            let other = Arc::clone(&number);
            let thread = thread::spawn(move || {
                let pointer = Pointer(Arc::as_ptr(&other).cast_mut());
                pointer.read();
                drop(other);
                if reads_later {
                    pointer.read();
                }
            });
            drop(number);
            thread.join().expect("it ends");
        }
    };
    assert_eq!(kind(model(false)), None);
    assert_eq!(kind(model(true)), Some(ViolationKind::UseAfterFree));
}

/// A count of references, and what it is for.
struct Counted {
    count: AtomicUsize,
    number: u64,
}

#[test]
fn what_is_beside_a_count_of_references_is_looked_at_too() {
    let model = |reads_later| {
        move || {
            let block =
                Pointer(Box::into_raw(Box::new(Counted { count: AtomicUsize::new(2), number: 5 })).cast::<u8>());
            let release = move || {
                let shared = { block }.0.cast::<Counted>();
                // SAFETY: the count says that it is there.
                let (count, number) = unsafe { (&(*shared).count, Pointer(&raw mut (*shared).number)) };
                number.read();
                if count.fetch_sub(1, AcqRel) == 1 {
                    // SAFETY: this was the last reference.
                    drop(unsafe { Box::from_raw(shared) });
                } else if reads_later {
                    number.read();
                }
            };
            thread::spawn(release);
            release();
        }
    };
    assert_eq!(kind(model(false)), None);
    assert_eq!(kind(model(true)), Some(ViolationKind::UseAfterFree));
}

#[test]
fn a_channel_that_grows_moves_no_memory_of_the_model() {
    let found = kind(|| {
        let (sender, receiver) = mpsc::channel();
        (0..4).for_each(|number| sender.send(number).expect("there is a receiver"));
        let receiver = Arc::new(Mutex::new(receiver));
        let own = Arc::clone(&receiver);
        thread::spawn(move || _ = sender.send(4));
        assert_eq!(receiver.lock().expect("nothing panics").recv(), Ok(0));
        drop(own);
    });
    assert_eq!(found, None);
}

#[test]
fn a_waker_is_dropped_by_any_thread() {
    let found = kind(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.0.store(true, Release);
            other.1.wake();
        });
        block_on(poll_fn(|context| {
            shared.1.register_by_ref(context.waker());
            if shared.0.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    assert_eq!(found, None);
}

#[test]
fn a_model_that_makes_backtraces_is_told() {
    let (kind, text) = fault(|| {
        let text = std::backtrace::Backtrace::force_capture().to_string();
        AtomicUsize::new(0).store(1, Relaxed);
        assert!(text.is_empty(), "it has frames");
    })
    .expect("there are frames");
    assert_eq!(kind, ViolationKind::Panic);
    assert!(text.contains("it has frames"), "{text}");
}

#[test]
fn the_counts_of_an_arc_of_std_order_its_end() {
    let model = |is_counted: bool| {
        move || {
            let text = std::sync::Arc::new((AtomicUsize::new(0), String::from("text")));
            let other = std::sync::Arc::clone(&text);
            thread::spawn(move || {
                other.0.fetch_add(1, Relaxed);
                assert_eq!(other.1.len(), 4);
                if !is_counted {
                    // SAFETY: there is none, which is to be found.
                    unsafe { std::sync::Arc::decrement_strong_count(std::sync::Arc::as_ptr(&other)) };
                    assert_eq!(black_box(&other).1.len(), 4);
                    std::mem::forget(other);
                }
            });
            assert_eq!(text.1.as_str(), "text");
        }
    };
    assert_eq!(kind(model(true)), None);
    assert_eq!(kind(model(false)), Some(ViolationKind::UseAfterFree));
}
