//! The interface of loom, on teetotal.
//!
//! Tests that were written for loom run on teetotal without a change when this crate is put in the place of loom:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { git = "<where teetotal is>" }
//! ```
//!
//! Every execution under PSO is looked at, which has every execution of SC and TSO too; `TEETOTAL_MODEL` names another
//! model.

#![warn(missing_docs)]

pub mod lazy_static;
pub mod model;
pub mod thread;

#[cfg(feature = "futures")]
#[doc(inline)]
pub use teetotal::future;
#[doc(inline)]
pub use teetotal::{alloc, cell, hint, sync};
pub use teetotal::{explore, skip_branch, stop_exploring, thread_local};

#[doc(hidden)]
pub use teetotal::__lazy_static;

#[doc(inline)]
pub use crate::model::model;

/// How many threads a model may have in loom. Here there is no such limit.
pub const MAX_THREADS: usize = 5;
