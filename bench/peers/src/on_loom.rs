//! The cases on loom.

use crate::{Body, counted};

#[path = "../../src/rust/cases.rs"]
mod cases;

/// What the cases are made of.
mod library {
    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
    pub(crate) use loom::thread::{spawn, yield_now as wait};

    /// Data that threads share as they say they may.
    pub(crate) struct Data(loom::cell::UnsafeCell<usize>);

    // SAFETY: whether that is so is what is checked.
    unsafe impl Send for Data {}
    // SAFETY: the same.
    unsafe impl Sync for Data {}

    impl Data {
        pub(crate) fn new(value: usize) -> Self {
            Data(loom::cell::UnsafeCell::new(value))
        }

        pub(crate) fn get(&self) -> usize {
            // SAFETY: the checker says if it is not.
            self.0.with(|data| unsafe { *data })
        }

        pub(crate) fn set(&self, value: usize) {
            // SAFETY: the checker says if it is not.
            self.0.with_mut(|data| unsafe { *data = value });
        }
    }
}

/// The case with this name.
pub(crate) fn find(name: &str) -> Option<Body> {
    cases::CASES.iter().find(|(own, _)| *own == name).map(|(_, make)| Body::from(make()))
}

/// Runs the executions that loom tries, with at most so many preemptions each.
pub(crate) fn check(body: Body, bound: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.check(move || counted(&body));
}
