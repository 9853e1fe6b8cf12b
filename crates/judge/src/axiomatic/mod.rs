//! The axiomatic model of each machine: which traces a model allows, said without buffers or steps.
//!
//! [`accepts`] judges one trace of any length, [`enumerate`] finds every trace of a program without loops.
//! Neither runs a machine: both build one order on *moments* and ask whether it has a cycle. The moment of a store is
//! when it reaches memory, that of any other event when it is performed; the reads of one await share a moment.
//! The order holds, for each thread, what its model keeps of program order (one file a model), and reads-from between
//! threads, coherence, from-read, spawn and join. Both halves of a read-modify-write are one moment, so its atomicity
//! needs no axiom of its own.

mod accept;
mod axioms;
mod enumerate;
mod facts;
#[cfg(feature = "testing")]
pub mod families;
mod global_fence;
mod order;
mod placed;
mod pso;
mod rc11;
mod rejection;
mod sc;
mod sober_as_printed;
#[cfg(feature = "testing")]
pub mod survey;
mod tso;
mod well_formed;

pub use accept::{accepts, accepts_code, accepts_in_rc11, order_of_moments};
pub(crate) use axioms::Axioms;
pub use enumerate::{EnumerateError, Execution, enumerate, visit_executions};
pub(crate) use facts::Keeps;
pub(crate) use order::PartialOrder;
pub(crate) use placed::{Placed, place_all};
pub use rejection::{Axiom, Rejection};
pub use sober_as_printed::accepts_as_sober_printed;
