//! The axioms of each model, in one table.

use teetotal_memory::ModelId;

use crate::axiomatic::facts::{Facts, Keeps};
use crate::axiomatic::rejection::Rejection;
use crate::axiomatic::{pso, sc, tso};

/// What a model of store buffers allows, said without buffers.
#[derive(Clone, Copy)]
pub(crate) struct Axioms {
    pub(super) model: ModelId,
    /// Whether a store may reach memory later than it is performed.
    pub(crate) stores_wait: bool,
    /// Whether a compare-exchange that fails, and is a load in its source, is one.
    pub(super) failure_is_load: bool,
    /// Which program order from a store to a later event of its thread is kept.
    pub(crate) keeps: Keeps,
    /// Whether a trace is allowed.
    pub(super) judge: fn(&Facts<'_>) -> Result<(), Rejection>,
}

/// One row for each model, from its own file.
const AXIOMS: &[Axioms] = &[sc::AXIOMS, tso::AXIOMS, pso::AXIOMS];

impl Axioms {
    /// Those of `model`.
    pub(crate) fn of(model: ModelId) -> &'static Axioms {
        AXIOMS.iter().find(|axioms| axioms.model == model).expect("every model of store buffers has axioms")
    }
}

#[cfg(test)]
mod tests {
    use teetotal_memory::{Family, MODELS};

    use super::*;

    #[test]
    fn every_model_of_store_buffers_has_axioms() {
        let buffers = MODELS.iter().filter(|info| matches!(info.family, Family::Buffers(_))).map(|info| info.id);
        assert_eq!(AXIOMS.iter().map(|axioms| axioms.model).collect::<Vec<_>>(), buffers.collect::<Vec<_>>());
    }
}
