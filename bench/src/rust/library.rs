//! What the cases are made of: the crate `teetotal`.

pub(crate) use teetotal::hint::spin_loop as wait;
pub(crate) use teetotal::sync::Arc;
pub(crate) use teetotal::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
pub(crate) use teetotal::thread::spawn;

/// Data that threads share as they say they may.
pub(crate) struct Data(teetotal::cell::UnsafeCell<usize>);

#[allow(unsafe_code, reason = "whether that is so is what is checked")]
mod shared {
    use super::Data;

    // SAFETY: the checker says if it is not.
    unsafe impl Send for Data {}
    // SAFETY: the same.
    unsafe impl Sync for Data {}

    impl Data {
        pub(crate) fn new(value: usize) -> Self {
            Data(teetotal::cell::UnsafeCell::new(value))
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
