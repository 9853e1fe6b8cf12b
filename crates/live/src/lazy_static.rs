//! What `lazy_static!` makes.

pub use crate::local::{AccessError, Lazy};
pub use crate::thread::{panicking, yield_now};
