//! Sequential consistency: happens-before has no cycle.
//!
//! Definition: [BURNIM, Prop. 1].

use crate::axiomatic::facts::Facts;
use crate::axiomatic::placed::Placed;
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Whether the trace is one of sequential consistency.
pub(super) fn judge(facts: &Facts<'_>) -> Result<(), Rejection> {
    // Cycles within one thread and one location are found here; between threads the order has no internal reads-from.
    facts.is_coherent()?;
    facts.is_acyclic(Axiom::HappensBefore, keeps)
}

/// All of program order is kept.
pub(super) fn keeps(_: &Placed, _: &Placed) -> bool {
    true
}
