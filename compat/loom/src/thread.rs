//! Threads of a model.

pub use teetotal::thread::lenient::{Builder, spawn};
pub use teetotal::thread::*;
