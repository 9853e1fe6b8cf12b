//! What tests of Rust code under the checker share.

#![allow(dead_code, reason = "not every test uses all of it")]

use teetotal::ModelId;
use teetotal::model::{Builder, Report};

/// Every model.
pub(crate) const MODELS: [ModelId; 3] = [ModelId::Sc, ModelId::Tso, ModelId::Pso];

/// What a search of the model `f` finds.
pub(crate) fn explore(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> Report {
    let mut builder = Builder::new();
    builder.model = model;
    builder.explore(f)
}

/// How many executions `f` has, with none of which anything is wrong.
pub(crate) fn executions(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> u64 {
    let report = explore(model, f);
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    report.executions
}

/// What is wrong with `f`.
pub(crate) fn failure(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> String {
    explore(model, f).failure.expect("something is wrong")
}
