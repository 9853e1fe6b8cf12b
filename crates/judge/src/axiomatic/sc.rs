//! Sequential consistency: happens-before has no cycle.
//!
//! Definition: [BURNIM, Prop. 1].

use teetotal_memory::ModelId;

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::facts::Facts;
use crate::axiomatic::placed::Placed;
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Its row.
pub(super) const AXIOMS: Axioms =
    Axioms { model: ModelId::Sc, has_moments: true, stores_wait: false, failure_is_load: false, keeps, judge };

/// Whether the trace is one of sequential consistency.
fn judge(facts: &Facts<'_>) -> Result<(), Rejection> {
    // Cycles within one thread and one location are found here; between threads the order has no internal reads-from.
    facts.is_coherent()?;
    facts.is_acyclic(Axiom::HappensBefore, keeps)
}

/// All of program order is kept.
fn keeps(_: &Placed, _: &Placed) -> bool {
    true
}
