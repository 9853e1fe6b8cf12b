//! Loops that only wait: their iterations are failed awaits, however they are written and compiled.
//!
//! The first iterations may differ in slots of the stack that are written then and not used any more: without
//! optimization there may be two of them, otherwise one.

#![allow(clippy::unwrap_used, reason = "no thread panics")]

mod common;

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use common::{MODELS, explore};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};
use teetotal::{hint, thread};

/// Held by the test that runs: other OS threads that change statics may let the search begin anew.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// So many iterations before a failed await are unrolled at most; `TEETOTAL_TEST_UNROLLED` tells if it should be fewer.
fn most_unrolled() -> u64 {
    let most = if cfg!(debug_assertions) { 2 } else { 1 };
    std::env::var("TEETOTAL_TEST_UNROLLED").map_or(most, |text| text.parse().expect("the variable holds a number"))
}

/// What the loop waits for, and what it may read besides.
#[derive(Default)]
struct Flags {
    is_set: AtomicBool,
    count: AtomicUsize,
}

/// How many executions a loop has that waits for the first flag, each time that it is searched.
fn executions(wait: fn(&Flags)) -> Vec<u64> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let models = MODELS.into_iter().flat_map(|model| std::iter::repeat_n(model, 100));
    let search = |model| {
        let report = explore(model, move || {
            let flags = Arc::new(Flags::default());
            let other = flags.clone();
            thread::spawn(move || other.is_set.store(true, Release));
            wait(&flags);
        });
        assert_eq!(report.failure, None, "under {model:?}");
        assert!(report.coverage.is_complete(), "{:?} under {model:?}", report.coverage);
        report.executions
    };
    models.map(search).collect()
}

/// The loop has one execution for each number of iterations that are unrolled, whatever was on the stack before.
fn waits(wait: fn(&Flags)) {
    let all = executions(wait);
    assert!(all[0] <= 1 + most_unrolled(), "{all:?}");
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
}

/// The loop has few executions. How many depends on the addresses that it is given on the heap.
fn waits_with_allocations(wait: fn(&Flags)) {
    let all = executions(wait);
    assert!(all.iter().all(|one| *one < 20), "{all:?}");
}

#[test]
fn a_loop_on_one_location() {
    waits(|flags| while !flags.is_set.load(Acquire) {});
    waits(|flags| {
        while !flags.is_set.load(Acquire) {
            hint::spin_loop();
        }
    });
}

#[test]
fn a_loop_on_two_locations() {
    waits(|flags| while !flags.is_set.load(Acquire) || flags.count.load(Relaxed) > 0 {});
    waits(|flags| while flags.count.load(Relaxed) > 0 || !flags.is_set.load(Acquire) {});
}

#[test]
fn a_loop_that_exchanges() {
    waits(|flags| while flags.is_set.compare_exchange(true, false, AcqRel, Relaxed).is_err() {});
}

#[test]
fn a_loop_that_swaps() {
    waits(|flags| while !flags.is_set.fetch_or(false, SeqCst) {});
}

#[test]
fn a_loop_that_matches() {
    waits(|flags| {
        let found = loop {
            match (flags.is_set.load(Acquire), flags.count.load(Relaxed)) {
                (true, count) => break count,
                (false, 0) => hint::spin_loop(),
                (false, _) => thread::yield_now(),
            }
        };
        assert_eq!(found, 0);
    });
}

#[test]
fn a_loop_of_an_iterator() {
    waits(|flags| {
        let found = std::iter::repeat_with(|| flags.is_set.load(Acquire)).find(|is_set| *is_set);
        assert_eq!(found, Some(true));
    });
}

#[test]
fn a_loop_that_calls_a_function() {
    #[inline(never)]
    fn is_set(flags: &Flags) -> bool {
        let values = black_box([1, 2, 3]);
        values.len() == 3 && flags.is_set.load(Acquire)
    }
    waits(|flags| while !is_set(flags) {});
}

#[test]
fn a_loop_that_allocates() {
    waits_with_allocations(|flags| {
        while !flags.is_set.load(Acquire) {
            let mut list = Vec::with_capacity(2);
            list.push(black_box(1));
            drop(black_box(list));
        }
    });
}

#[test]
fn a_loop_that_allocates_while_it_reads() {
    waits_with_allocations(|flags| {
        loop {
            let list = black_box(vec![1, 2, 3]);
            let is_set = flags.is_set.load(Acquire);
            if is_set && list.len() == 3 {
                break;
            }
        }
    });
}

#[test]
fn a_loop_behind_a_trait() {
    waits(|flags| {
        let is_set: Box<dyn Fn() -> bool + '_> = Box::new(|| flags.is_set.load(Acquire));
        while !is_set() {}
    });
}

#[test]
fn a_loop_in_a_loop() {
    waits(|flags| {
        while !flags.is_set.load(Acquire) {
            while flags.count.load(Relaxed) > 0 {
                hint::spin_loop();
            }
        }
    });
}
