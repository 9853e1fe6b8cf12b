//! Treiber's stack whose nodes are freed: two threads pop, and one of them pushes too.
//!
//! [R. K. Treiber, 1986]
//!
//! Who pops a node cannot know whether another thread still reads it, so that it must not be freed at once.

use std::ptr;

use teetotal::sync::atomic::AtomicPtr;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "freed at the end", verdicts: HOLDS, run: || pops(Later, AcqRel) },
    Case { variant: "all nodes taken at once", verdicts: HOLDS, run: takes },
    Case { variant: "freed at once", verdicts: everywhere("use after free"), run: || pops(AtOnce, AcqRel) },
    Case { variant: "pushed without release", verdicts: everywhere("data race"), run: || pops(Later, Relaxed) },
    Case { variant: "popped by a store", verdicts: everywhere("double free"), run: takes_with_a_store },
];

#[derive(Clone, Copy, PartialEq)]
enum Free {
    AtOnce,
    Later,
}

use Free::{AtOnce, Later};

struct Node {
    value: Shared<usize>,
    next: AtomicPtr<Node>,
}

struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: usize, order: Ordering) {
        let new = Box::into_raw(Box::new(Node { value: Shared::new(value), next: AtomicPtr::new(ptr::null_mut()) }));
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: no other thread knows the node.
            unsafe { (*new).next.store(head, Relaxed) };
            match self.head.compare_exchange(head, new, order, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Pops a node, which is the caller's.
    fn pop(&self) -> *mut Node {
        loop {
            let head = self.head.load(Acquire);
            if head.is_null() {
                return head;
            }
            // SAFETY: it is not freed, if nodes are freed at the end.
            let next = unsafe { (*head).next.load(Relaxed) };
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return head;
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        loop {
            let node = self.pop();
            if node.is_null() {
                return;
            }
            free(node);
        }
    }
}

/// Frees a node that was popped; returns its value.
fn free(node: *mut Node) -> usize {
    // SAFETY: who has popped it owns it, whatever others do with it.
    unsafe { Box::from_raw(node) }.value.get()
}

/// One thread pops and pushes, the other pops.
fn pops(when: Free, order: Ordering) {
    let stack = Stack { head: AtomicPtr::new(ptr::null_mut()) };
    stack.push(1, AcqRel);
    let garbage = [const { AtomicPtr::new(ptr::null_mut()) }; 2];
    let shared = both((stack, garbage), move |(stack, garbage), me| {
        let node = stack.pop();
        if !node.is_null() && when == AtOnce {
            free(node);
        } else {
            garbage[me].store(node, Relaxed);
        }
        if me == 1 {
            stack.push(2, order);
        }
    });
    for node in &shared.1 {
        let node = node.load(Relaxed);
        if !node.is_null() {
            free(node);
        }
    }
}

/// Two threads take all there is, so that no node is known to both.
fn takes() {
    let stack = Stack { head: AtomicPtr::new(ptr::null_mut()) };
    both(stack, |stack, me| {
        stack.push(me, AcqRel);
        let mut node = stack.head.swap(ptr::null_mut(), AcqRel);
        while !node.is_null() {
            // SAFETY: it was taken.
            let next = unsafe { (*node).next.load(Relaxed) };
            free(node);
            node = next;
        }
    });
}

/// Two threads take the only node, and nothing keeps both from doing so.
fn takes_with_a_store() {
    let node = Box::into_raw(Box::new(1_usize));
    both(AtomicPtr::new(node), |head, _| {
        let node = head.load(Acquire);
        if !node.is_null() {
            head.store(ptr::null_mut(), Relaxed);
            // SAFETY: there is none, which is to be found.
            drop(unsafe { Box::from_raw(node) });
        }
    });
}
