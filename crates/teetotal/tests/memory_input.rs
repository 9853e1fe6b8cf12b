//! The checked allocator and what code does with memory: nothing of it breaks a right model, or goes unsaid.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

mod common;

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::cell::RefCell;
use std::hint;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Mutex as Real;

use teetotal::alloc::Checked;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Backend, Builder, Caveat, Report, ViolationKind};
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize};
use teetotal::sync::{Arc, Mutex};
use teetotal::{Coverage, StopReason, thread};

#[global_allocator]
static ALLOCATOR: Checked = Checked;

#[track_caller]
fn holds_with(builder: &Builder, model: impl Fn() + Send + Sync + 'static) -> Report {
    let report = builder.explore(model);
    assert!(report.failure.is_none(), "{}", report.failure.map(|violation| violation.to_string()).unwrap_or_default());
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    assert_eq!(report.discarded, 0);
    report
}

#[track_caller]
fn assert_holds(model: impl Fn() + Send + Sync + 'static) {
    holds_with(&Builder::new(), model);
}

fn kind(model: impl Fn() + Send + Sync + 'static) -> Option<ViolationKind> {
    Builder::new().explore(model).failure.map(|violation| violation.kind)
}

/// Runs `f` in one thread beside another, and has more than one execution.
fn beside<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let x = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&x);
    let thread = thread::spawn(move || {
        x.store(1, Release);
        let result = f();
        x.store(2, Release);
        result
    });
    let _ = other.load(Acquire);
    thread.join().expect("it ends")
}

#[test]
fn what_is_forgotten_is_left_alone() {
    assert_holds(|| {
        beside(|| {
            mem::forget(Box::new(AtomicUsize::new(7)));
            let kept = ManuallyDrop::new(vec![1, 2, 3]);
            assert_eq!(*kept, [1, 2, 3]);
            Box::leak(Box::new(5_usize));
        });
    });
}

#[test]
fn a_manual_drop_frees_once() {
    assert_holds(|| {
        beside(|| {
            let mut kept = ManuallyDrop::new(Box::new(AtomicUsize::new(7)));
            kept.store(8, Relaxed);
            // SAFETY: it is not used any more.
            unsafe { ManuallyDrop::drop(&mut kept) };
        });
    });
    let twice = || {
        let mut kept = ManuallyDrop::new(Box::new(AtomicUsize::new(7)));
        kept.store(8, Relaxed);
        // SAFETY: there is none, which is to be found.
        unsafe {
            ManuallyDrop::drop(&mut kept);
            ManuallyDrop::drop(&mut kept);
        }
    };
    assert!(matches!(kind(twice), Some(ViolationKind::UseAfterFree | ViolationKind::DoubleFree)), "{:?}", kind(twice));
}

#[test]
fn a_raw_box_is_freed_in_another_thread() {
    assert_holds(|| {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<AtomicUsize>()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let taken = other.swap(ptr::null_mut(), AcqRel);
            if !taken.is_null() {
                // SAFETY: it was taken out.
                assert_eq!(unsafe { Box::from_raw(taken) }.load(Relaxed), 3);
            }
        });
        shared.store(Box::into_raw(Box::new(AtomicUsize::new(3))), Release);
        let taken = shared.swap(ptr::null_mut(), AcqRel);
        if !taken.is_null() {
            // SAFETY: the same.
            drop(unsafe { Box::from_raw(taken) });
        }
        thread.join().expect("it ends");
    });
}

#[test]
fn blocks_are_aligned_as_asked_for() {
    for align in [1, 64, 4096, 1 << 20, 1 << 28] {
        assert_holds(move || {
            beside(move || {
                let layout = Layout::from_size_align(24, align).expect("it is a power of two");
                // SAFETY: the layout has a size, and what is written is within it.
                unsafe {
                    let blocks = [alloc(layout), alloc_zeroed(layout)];
                    for block in blocks {
                        assert!(!block.is_null() && (block as usize).is_multiple_of(align));
                    }
                    assert_eq!(*blocks[1].add(23), 0);
                    blocks[0].write_bytes(7, 24);
                    let grown = realloc(blocks[0], layout, 5000);
                    assert!((grown as usize).is_multiple_of(align) && *grown.add(23) == 7);
                    dealloc(grown, Layout::from_size_align(5000, align).expect("it is a power of two"));
                    dealloc(blocks[1], layout);
                }
            });
        });
    }
}

