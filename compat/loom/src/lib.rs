//! A drop-in replacement for loom, based on teetotal.
//!
//! Tests written for loom run unchanged on teetotal if this crate replaces loom:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { git = "<where teetotal is>" }
//! ```
//!
//! The crate installs `teetotal::alloc::Checked` as the global allocator, so uses after free are found, and a node that
//! is published without synchronization is a data race. A program with a global allocator of its own uses the crate
//! with `default-features = false`.
//!
//! Every execution under RC11 is searched, the model of Rust without load buffering; `TEETOTAL_MODEL` selects another
//! model.

#![warn(missing_docs)]

pub mod cell;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

/// The allocator that checks the memory of models; installed by the feature `allocator`, which is on by default.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: teetotal::alloc::Checked = teetotal::alloc::Checked;

#[cfg(feature = "futures")]
#[doc(inline)]
pub use teetotal::future;
#[doc(inline)]
pub use teetotal::{alloc, hint};
pub use teetotal::{explore, skip_branch, stop_exploring, thread_local};

#[doc(hidden)]
pub use teetotal::__lazy_static;

#[doc(inline)]
pub use crate::model::model;

/// The maximum number of threads in a model of loom; there is no limit here.
pub const MAX_THREADS: usize = 5;
