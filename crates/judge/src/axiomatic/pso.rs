//! Partial store order: as TSO, but stores to different locations are not kept in order.
//!
//! Definition: [BURNIM, Fig. 3] as axioms: coherence, and a global order of which program order from a store is a part
//! only where the machine waits. We differ in three ways:
//! 1. A store-store barrier keeps every store before it before every store and update after it.
//! 2. A release store comes after every earlier store of its thread, a `SeqCst` store also before everything later.
//! 3. An update without release waits for stores to its own location and those before a barrier; one with release
//!    waits for all. A compare-exchange that failed and is a load in its source is a load.

use teetotal_memory::ModelId;

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::facts::Facts;
use crate::axiomatic::placed::Placed;
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Its row.
pub(super) const AXIOMS: Axioms =
    Axioms { model: ModelId::Pso, has_moments: true, stores_wait: true, failure_is_load: true, keeps, judge };

/// Whether PSO allows the trace.
fn judge(facts: &Facts<'_>) -> Result<(), Rejection> {
    facts.is_coherent()?;
    facts.is_acyclic(Axiom::GlobalOrder, keeps)?;
    facts.fits_global_fences(keeps)
}

/// Whether a store reaches memory before the moment of `later`, which comes after it in its thread.
fn keeps(store: &Placed, later: &Placed) -> bool {
    if later.is_full_fence() || later.follows_seq_cst_store_since(store) {
        return true;
    }
    let writes_memory = later.event.is_store() || later.is_update();
    let same_location = later.event.loc == store.event.loc;
    writes_memory && (same_location || later.event.order.releases() || later.follows_marker_since(store))
}