#[test]
fn values_without_a_size_need_no_memory() {
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {}
    }
    assert_holds(|| {
        beside(|| {
            let boxed: Box<dyn Send> = Box::new(Nothing);
            let many: Vec<Nothing> = (0..1000).map(|_| Nothing).collect();
            let shared = Arc::new(Nothing);
            drop((boxed, many, Arc::clone(&shared)));
        });
    });
}

#[test]
fn vectors_grow_and_shrink() {
    assert_holds(|| {
        let list = beside(|| {
            let mut list: Vec<usize> = (0..200).collect();
            list.truncate(10);
            list.shrink_to_fit();
            list.extend(10..50);
            list
        });
        assert!(list.iter().copied().eq(0..50));
        assert_eq!(list.into_boxed_slice().len(), 50);
    });
}

/// A vector grows while another thread may hold a pointer into it.
fn grow(waits: bool) -> Option<ViolationKind> {
    kind(move || {
        let mut list = vec![AtomicUsize::new(1)];
        list.shrink_to_fit();
        let shared = Arc::new(AtomicPtr::new(list.as_mut_ptr()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let first = other.load(Acquire);
            // SAFETY: there is one only if the vector grows later, which is to be found.
            assert_eq!(unsafe { (*first).load(Relaxed) }, 1);
        });
        let thread = if waits {
            thread.join().expect("it ends");
            None
        } else {
            Some(thread)
        };
        list.push(AtomicUsize::new(2));
        thread.into_iter().for_each(|thread| thread.join().expect("it ends"));
    })
}

#[test]
fn a_vector_that_grows_frees_what_another_thread_reads() {
    assert_eq!(grow(false), Some(ViolationKind::UseAfterFree));
    assert_eq!(grow(true), None);
}

#[test]
fn memory_of_c_is_not_the_models() {
    unsafe extern "C" {
        fn malloc(size: usize) -> *mut u8;
        fn calloc(n: usize, size: usize) -> *mut u8;
        fn free(block: *mut u8);
    }
    assert_holds(|| {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<AtomicUsize>()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let cell = other.load(Acquire);
            // SAFETY: it is freed after this thread has ended.
            cell.is_null() || unsafe { (*cell).load(Relaxed) } == 7
        });
        // SAFETY: the memory is large enough, and is freed once.
        unsafe {
            let cell = malloc(size_of::<AtomicUsize>()).cast::<AtomicUsize>();
            cell.write(AtomicUsize::new(7));
            shared.store(cell, Release);
            assert!(thread.join().expect("it ends"));
            free(cell.cast());
            let zeros = calloc(4, 8);
            assert_eq!(*zeros.add(31), 0);
            free(zeros);
        }
    });
}

#[test]
fn what_was_allocated_outside_is_freed_inside() {
    let outside: Vec<Box<usize>> = (0..1000).map(Box::new).collect();
    let (outside, text) = (std::sync::Arc::new(Real::new(outside)), std::sync::Arc::new(String::from("text")));
    let captured = std::sync::Arc::clone(&outside);
    assert_holds(move || {
        let (captured, text) = (std::sync::Arc::clone(&captured), std::sync::Arc::clone(&text));
        beside(move || {
            let taken = captured.lock().expect("it is not poisoned").pop();
            assert!(taken.is_some() && *text == "text");
            // What grows stays outside too.
            captured.lock().expect("it is not poisoned").reserve(2000);
        });
    });
    let outside = outside.lock().expect("it is not poisoned");
    assert!(outside.iter().enumerate().all(|(index, value)| **value == index));
}

