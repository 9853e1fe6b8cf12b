//! Total store order: relaxed happens-before has no cycle, and no communication goes against program order.
//!
//! Definition: [SOBER, Def. 3], TSO1 and TSO2. We differ in four ways:
//! 1. A load comes after the write it read from, not after every write up to that one. As printed, the axioms forbid
//!    the machine's own trace of n6, in which a load forwards a store that reaches memory after a foreign one; see
//!    [`crate::axiomatic::accepts_as_sober_printed`].
//! 2. A load does not come after a store of its own thread, even one it read from: it may have forwarded it.
//! 3. Full fences, locks, spawn and join are ordered as interlocked operations, a join that only acquires as a load,
//!    and a `SeqCst` store comes before everything after it.
//! 4. A global fence needs every store of every thread to be in memory or not yet performed.

use teetotal_memory::ModelId;

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::facts::Facts;
use crate::axiomatic::placed::Placed;
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Its row.
pub(super) const AXIOMS: Axioms =
    Axioms { model: ModelId::Tso, has_moments: true, stores_wait: true, failure_is_load: false, keeps, judge };

/// Whether TSO allows the trace.
fn judge(facts: &Facts<'_>) -> Result<(), Rejection> {
    facts.is_coherent()?;
    facts.is_acyclic(Axiom::RelaxedHappensBefore, keeps)?;
    facts.fits_global_fences(keeps)
}

/// Whether a store reaches memory before the moment of `later`, which comes after it in its thread.
fn keeps(store: &Placed, later: &Placed) -> bool {
    let waits = later.event.is_store() || later.is_update() || later.is_full_fence();
    waits || later.follows_seq_cst_store_since(store)
}
