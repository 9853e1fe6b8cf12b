//! Treiber's stack: two threads push while a third takes everything off.
//!
//! [R. K. Treiber, 1986]
//!
//! The compare-exchange on the head publishes the node, and must release it.

use std::ptr;

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicPtr;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::thread;

use super::{Case, HOLDS, Shared, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || pushes(Release) },
    Case { variant: "pushes without release", verdicts: everywhere("data race"), run: || pushes(Relaxed) },
];

struct Node {
    value: Shared<usize>,
    next: *mut Node,
}

struct Stack {
    head: AtomicPtr<Node>,
}

// SAFETY: nodes are owned by the stack, or by who took them off.
unsafe impl Send for Stack {}
// SAFETY: the same.
unsafe impl Sync for Stack {}

impl Stack {
    fn push(&self, value: usize, order: Ordering) {
        let node = Box::into_raw(Box::new(Node { value: Shared::new(0), next: ptr::null_mut() }));
        // SAFETY: nobody else has it yet.
        unsafe { (*node).value.set(value) };
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: nobody else has it yet.
            unsafe { (*node).next = head };
            match self.head.compare_exchange(head, node, order, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes everything off, newest first.
    fn take_all(&self) -> Vec<usize> {
        let mut node = self.head.swap(ptr::null_mut(), Acquire);
        let mut values = Vec::new();
        while !node.is_null() {
            // SAFETY: whoever took the head owns the nodes.
            let taken = unsafe { Box::from_raw(node) };
            values.push(taken.value.get());
            node = taken.next;
        }
        values
    }
}

fn pushes(order: Ordering) {
    let stack = Arc::new(Stack { head: AtomicPtr::new(ptr::null_mut()) });
    let threads: Vec<_> = (1..=2)
        .map(|value| {
            let stack = Arc::clone(&stack);
            thread::spawn(move || stack.push(value, order))
        })
        .collect();
    let mut values = stack.take_all();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    values.extend(stack.take_all());
    values.sort_unstable();
    assert_eq!(values, [1, 2]);
}