#[test]
fn what_was_allocated_inside_is_freed_outside() {
    static KEPT: Real<Vec<String>> = Real::new(Vec::new());
    let (sender, receiver) = std::sync::mpsc::channel::<Box<usize>>();
    assert_holds(move || {
        let sender = sender.clone();
        let payload = beside(move || {
            KEPT.lock().expect("it is not poisoned").push("x".repeat(100));
            sender.send(Box::new(17)).expect("there is a receiver");
            Box::new(23)
        });
        assert_eq!(*payload, 23);
    });
    let received: Vec<Box<usize>> = receiver.into_iter().collect();
    assert!(received.len() > 1 && received.iter().all(|value| **value == 17));
    let kept = mem::take(&mut *KEPT.lock().expect("it is not poisoned"));
    assert!(kept.len() == received.len() && kept.iter().all(|text| *text == "x".repeat(100)));
    drop((received, kept));
    // Another model may have the memory now.
    assert_holds(|| {
        beside(|| assert_eq!(vec![1_u8; 100].len(), 100));
    });
}

#[test]
fn locals_of_threads_allocate_as_they_end() {
    struct Ends(Box<usize>);
    impl Drop for Ends {
        fn drop(&mut self) {
            let text = format!("{} {}", self.0, "y".repeat(40));
            assert_eq!(text.len(), 42);
        }
    }
    teetotal::thread_local!(static OWN: Ends = Ends(Box::new(1)));
    std::thread_local!(static REAL: Ends = Ends(Box::new(2)));
    for backend in [Backend::Coroutines, Backend::OsThreads] {
        let mut builder = Builder::new();
        builder.backend = backend;
        holds_with(&builder, || {
            beside(|| OWN.with(|own| REAL.with(|real| assert_eq!(*own.0 + *real.0, 3))));
            OWN.with(|own| assert_eq!(*own.0, 1));
        });
    }
}

#[test]
fn panics_allocate() {
    struct Unwinds<'x>(&'x AtomicUsize);
    impl Drop for Unwinds<'_> {
        fn drop(&mut self) {
            let list: Vec<usize> = (0..30).collect();
            self.0.fetch_add(list.len(), Relaxed);
        }
    }
    assert_holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _unwinds = Unwinds(&other);
                panic!("{} {}", "a text".repeat(20), other.load(Relaxed));
            }));
            let payload = caught.expect_err("it panics");
            assert!(payload.downcast_ref::<String>().is_some_and(|text| text.len() > 120));
            // Another thread drops it.
            payload
        });
        x.load(Relaxed);
        let payload = thread.join().expect("it ends");
        let again = catch_unwind(AssertUnwindSafe(|| resume_unwind(payload)));
        assert!(again.is_err());
        assert_eq!(x.load(Relaxed), 30);
    });
}

#[test]
fn a_failure_with_memory_of_its_own_is_told() {
    let report = Builder::new().explore(|| {
        let read = beside(|| Box::new(5));
        assert!(*read == 6, "{} is wrong: {:?}", "z".repeat(50), vec![read; 3]);
    });
    let text = report.failure.expect("it fails").to_string();
    assert!(text.contains("zzz is wrong: [5, 5, 5]"), "{text}");
}

#[test]
fn closures_in_boxes_move_to_other_threads() {
    assert_holds(|| {
        let (list, x) = (vec![1_usize; 20], Arc::new(AtomicUsize::new(0)));
        let own = Arc::clone(&x);
        let work: Vec<Box<dyn FnOnce() -> usize + Send>> = vec![
            Box::new(move || list.iter().sum::<usize>() + own.fetch_add(1, Relaxed)),
            Box::new(move || x.fetch_add(1, Relaxed)),
        ];
        let threads: Vec<_> = work.into_iter().map(|work| thread::spawn(work)).collect();
        let sum: usize = threads.into_iter().map(|thread| thread.join().expect("it ends")).sum();
        assert_eq!(sum, 21);
    });
}

#[test]
fn large_blocks_cost_what_is_touched() {
    for _ in 0..20 {
        let report = holds_with(&Builder::new(), || {
            beside(|| {
                let zeros = vec![0_u8; 700 << 20];
                let mut grown: Vec<u8> = Vec::with_capacity(200 << 20);
                grown.push(3);
                assert!(zeros[600 << 20] == 0 && grown[0] == 3);
                let (mut zeros, untouched) = (zeros, Vec::<u8>::with_capacity(3 << 30));
                zeros[5 << 20] = 1;
                assert!(untouched.is_empty());
            });
        });
        assert!(report.caveats.contains(&Caveat::UncheckedMemory));
    }
}

