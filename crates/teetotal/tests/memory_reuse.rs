//! Code that frees nodes and compares pointers does the same each time it is run.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

mod common;

use std::ptr;

use common::{MODELS, executions};
use teetotal::ModelId;
use teetotal::alloc::Checked;
use teetotal::sync::Arc;
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// Boxes that no other thread knows of are in one place, so that a loop which allocates one can be seen to repeat.
#[test]
fn boxes_of_one_thread_are_in_the_same_place() {
    executions(ModelId::Sc, || {
        let cell = AtomicUsize::new(0);
        let places: Vec<usize> = (0..20).map(|n| &raw const *Box::new(n) as usize).collect();
        cell.store(1, Ordering::Relaxed);
        assert!(places.iter().all(|place| *place == places[0]), "{places:x?}");
    });
}

struct Node {
    next: *mut Node,
}

/// A stack whose nodes are freed as soon as they are taken from it; each thread has only its own in mind.
#[derive(Default)]
struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self) {
        let node = Box::into_raw(Box::new(Node { next: ptr::null_mut() }));
        loop {
            let head = self.0.load(Ordering::Acquire);
            // SAFETY: no other thread knows the node yet.
            unsafe { (*node).next = head };
            if self.0.compare_exchange(head, node, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return;
            }
        }
    }

    /// Takes all nodes and frees them.
    fn clear(&self) {
        let mut node = self.0.swap(ptr::null_mut(), Ordering::AcqRel);
        while !node.is_null() {
            // SAFETY: who takes nodes off the stack has them alone.
            node = unsafe { Box::from_raw(node) }.next;
        }
    }
}

#[test]
fn a_stack_that_frees_its_nodes_has_the_same_executions_each_time() {
    for model in MODELS {
        let run = || {
            executions(model, || {
                let stack = Arc::new(Stack::default());
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let stack = Arc::clone(&stack);
                        thread::spawn(move || {
                            stack.push();
                            stack.clear();
                            stack.push();
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
                stack.clear();
            })
        };
        assert_eq!(run(), run());
    }
}
