//! The searches of Rust code, one row for each, with one interface.

use teetotal_dpor::{Rest, Settings};
use teetotal_engine::driver::{Flow, StopSignal};
use teetotal_engine::search::{Search, Task};
use teetotal_engine::{Coverage, Execution, Limits, SearchId, Stats, Unsupported};
use teetotal_live::Live;
use teetotal_memory::{Model, ModelId, ModelVisitor};
use teetotal_rf as rf;

/// The rows, in the order of the table of searches.
const RUST_SEARCHES: &[&dyn for<'t> Search<RustTask<'t>>] = &[&Dpor, &ReadsFrom];

/// The Rust code to search, and the callback that receives its executions.
pub(super) struct RustTask<'t> {
    /// Returns the code in its initial state.
    pub(super) make: &'t (dyn Fn() -> Live + Sync),
    /// The model whose executions are searched.
    pub(super) model: ModelId,
    pub(super) limits: Limits,
    pub(super) jobs: usize,
    /// The maximum number of preemptions in one execution.
    pub(super) bound: Option<u64>,
    /// The part of the search to run.
    pub(super) rest: Rest,
    pub(super) signal: StopSignal<'t>,
    /// Called with each execution at its end.
    pub(super) sink: &'t (dyn Fn(&Execution<'_, Live>) -> Flow + Sync),
}

/// The result of a search of Rust code.
pub(super) struct RustSearched {
    pub(super) stats: Stats,
    pub(super) coverage: Coverage,
    /// The part of the search that is left.
    pub(super) rest: Rest,
}

impl Task for RustTask<'_> {
    type Answer = Result<RustSearched, Unsupported>;
}

/// Runs the search with this name.
///
/// # Panics
/// If the search does not accept Rust code.
pub(super) fn run(id: SearchId, task: &RustTask<'_>) -> Result<RustSearched, Unsupported> {
    let search = RUST_SEARCHES.iter().find(|search| search.id() == id);
    search.expect("a search that takes Rust code has a row").run(task)
}

struct Dpor;

impl Search<RustTask<'_>> for Dpor {
    fn id(&self) -> SearchId {
        SearchId::Dpor
    }

    fn run(&self, task: &RustTask<'_>) -> Result<RustSearched, Unsupported> {
        let RustTask { make, model, limits, jobs, bound, ref rest, signal, sink } = *task;
        let settings = Settings { limits, jobs };
        let (stats, coverage, rest) = rest.clone().watch(model, make, &settings, bound, signal, sink);
        Ok(RustSearched { stats, coverage, rest })
    }
}

struct ReadsFrom;

impl Search<RustTask<'_>> for ReadsFrom {
    fn id(&self) -> SearchId {
        SearchId::ReadsFrom
    }

    fn run(&self, task: &RustTask<'_>) -> Result<RustSearched, Unsupported> {
        task.model.visit_buffers(BySources(task))
    }
}

struct BySources<'t>(&'t RustTask<'t>);

impl ModelVisitor for BySources<'_> {
    type Output = Result<RustSearched, Unsupported>;

    fn visit<M: Model>(self) -> Result<RustSearched, Unsupported> {
        let RustTask { make, ref limits, signal, sink, .. } = *self.0;
        let (stats, coverage) = rf::watch::<Live, M>(make(), limits, signal, &mut |execution| sink(execution))?;
        Ok(RustSearched { stats, coverage, rest: Rest::all() })
    }
}

#[cfg(test)]
mod tests {
    use teetotal_engine::SearchInfo;

    use super::*;

    #[test]
    fn the_searches_that_take_rust_code_are_those_with_a_row_and_auto() {
        let rows = RUST_SEARCHES.iter().map(|search| search.id());
        let named: Vec<SearchId> = SearchInfo::of_rust().map(|info| info.id).collect();
        assert_eq!([SearchId::Auto].into_iter().chain(rows).collect::<Vec<_>>(), named);
    }
}
