//! A work-stealing deque: its owner adds two elements and takes one, a thief tries to steal.
//!
//! [D. Chase, Y. Lev, 2005; N. M. Lê et al., 2013]
//!
//! A release store of the bottom publishes an element to who reads that store, but the thief may read the store of a later
//! take. A release fence before it serves for both.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::fence;

use super::{Case, HOLDS, Shared, both, everywhere, under_buffers};

const TWICE: &str = "main panicked: element 2 was taken twice";

pub(super) const CASES: &[Case] = &[
    Case { variant: "right, one steal", verdicts: HOLDS, run: || deque(Publish::Fence, true, 1) },
    Case { variant: "right, two steals", verdicts: HOLDS, run: || deque(Publish::Fence, true, 2) },
    Case { variant: "release stores", verdicts: everywhere("data race"), run: || deque(Publish::Store, true, 1) },
    Case { variant: "no release", verdicts: everywhere("data race"), run: || deque(Publish::Not, true, 1) },
    Case { variant: "take without a fence", verdicts: under_buffers(TWICE), run: || deque(Publish::Fence, false, 2) },
];

/// How an element is published.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publish {
    Fence,
    Store,
    Not,
}

struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
    elements: [Shared<usize>; 2],
    /// How often each element was taken.
    taken: [AtomicUsize; 2],
}

fn deque(publish: Publish, fenced: bool, steals: usize) {
    let elements = [Shared::new(0), Shared::new(0)];
    let taken = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let deque = Deque { top: AtomicUsize::new(0), bottom: AtomicUsize::new(0), elements, taken };
    let deque = both(deque, move |deque, me| {
        if me == 1 {
            (0..steals).for_each(|_| deque.steal());
            return;
        }
        for element in 0..2 {
            deque.elements[element].set(element + 1);
            if publish == Publish::Fence {
                fence(Release);
            }
            deque.bottom.store(element + 1, if publish == Publish::Store { Release } else { Relaxed });
        }
        deque.take(fenced);
    });
    for (index, taken) in deque.taken.iter().enumerate() {
        assert!(taken.load(Relaxed) <= 1, "element {} was taken twice", index + 1);
    }
}

impl Deque {
    fn steal(&self) {
        let first = self.top.load(Acquire);
        fence(SeqCst);
        if first < self.bottom.load(Acquire) {
            let element = self.elements[first].get();
            if self.top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok() {
                self.taken[element - 1].fetch_add(1, Relaxed);
            }
        }
    }

    fn take(&self, fenced: bool) {
        let last = self.bottom.load(Relaxed) - 1;
        self.bottom.store(last, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        let first = self.top.load(Relaxed);
        let is_mine = first < last || {
            let is_won = first == last && self.top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok();
            self.bottom.store(last + 1, Relaxed);
            is_won
        };
        if is_mine {
            self.taken[self.elements[last].get() - 1].fetch_add(1, Relaxed);
        }
    }
}