#[test]
fn a_hundred_threads_allocate() {
    let report = holds_with(&Builder::new(), || {
        let work = |index: usize| move || (Box::new(index), AtomicUsize::new(1).load(Relaxed));
        let threads: Vec<_> = (0..100).map(|index| thread::spawn(work(index))).collect();
        for (index, thread) in threads.into_iter().enumerate() {
            assert_eq!(*thread.join().expect("it ends").0, index);
        }
    });
    assert!(report.caveats.contains(&Caveat::UncheckedMemory));
}

#[test]
fn many_models_run_at_once() {
    // A model is under way as long as an execution of it waits here.
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(70));
    let caveats: Vec<bool> = std::thread::scope(|scope| {
        let spawn = |index: usize| {
            let (barrier, is_first) = (std::sync::Arc::clone(&barrier), std::sync::Once::new());
            scope.spawn(move || {
                let report = holds_with(&Builder::new(), move || {
                    is_first.call_once(|| {
                        barrier.wait();
                    });
                    let list = beside(move || vec![index; 10]);
                    assert_eq!(list, [index; 10]);
                });
                report.caveats.contains(&Caveat::UncheckedMemory)
            })
        };
        let threads: Vec<_> = (0..70).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("it holds")).collect()
    });
    let unchecked = caveats.iter().filter(|is_unchecked| **is_unchecked).count();
    assert!((6..70).contains(&unchecked), "{unchecked}");
}

/// A thread that waits in a loop gives up once `count` says ten; returns whether that happens, and the caveats.
fn gives_up(count: impl Fn() -> usize + Send + Sync + Copy + 'static) -> (bool, Vec<Caveat>) {
    let has_given_up = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&has_given_up);
    let report = holds_with(&Builder::new(), move || {
        count();
        let (flag, seen) = (Arc::new(AtomicUsize::new(0)), std::sync::Arc::clone(&seen));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || {
            count();
            while other.load(Acquire) == 0 {
                if count() >= 10 {
                    return seen.store(true, Relaxed);
                }
                thread::yield_now();
            }
        });
        flag.store(1, Release);
        thread.join().expect("it ends");
    });
    (has_given_up.load(Relaxed), report.caveats)
}

/// A count in a box that the library makes when it is first asked for, and that it does not know.
type Count = Box<std::sync::atomic::AtomicUsize>;

#[test]
fn loops_may_count_in_a_box_of_a_value_of_the_execution() {
    teetotal::lazy_static! {
        static ref LAZY: Count = Count::default();
    }
    teetotal::thread_local!(static LOCAL: Count = Count::default());
    assert_eq!(gives_up(|| LAZY.fetch_add(1, Relaxed)), (true, vec![]));
    assert_eq!(gives_up(|| LOCAL.with(|count| count.fetch_add(1, Relaxed))), (true, vec![]));
}

#[test]
fn loops_that_may_count_in_memory_of_the_system_are_named() {
    teetotal::thread_local!(static LOCAL: Vec<Count> = {
        let mut list = Vec::with_capacity(1 << 28);
        list.push(Count::default());
        list
    });
    let (gives_up, caveats) = gives_up(|| LOCAL.with(|count| count[0].fetch_add(1, Relaxed)));
    let is_named = caveats.iter().any(|caveat| matches!(caveat, Caveat::HeapOfLoop { .. }));
    assert!(gives_up || is_named, "{caveats:?}");
    assert!(caveats.contains(&Caveat::UncheckedMemory), "{caveats:?}");
}

/// A thread frees a block when a flag says that another has read it, with the habits of loom or without.
fn free_when_told(builder: &Builder, told: impl Fn() -> bool + Copy + Send + Sync + 'static, tell: fn()) -> Report {
    builder.explore(move || {
        told();
        let block = Box::into_raw(Box::new(AtomicUsize::new(7)));
        let shared = Arc::new(AtomicPtr::new(block));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let block = other.load(Acquire);
            if told() {
                // SAFETY: the flag says that it is not used any more.
                drop(unsafe { Box::from_raw(block) });
            }
        });
        // SAFETY: the flag is not set yet.
        assert_eq!(unsafe { (*block).load(Relaxed) }, 7);
        tell();
        thread.join().expect("it ends");
    })
}

