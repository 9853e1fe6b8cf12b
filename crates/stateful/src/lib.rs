//! The search over states: each state once, in breadth-first order.
//!
//! It is complete for every program with finitely many states, loops included. States are packed into bytes; a round
//! expands a stretch of the queue, each worker a part of it, then adds what is new, each worker some of the shards. Both
//! halves of a round do the same however many workers there are, so results do not depend on their number.
//!
//! Reduction: [`reduction`] leaves out steps whose order cannot matter.

mod expand;
mod history;
pub mod reduction;
mod search;
mod store;
mod visited;

pub use history::{Forgetful, History, Reads, Remember};
pub use search::{Settings, search, search_with};
