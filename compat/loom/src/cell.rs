//! Cells whose creation is an access.

pub use teetotal::cell::{Cell, ConstPtr, MutPtr, standard};
pub use teetotal::recorded::UnsafeCell;
