//! Michael and Scott's queue with two locks, one for each end: a producer and a consumer.
//!
//! [M. M. Michael, M. L. Scott, 1996]
//!
//! The two hold different locks, so that the link alone publishes a node.

use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || queue(Release) },
    Case { variant: "links without release", verdicts: everywhere("data race"), run: || queue(Relaxed) },
];

/// Node 0 is there from the beginning; the link of the last node is 0.
struct Queue {
    head: Mutex<usize>,
    tail: Mutex<usize>,
    next: [AtomicUsize; 3],
    values: [Shared<usize>; 3],
}

fn queue(link: Ordering) {
    let (next, values) = ([const { AtomicUsize::new(0) }; 3], [0; 3].map(Shared::new));
    both(Queue { head: Mutex::new(0), tail: Mutex::new(0), next, values }, move |queue, me| {
        let mut last = 0;
        for node in 1..=2 {
            if me == 1 {
                queue.values[node].set(node);
                let mut tail = queue.tail.lock().expect("nobody panics");
                queue.next[*tail].store(node, link);
                *tail = node;
                continue;
            }
            let mut head = queue.head.lock().expect("nobody panics");
            let next = queue.next[*head].load(Acquire);
            if next != 0 {
                *head = next;
                drop(head);
                assert_eq!(queue.values[next].get(), last + 1, "out of order");
                last += 1;
            }
        }
    });
}
