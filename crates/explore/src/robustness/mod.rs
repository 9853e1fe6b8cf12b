//! Robustness: from a delay under sequential consistency to an execution of the model that shows it.
//!
//! There is also the search for delays where executions may be without end, and the search of the model itself for
//! programs whose steps access memory more than once.

mod closing;
mod construct;
mod guess;
mod model_search;
mod past;
mod plan;
mod plans;
mod precedence;
mod unbounded;

pub use construct::{Constructed, Constructor};
pub use model_search::search_model;
pub use plans::{plans, watch};
pub use unbounded::{Decided, Shown, Unbounded, decide};
