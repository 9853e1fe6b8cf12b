//! How each search takes a program: one row for each search, with one interface.

use std::marker::PhantomData;
use std::sync::Arc;

use teetotal_dpor as dpor;
use teetotal_dpor::{CheckpointError, Checkpoints};
use teetotal_engine::driver::{self, StopSignal};
use teetotal_engine::search::{Search, Task};
use teetotal_engine::stateless::{Bounded, Brute, Guarantee, Pct, Random};
use teetotal_engine::{Collector, Coverage, Limits, SearchId, Strategy, System, Unsupported, unsupported};
use teetotal_judge::MonitorId;
use teetotal_mcr as mcr;
use teetotal_memory::{Model, ModelId, ModelVisitor};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_robustness::Constructor;
use teetotal_stateful as stateful;
use teetotal_symbolic as symbolic;

/// The searches of programs, in the order of the table of searches.
const PROGRAM_SEARCHES: &[&dyn for<'t> Search<ProgramTask<'t>>] = &[
    &BufferRow::<Stateful>(PhantomData),
    &BufferRow::<Symbolic>(PhantomData),
    &Row::<Dpor>(PhantomData),
    &BufferRow::<Mcr>(PhantomData),
    &Row::<ByBound>(PhantomData),
    &Row::<ByChance>(PhantomData),
    &Row::<ByPriorities>(PhantomData),
    &Row::<ByForce>(PhantomData),
];

/// A program to search, and what its executions are shown to.
#[derive(Clone, Copy)]
pub(crate) struct ProgramTask<'t> {
    pub(crate) program: &'t Arc<Program>,
    /// The model that is asked about.
    pub(crate) model: ModelId,
    /// The model whose executions are searched.
    pub(crate) explored: ModelId,
    pub(crate) monitors: &'t [MonitorId],
    pub(crate) stop_at_first: bool,
    pub(crate) limits: Limits,
    pub(crate) jobs: usize,
    pub(crate) seed: u64,
    pub(crate) depth: u32,
    pub(crate) signal: StopSignal<'t>,
    pub(crate) checkpoints: Option<&'t Checkpoints<'t>>,
}

/// What a search of a program gathered, before anything is replayed.
pub(crate) struct Gathered {
    pub(crate) collector: Collector,
    pub(crate) coverage: Coverage,
    /// What a search by random priorities promises.
    pub(crate) guarantee: Option<Guarantee>,
}

impl Task for ProgramTask<'_> {
    type Answer = Result<Gathered, CheckpointError>;
}

impl ProgramTask<'_> {
    fn collector(&self) -> Collector {
        collector(self.program, self.model, self.monitors, self.stop_at_first)
    }

    fn subject(&self) -> Interpreter {
        Interpreter::new(Arc::clone(self.program))
    }

    /// Runs one execution after the other.
    fn drive<M: Model>(&self, strategy: &mut dyn Strategy) -> Gathered {
        let mut system = System::<Interpreter, M>::new(self.subject());
        let mut collector = self.collector();
        let coverage = driver::run(&mut system, strategy, &mut collector, &self.limits, self.signal);
        Gathered { collector, coverage, guarantee: None }
    }

    /// How many executions a search that samples runs.
    fn samples(&self) -> u64 {
        self.limits.executions.unwrap_or(Limits::SAMPLES)
    }
}

/// Runs the monitors; delays count where they lead to an execution of `model`, which is asked about.
fn collector<W>(program: &Arc<Program>, model: ModelId, monitors: &[MonitorId], stop_at_first: bool) -> Collector<W> {
    let constructor = Constructor::new(program, model);
    Collector::new(program, model, monitors, stop_at_first).constructing(Some(Box::new(constructor)))
}

/// The search with this name.
///
/// # Panics
/// If it takes no programs, or stands for others.
pub(crate) fn search_of(id: SearchId) -> &'static dyn for<'t> Search<ProgramTask<'t>> {
    *PROGRAM_SEARCHES.iter().find(|search| search.id() == id).expect("a search that takes programs has a row")
}

/// A search of programs under each model.
trait OfPrograms: Sync {
    const ID: SearchId;

    /// Why it does not take `program`.
    fn refusal(_program: &Program) -> Option<Unsupported> {
        None
    }

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError>;
}

/// A row of the table.
struct Row<T>(PhantomData<T>);

impl<T: OfPrograms> Search<ProgramTask<'_>> for Row<T> {
    fn id(&self) -> SearchId {
        T::ID
    }

    fn refusal(&self, task: &ProgramTask<'_>) -> Option<Unsupported> {
        T::refusal(task.program)
    }

    fn run(&self, task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        task.explored.visit(UnderModel::<T>(task, PhantomData))
    }
}

