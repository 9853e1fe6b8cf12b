//! A queue that its owner takes from at one end, and a thief at the other.
//!
//! The last element is fought for by a compare-exchange, so that it takes two elements to go wrong: without a fence the
//! owner takes one by an old value of the top while the thief has stolen both.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use teetotal::sync::atomic::fence;

use super::{Case, HOLDS, both, under_buffers};

const TWICE: &str = "main panicked: an element was taken twice";

pub(super) const CASES: &[Case] = &[
    Case { variant: "one element, with fences", verdicts: HOLDS, run: || take(1, true) },
    Case { variant: "one element, without", verdicts: HOLDS, run: || take(1, false) },
    Case { variant: "two elements, with fences", verdicts: HOLDS, run: || take(2, true) },
    Case { variant: "two elements, without", verdicts: under_buffers(TWICE), run: || take(2, false) },
];

fn take(elements: usize, fenced: bool) {
    let order = move || {
        if fenced {
            fence(SeqCst);
        }
    };
    // The next to steal, one past the last, and how many were stolen.
    let queue = (AtomicUsize::new(0), AtomicUsize::new(elements), AtomicUsize::new(0));
    let taken = AtomicUsize::new(0);
    let queue = both((queue, taken), move |((top, bottom, stolen), taken), me| {
        if me == 1 {
            for _ in 0..elements {
                let first = top.load(Acquire);
                order();
                let end = bottom.load(Acquire);
                if first < end && top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok() {
                    stolen.fetch_add(1, Relaxed);
                }
            }
            return;
        }
        let last = bottom.load(Relaxed) - 1;
        bottom.store(last, Relaxed);
        order();
        let first = top.load(Relaxed);
        let is_mine = first < last || {
            let is_won = first == last && top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok();
            bottom.store(last + 1, Relaxed);
            is_won
        };
        taken.fetch_add(usize::from(is_mine), Relaxed);
    });
    let ((_, _, stolen), taken) = &*queue;
    assert!(stolen.load(Relaxed) + taken.load(Relaxed) <= elements, "an element was taken twice");
}
