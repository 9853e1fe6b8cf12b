//! What `lazy_static!` makes.

pub use crate::local::Lazy;
