//! The axioms of each model, in one table.

use teetotal_memory::ModelId;

use crate::axiomatic::facts::{Facts, Keeps};
use crate::axiomatic::rejection::Rejection;
use crate::axiomatic::{pso, rc11, sc, tso};

/// What a model allows, said without a machine.
#[derive(Clone, Copy)]
pub(crate) struct Axioms {
    pub(super) model: ModelId,
    /// Whether there is one order in which events happen.
    pub(super) has_moments: bool,
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
const AXIOMS: &[Axioms] = &[sc::AXIOMS, tso::AXIOMS, pso::AXIOMS, rc11::AXIOMS];

impl Axioms {
    /// Those of `model`.
    pub(crate) fn of(model: ModelId) -> &'static Axioms {
        AXIOMS.iter().find(|axioms| axioms.model == model).expect("every model has axioms")
    }
}

#[cfg(test)]
mod tests {
    use teetotal_memory::MODELS;

    use super::*;

    #[test]
    fn every_model_has_axioms() {
        let models = MODELS.iter().map(|info| info.id);
        assert_eq!(AXIOMS.iter().map(|axioms| axioms.model).collect::<Vec<_>>(), models.collect::<Vec<_>>());
    }
}
