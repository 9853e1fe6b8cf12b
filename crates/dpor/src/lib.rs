//! Dynamic partial-order reduction: every trace (po, rf, co) exactly once, without storing the traces seen.
//!
//! The search builds execution graphs event by event instead of performing steps: a read with each source it may have, a
//! write at each place in coherence, and, when a write is added that an older read could have seen, a revisit of that
//! read. When a buffer drains is not part of a graph, so executions that differ only in that are one.
//! [TRUST, Alg. 1]; what differs here, and why nothing is missed, is in `docs/theory/dpor.md`.

mod alternatives;
mod answer;
mod bits;
mod bounded;
mod checkpoint;
mod consistency;
mod estimate;
mod execution;
mod failed_await;
mod graph;
mod job;
mod ledger;
mod linearization;
mod pool;
mod position;
mod preemptions;
mod rerun;
mod rest;
mod revisit;
mod search;
mod walk;
mod watch;

pub use checkpoint::{CheckpointError, Checkpoints, Searched};
pub use estimate::{Estimate, estimate};
pub use execution::Found;
pub use rest::{NoRest, Rest};
pub use search::{Settings, search, visit};
pub use teetotal_engine::unsupported;
pub use watch::watch;
