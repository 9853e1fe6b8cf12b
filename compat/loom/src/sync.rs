//! Synchronization, with atomics whose creation is an access.

pub use teetotal::sync::*;

/// Atomics.
pub mod atomic {
    pub use teetotal::recorded::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
        AtomicU64, AtomicUsize,
    };
    pub use teetotal::sync::atomic::{Ordering, compiler_fence, fence};
}
