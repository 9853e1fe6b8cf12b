//! Michael and Scott's queue without locks: each of two threads adds an element and takes one.
//!
//! [M. M. Michael, M. L. Scott, 1996]
//!
//! Nodes are numbers, so that nobody has to free them; the link of a node publishes the next one.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || queue(AcqRel) },
    Case { variant: "links without release", verdicts: everywhere("data race"), run: || queue(Relaxed) },
];

/// Node 1 is there from the beginning, and 0 is none.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    next: [AtomicUsize; 4],
    values: [Shared<usize>; 4],
    taken: AtomicUsize,
}

fn queue(link: Ordering) {
    let (next, values) = ([const { AtomicUsize::new(0) }; 4], [0; 4].map(Shared::new));
    let (head, tail, taken) = (AtomicUsize::new(1), AtomicUsize::new(1), AtomicUsize::new(0));
    let queue = both(Queue { head, tail, next, values, taken }, move |queue, me| {
        queue.add(me + 2, link);
        queue.taken.fetch_add(queue.take(), Relaxed);
    });
    assert_eq!(queue.taken.load(Relaxed), 2 + 3);
}

impl Queue {
    fn add(&self, node: usize, link: Ordering) {
        self.values[node].set(node);
        loop {
            let last = self.tail.load(Acquire);
            let next = self.next[last].load(Acquire);
            if next != 0 {
                let _ = self.tail.compare_exchange(last, next, link, Relaxed);
            } else if self.next[last].compare_exchange(0, node, link, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(last, node, link, Relaxed);
                return;
            }
        }
    }

    fn take(&self) -> usize {
        loop {
            let first = self.head.load(Acquire);
            let last = self.tail.load(Acquire);
            let next = self.next[first].load(Acquire);
            if next == 0 {
                return 0;
            }
            if first == last {
                let _ = self.tail.compare_exchange(last, next, AcqRel, Relaxed);
            } else if self.head.compare_exchange(first, next, AcqRel, Relaxed).is_ok() {
                return self.values[next].get();
            }
        }
    }
}
