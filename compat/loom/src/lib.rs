//! The interface of loom, on teetotal.
//!
//! Tests that were written for loom run on teetotal without a change when this crate replaces loom:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { git = "<where teetotal is>" }
//! ```
//!
//! It installs `teetotal::alloc::Checked` as the global allocator, so that uses after free are found and a node that is
//! published without synchronization is a race; a program with a global allocator of its own takes the crate with
//! `default-features = false`.
//!
//! Every execution under PSO is looked at, which has every execution of SC and TSO too; `TEETOTAL_MODEL` names another
//! model.

#![warn(missing_docs)]

pub mod cell;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

/// Knows the memory of a model; the feature `allocator`, which is on by default, installs it.
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

/// How many threads a model may have in loom. Here there is no such limit.
pub const MAX_THREADS: usize = 5;
