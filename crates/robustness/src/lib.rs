//! Robustness: from a delay under sequential consistency to an execution of the model that shows it.
//!
//! There is also the search for delays where executions may be without end, and the search of the model itself for
//! programs whose steps access memory more than once; both are behind the feature `programs`.

#[cfg(feature = "programs")]
mod closing;
#[cfg(feature = "programs")]
mod construct;
#[cfg(feature = "programs")]
mod enumeration;
#[cfg(feature = "programs")]
mod guess;
#[cfg(feature = "programs")]
mod model_search;
mod past;
mod plan;
mod plans;
#[cfg(feature = "programs")]
mod precedence;
#[cfg(feature = "programs")]
mod sections;
#[cfg(feature = "programs")]
mod unbounded;
mod waiters;

#[cfg(feature = "programs")]
pub use construct::Constructor;
#[cfg(feature = "programs")]
pub use model_search::search_model;
pub use plans::{plans, watch};
#[cfg(feature = "programs")]
pub use unbounded::{Decided, Shown, Unbounded, decide};
pub use waiters::{Waiter, waiters};
