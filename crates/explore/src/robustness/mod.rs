//! Robustness: from a delay that a monitor saw under sequential consistency to an execution of the model that shows it.

mod construct;
mod delayed;
mod past;

pub use construct::{Constructed, Constructor};
