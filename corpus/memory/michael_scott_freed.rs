//! Michael and Scott's queue whose nodes are used again, without and with counted pointers.
//!
//! [M. M. Michael, M. L. Scott, 1996]
//!
//! A pointer is compared with one that was read before. With a count that every exchange increases, one that is equal was
//! not changed meanwhile. The count says nothing of the memory behind a pointer: nodes that are freed may be read after
//! that, so that they must stay nodes. Here they go to a list of free nodes, or to the allocator.

use std::ptr;

use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "counted pointers", verdicts: HOLDS, run: || recycle(1) },
    Case { variant: "no counts", verdicts: everywhere("main panicked: an element is lost"), run: || recycle(0) },
    Case { variant: "freed at the end", verdicts: HOLDS, run: || queue(false) },
    Case { variant: "freed at once", verdicts: everywhere("use after free"), run: || queue(true) },
    Case { variant: "tail lags behind", verdicts: everywhere("use after free"), run: tail_lags },
];

struct Node {
    value: Shared<usize>,
    next: AtomicPtr<Node>,
}

fn node(value: usize) -> *mut Node {
    Box::into_raw(Box::new(Node { value: Shared::new(value), next: AtomicPtr::new(ptr::null_mut()) }))
}

/// The node at the head is the one that was taken last.
struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
    garbage: [AtomicPtr<Node>; 2],
}

impl Queue {
    fn new() -> Self {
        let first = node(0);
        let garbage = [const { AtomicPtr::new(ptr::null_mut()) }; 2];
        Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first), garbage }
    }

    fn add(&self, value: usize) {
        let new = node(value);
        loop {
            let last = self.tail.load(Acquire);
            // SAFETY: it is not freed, if nodes are freed at the end.
            let link = unsafe { &(*last).next };
            let next = link.load(Acquire);
            if !next.is_null() {
                let _ = self.tail.compare_exchange(last, next, AcqRel, Relaxed);
            } else if link.compare_exchange(ptr::null_mut(), new, AcqRel, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(last, new, AcqRel, Relaxed);
                return;
            }
        }
    }

    /// Takes a value and returns it with the node before it, which nothing leads to any more.
    fn take(&self) -> Option<(usize, *mut Node)> {
        loop {
            let first = self.head.load(Acquire);
            let last = self.tail.load(Acquire);
            // SAFETY: as in `add`.
            let next = unsafe { (*first).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            if first == last {
                let _ = self.tail.compare_exchange(last, next, AcqRel, Relaxed);
            } else if self.head.compare_exchange(first, next, AcqRel, Relaxed).is_ok() {
                // SAFETY: as in `add`.
                return Some((unsafe { (*next).value.get() }, first));
            }
        }
    }
}

fn free(node: *mut Node) {
    // SAFETY: nothing leads to it, whatever threads still hold it.
    drop(unsafe { Box::from_raw(node) });
}

impl Drop for Queue {
    fn drop(&mut self) {
        while let Some((_, node)) = self.take() {
            free(node);
        }
        free(self.head.load(Relaxed));
        self.garbage.iter().map(|node| node.load(Relaxed)).filter(|node| !node.is_null()).for_each(free);
    }
}

/// Each of two threads takes an element, and one of them adds one before.
fn queue(frees_at_once: bool) {
    let queue = Queue::new();
    queue.add(1);
    both(queue, move |queue, me| {
        if me == 1 {
            queue.add(2);
        }
        if let Some((value, node)) = queue.take() {
            assert!(value == 1 || value == 2);
            if frees_at_once { free(node) } else { queue.garbage[me].store(node, Relaxed) }
        }
    });
}

/// Who takes does not look at the tail, so that the tail may stand at a node that is freed.
fn tail_lags() {
    let queue = Queue::new();
    both(queue, |queue, me| {
        if me == 1 {
            queue.add(1);
            return;
        }
        let first = queue.head.load(Acquire);
        // SAFETY: only this thread frees.
        let next = unsafe { (*first).next.load(Acquire) };
        if !next.is_null() {
            queue.head.store(next, Release);
            free(first);
            queue.add(2);
        }
    });
}

/// How many nodes there are whose pointers are counted.
const NODES: usize = 3;

/// A stack of numbered nodes as the list of free nodes has them: a pointer is a number and a count above it.
struct Recycled {
    head: AtomicUsize,
    next: [AtomicUsize; NODES + 1],
    step: usize,
}

impl Recycled {
    fn pop(&self) -> usize {
        loop {
            let head = self.head.load(Acquire);
            if head & 7 == 0 {
                return 0;
            }
            let next = self.next[head & 7].load(Relaxed);
            let new = next | ((head >> 3) + self.step) << 3;
            if self.head.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                return head & 7;
            }
        }
    }

    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(Relaxed);
            self.next[node].store(head & 7, Relaxed);
            let new = node | ((head >> 3) + self.step) << 3;
            if self.head.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }
}

/// The free list of the queue: one thread takes a node, the other takes two and puts the first back.
fn recycle(step: usize) {
    let next = [0, 2, 3, 0].map(AtomicUsize::new);
    let list = Recycled { head: AtomicUsize::new(1), next, step };
    let owned = [const { AtomicUsize::new(0) }; 2];
    let shared = both((list, owned), |(list, owned), me| {
        let first = list.pop();
        if me == 0 {
            owned[0].store(first, Relaxed);
            return;
        }
        owned[1].store(list.pop(), Relaxed);
        if first != 0 {
            list.push(first);
        }
    });
    let (list, owned) = &*shared;
    let mut found: Vec<usize> = owned.iter().map(|node| node.load(Relaxed)).filter(|&node| node != 0).collect();
    loop {
        match list.pop() {
            0 => break,
            node => found.push(node),
        }
        assert!(found.len() <= NODES, "an element is lost");
    }
    found.sort_unstable();
    assert!(found == [1, 2, 3], "an element is lost");
}