#[test]
fn with_the_habits_of_loom_what_is_of_the_standard_library_may_order_a_free() {
    static REAL: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    static CHECKED: teetotal::sync::atomic::AtomicBool = teetotal::sync::atomic::AtomicBool::new(false);
    let kind = |report: &Report| report.failure.as_ref().map(|violation| violation.kind);
    let by_real = |builder| free_when_told(&builder, || REAL.swap(false, Relaxed), || REAL.store(true, Relaxed));
    assert_eq!(kind(&by_real(Builder::new())), Some(ViolationKind::UseAfterFree));
    let report = by_real(Builder::like_loom());
    assert_eq!(kind(&report), None, "{:?}", report.failure);
    assert!(report.caveats.iter().any(|caveat| matches!(caveat, Caveat::FreeAfter { .. })), "{:?}", report.caveats);
    // What is of this crate orders it only if it is ordered itself.
    let relaxed = free_when_told(&Builder::like_loom(), || CHECKED.load(Relaxed), || CHECKED.store(true, Relaxed));
    assert_eq!(kind(&relaxed), Some(ViolationKind::UseAfterFree));
    let ordered = free_when_told(&Builder::like_loom(), || CHECKED.load(Acquire), || CHECKED.store(true, Release));
    assert_eq!((kind(&ordered), ordered.caveats), (None, vec![]));
}

#[test]
fn threads_of_the_system_share_the_memory_of_a_model() {
    let mut builder = Builder::new();
    builder.backend = Backend::OsThreads;
    holds_with(&builder, || {
        let list = beside(|| {
            let list: Vec<Box<usize>> = (0..10).map(Box::new).collect();
            list
        });
        assert!(list.iter().enumerate().all(|(index, value)| **value == index));
    });
    let report = builder.explore(|| {
        let cell = Box::into_raw(Box::new(UnsafeCell::new(1)));
        let shared = Arc::new(AtomicPtr::new(cell));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            // SAFETY: there is none, which is to be found.
            unsafe { (*other.load(Acquire)).with(|value| *value) }
        });
        // SAFETY: the same.
        drop(unsafe { Box::from_raw(shared.load(Acquire)) });
        let _ = thread.join();
    });
    assert_eq!(report.failure.map(|violation| violation.kind), Some(ViolationKind::UseAfterFree));
}

#[test]
fn a_search_that_leaks_too_much_ends() {
    let mut builder = Builder::new();
    builder.leave_out_unrepeatable = true;
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let report = builder.explore(move || {
        let cells = Arc::new([const { AtomicUsize::new(0) }; 4]);
        let threads = [(); 3].map(|()| {
            let (cells, count) = (Arc::clone(&cells), std::sync::Arc::clone(&count));
            thread::spawn(move || {
                // Memory that is never touched.
                let large = hint::black_box(Vec::<u8>::with_capacity(400 << 20));
                cells[0].fetch_add(1, Relaxed);
                cells[1].fetch_add(1, Relaxed);
                // It does something else each time, so that executions are left in the middle.
                let turn = count.fetch_add(1, Relaxed);
                for cell in [turn * 7, turn * 5 + 1, turn + 1] {
                    cells[cell % 4].fetch_add(1, Relaxed);
                }
                drop(large);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    });
    assert_eq!(report.failure.map(|violation| violation.to_string()), None);
    assert!(
        matches!(report.coverage, Coverage::Stopped(StopReason::Memory(bytes)) if bytes >= 1 << 30),
        "{:?}",
        report.coverage
    );
    assert!(report.discarded > 0 && report.leaked >= 1 << 30);
}

std::thread_local! {
    /// It outlives executions, as the thread of the system does.
    static OUTLIVES: RefCell<usize> = const { RefCell::new(0) };
}

#[test]
fn a_borrow_that_an_execution_left_behind_is_told() {
    let deadlock = || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            OUTLIVES.with(|cell| {
                let _borrowed = cell.borrow_mut();
                let _both = (other.0.lock(), other.1.lock());
            });
        });
        {
            let _both = (locks.1.lock(), locks.0.lock());
        }
        thread.join().expect("it ends");
    };
    let found = Builder::new().explore(deadlock).failure.expect("it deadlocks");
    assert!(found.contains("a discarded execution may hold this borrow"), "{found}");
}