/// A row of the table for a search that does not take models of graphs.
struct BufferRow<T>(PhantomData<T>);

impl<T: OfPrograms> Search<ProgramTask<'_>> for BufferRow<T> {
    fn id(&self) -> SearchId {
        T::ID
    }

    fn refusal(&self, task: &ProgramTask<'_>) -> Option<Unsupported> {
        T::refusal(task.program)
    }

    fn run(&self, task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        task.explored.visit_buffers(UnderModel::<T>(task, PhantomData))
    }
}

struct UnderModel<'u, T>(&'u ProgramTask<'u>, PhantomData<T>);

impl<T: OfPrograms> ModelVisitor for UnderModel<'_, T> {
    type Output = Result<Gathered, CheckpointError>;

    fn visit<M: Model>(self) -> Self::Output {
        T::search::<M>(self.0)
    }
}

struct Stateful;

impl OfPrograms for Stateful {
    const ID: SearchId = SearchId::Stateful;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        let system = System::<Interpreter, M>::new(task.subject());
        let settings = stateful::Settings { limits: task.limits, jobs: task.jobs, reduce: true };
        let mut collector = task.collector();
        let coverage = stateful::search(&system, &mut collector, &settings, task.signal);
        Ok(Gathered { collector, coverage, guarantee: None })
    }
}

struct Symbolic;

impl OfPrograms for Symbolic {
    const ID: SearchId = SearchId::Symbolic;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        let settings = symbolic::Settings::new(task.limits);
        let mut collector = task.collector();
        let (coverage, _) = symbolic::search::<_, M>(task.subject(), &mut collector, &settings, task.signal);
        Ok(Gathered { collector, coverage, guarantee: None })
    }
}

struct Dpor;

impl OfPrograms for Dpor {
    const ID: SearchId = SearchId::Dpor;

    fn refusal(program: &Program) -> Option<Unsupported> {
        unsupported(program)
    }

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        let ProgramTask { program, model, monitors, limits, stop_at_first, .. } = *task;
        let settings = dpor::Settings { limits, jobs: task.jobs };
        let of = || dpor::Searched::new(program, model, monitors, limits.steps, stop_at_first);
        let checkpoints = task.checkpoints.map(|checkpoints| (of(), checkpoints));
        let collector = || collector(program, model, monitors, stop_at_first);
        let (collector, coverage) =
            dpor::search(M::ID, &task.subject(), &collector, &settings, task.signal, checkpoints)?;
        Ok(Gathered { collector, coverage, guarantee: None })
    }
}

struct Mcr;

impl OfPrograms for Mcr {
    const ID: SearchId = SearchId::Mcr;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        let system = System::<Interpreter, M>::new(task.subject());
        let settings = mcr::Settings::new(task.limits, task.jobs);
        let seen = task.program.locations_at_end();
        let mut collector = task.collector();
        let coverage = mcr::search(&system, &seen, &mut collector, &settings, task.signal);
        Ok(Gathered { collector, coverage, guarantee: None })
    }
}

struct ByBound;

impl OfPrograms for ByBound {
    const ID: SearchId = SearchId::Bounded;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        Ok(task.drive::<M>(&mut Bounded::new(task.limits.preemptions)))
    }
}

struct ByChance;

impl OfPrograms for ByChance {
    const ID: SearchId = SearchId::Random;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        Ok(task.drive::<M>(&mut Random::new(task.seed, task.samples())))
    }
}

struct ByPriorities;

impl OfPrograms for ByPriorities {
    const ID: SearchId = SearchId::Pct;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        let mut pct = Pct::new::<M>(task.seed, task.depth, task.samples());
        let gathered = task.drive::<M>(&mut pct);
        Ok(Gathered { guarantee: pct.guarantee(), ..gathered })
    }
}

struct ByForce;

impl OfPrograms for ByForce {
    const ID: SearchId = SearchId::Brute;

    fn search<M: Model>(task: &ProgramTask<'_>) -> Result<Gathered, CheckpointError> {
        Ok(task.drive::<M>(&mut Brute::default()))
    }
}

#[cfg(test)]
mod tests {
    use teetotal_engine::SearchInfo;

    use super::*;

    #[test]
    fn the_searches_that_take_programs_are_those_with_a_row_and_auto() {
        let rows = PROGRAM_SEARCHES.iter().map(|search| search.id());
        let named: Vec<SearchId> = SearchInfo::of_programs().map(|info| info.id).collect();
        assert_eq!([SearchId::Auto].into_iter().chain(rows).collect::<Vec<_>>(), named);
    }
}
