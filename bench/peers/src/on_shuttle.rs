//! The cases on shuttle, which knows sequential consistency only and no data races.

use crate::{Body, counted};

#[path = "../../src/rust/cases.rs"]
mod cases;

/// What the cases are made of.
mod library {
    pub(crate) use shuttle::sync::Arc;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
    pub(crate) use shuttle::thread::{spawn, yield_now as wait};

    /// Data that threads share as they say they may.
    pub(crate) struct Data(std::sync::atomic::AtomicUsize);

    impl Data {
        pub(crate) fn new(value: usize) -> Self {
            Data(std::sync::atomic::AtomicUsize::new(value))
        }

        pub(crate) fn get(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }

        pub(crate) fn set(&self, value: usize) {
            self.0.store(value, Ordering::Relaxed);
        }
    }
}

/// The case with this name.
pub(crate) fn find(name: &str) -> Option<Body> {
    cases::CASES.iter().find(|(own, _)| *own == name).map(|(_, make)| Body::from(make()))
}

/// Runs every interleaving, one after the other.
pub(crate) fn check(body: Body) {
    shuttle::check_dfs(move || counted(&body), None);
}
