//! Memory of a model: what is freed, what is used afterwards, and what is left.

#![allow(unsafe_code, reason = "what is tested is unsafe code")]

mod common;

use teetotal_live::alloc::Checked;
use teetotal_live::sync::Arc;
use teetotal_live::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal_live::sync::atomic::{AtomicPtr, AtomicUsize};
use teetotal_live::{Complaint, FaultKind, Ledger, Setup, thread};
use teetotal_memory::models::Sc;
use teetotal_program::{Op, Status, ThreadId};

use crate::common::Run;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// A cell that one thread frees and another one uses.
struct Shared(AtomicPtr<AtomicUsize>);

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Shared(AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(0))))))
    }

    fn cell(&self) -> *mut AtomicUsize {
        self.0.load(Acquire)
    }
}

/// A model in which a thread uses the cell, and the first one frees it once it has joined that or before.
fn free_and_use(joins_first: bool) -> Run<Sc> {
    Run::of(move || {
        let shared = Shared::new();
        let other = Arc::clone(&shared);
        // SAFETY: it is not, if the block is freed before; that is to be found.
        let child = thread::spawn(move || unsafe { (*other.cell()).store(1, Relaxed) });
        let mut child = Some(child);
        if joins_first && let Some(child) = child.take() {
            child.join().expect("it does not panic");
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(shared.cell()) });
        drop(child);
    })
}

/// What goes wrong with this thread.
fn fault(run: &Run<Sc>, thread: u16) -> Option<FaultKind> {
    match run.live.complaint(ThreadId(thread))? {
        Complaint::Memory(fault) => Some(fault.kind),
        _ => None,
    }
}

#[test]
fn a_block_that_is_freed_after_its_last_use_is_no_fault() {
    let mut run = free_and_use(true);
    run.finish();
    assert_eq!((run.status(0), run.status(1)), (Status::Finished, Status::Finished));
}

#[test]
fn a_block_that_is_freed_first_is_used_after_its_free() {
    let mut run = free_and_use(false);
    for _ in 0..20 {
        if run.status(0) == Status::Finished || run.enabled().iter().all(|step| step.thread() != ThreadId(0)) {
            break;
        }
        run.issue(0);
    }
    run.finish();
    let faults = [fault(&run, 0), fault(&run, 1)];
    assert!(faults.iter().any(Option::is_some), "{faults:?}");
}

#[test]
fn a_block_that_is_freed_twice_is_a_fault() {
    let mut run = Run::<Sc>::of(|| {
        let shared = Shared::new();
        // SAFETY: it is not; that is to be found.
        unsafe {
            drop(Box::from_raw(shared.cell()));
            drop(Box::from_raw(shared.cell()));
        }
    });
    run.finish();
    assert!(matches!(run.status(0), Status::Failed(_)), "{:?}", run.status(0));
    assert!(fault(&run, 0).is_some());
}

#[test]
fn what_others_may_know_of_and_is_left_is_a_leak() {
    let leaks = |frees: bool| {
        let setup = Setup { leaks: true, ..Setup::default() };
        let mut run = Run::<Sc>::with(&Ledger::default(), setup, move || {
            let head = AtomicPtr::new(std::ptr::null_mut());
            head.store(Box::into_raw(Box::new(AtomicUsize::new(0))), Release);
            if frees {
                // SAFETY: nothing else uses it.
                drop(unsafe { Box::from_raw(head.load(Acquire)) });
            }
        });
        run.finish();
        run.live.leaks().len()
    };
    assert_eq!(leaks(true), 0);
    assert_eq!(leaks(false), 1);
}

/// A thread that frees a block which others may know of and allocates one of the same size.
fn free_and_allocate(reuse: usize) -> Run<Sc> {
    let setup = Setup { reuse, ..Setup::default() };
    Run::with(&Ledger::default(), setup, || {
        let head = AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(0))));
        let old = head.load(Acquire);
        head.store(std::ptr::null_mut(), Release);
        // SAFETY: no other thread uses it.
        drop(unsafe { Box::from_raw(old) });
        let new = Box::into_raw(Box::new(AtomicUsize::new(1)));
        head.store(new, Release);
        let is_same = AtomicUsize::new(usize::from(new == old));
        assert!(is_same.load(Relaxed) < 2);
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(new) });
    })
}

/// Whether a choice is offered, and what the last operation read if it takes its last alternative.
fn choose_last(mut run: Run<Sc>) -> (bool, Option<u64>) {
    let mut is_offered = false;
    while let Status::Ready(op) = run.status(0) {
        let alternative = match op {
            Op::Choose { alternatives } => {
                is_offered = true;
                alternatives - 1
            }
            _ => 0,
        };
        run.take(0, alternative);
    }
    assert_eq!(run.status(0), Status::Finished);
    (is_offered, run.trace.events().last().and_then(|event| event.read))
}

#[test]
fn a_freed_block_is_given_out_again_only_where_the_search_says_so() {
    assert_eq!(choose_last(free_and_allocate(0)), (false, Some(0)));
    assert_eq!(choose_last(free_and_allocate(1)), (true, Some(1)));
}
