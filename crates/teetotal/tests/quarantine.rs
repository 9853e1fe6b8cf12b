//! Memory that a model gave back comes again in no execution, so that code which compares pointers does the same each time.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

mod common;

use std::ptr;

use common::{MODELS, executions};
use teetotal::ModelId;
use teetotal::alloc::Quarantine;
use teetotal::sync::Arc;
use teetotal::sync::atomic::{AtomicPtr, Ordering};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine;

#[test]
fn no_two_boxes_of_an_execution_are_in_the_same_place() {
    executions(ModelId::Sc, || {
        let places: Vec<usize> = (0..20).map(|n| &raw const *Box::new(n) as usize).collect();
        let mut different = places.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), places.len());
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
            // SAFETY: nobody else knows the node yet.
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
