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
mod estimate;
mod failed_await;
mod graph;
mod job;
mod leaf;
mod ledger;
mod linear;
mod listing;
mod overtaking;
mod pool;
mod position;
mod preemptions;
mod reach;
mod rerun;
mod rest;
mod search;
mod support;
mod walk;
mod watch;

pub use checkpoint::{CheckpointError, Checkpoints, Searched};
pub use estimate::{Estimate, estimate};
pub use leaf::Found;
pub use linear::Move;
pub use rest::{NoRest, Rest};
pub use search::{Settings, search, visit};
pub use support::{Unsupported, unsupported};
pub use watch::{Leaf, watch};
