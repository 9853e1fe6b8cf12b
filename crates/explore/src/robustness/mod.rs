//! Robustness: from a delay under sequential consistency to an execution of the model that shows it.
//!
//! There is also the search for delays where executions may be without end.

mod construct;
mod guess;
mod past;
mod plan;
mod unbounded;

pub use construct::{Constructed, Constructor};
pub use unbounded::{Decided, Shown, Unbounded, decide};
