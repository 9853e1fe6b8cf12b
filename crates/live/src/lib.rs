//! Real code as a program to check.
//!
//! [`Live`] is a model that the search runs: its threads are coroutines that stop at each operation.
//! The modules look like those of the standard library; what they offer is the search's affair inside a model, and
//! behaves as the standard library outside of one.

pub mod alloc;
mod beginning;
pub mod cell;
mod clock;
mod complaint;
mod erased;
pub mod future;
mod hidden;
pub mod hint;
mod identity;
pub mod lazy_static;
mod local;
mod possession;
mod races;
mod request;
mod runtime;
mod subject;
pub mod sync;
pub mod thread;
mod turn;

pub use complaint::{Access, Complaint, Kind, Place, Race};
pub use hidden::Ledger;
pub use possession::Leak;
pub use subject::{Live, Model, STACK_SIZE};
