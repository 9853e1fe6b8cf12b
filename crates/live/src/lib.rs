//! Real code as a program to check.
//!
//! [`Live`] is a model that the search runs: its threads are coroutines that stop at each operation.
//! The modules look like those of the standard library; what they offer is the search's affair inside a model, and
//! behaves as the standard library outside of one.

pub mod cell;
mod clock;
pub mod hint;
mod local;
mod races;
mod request;
mod runtime;
mod subject;
pub mod sync;
pub mod thread;
mod turn;

pub use local::Lazy;
pub use subject::{Live, Model};
