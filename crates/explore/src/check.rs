//! The entry: a program, a model, a search, monitors.

mod finish;

use std::sync::Arc;

use teetotal_judge::{Extent, MonitorId, Watches};
use teetotal_memory::{Model, ModelId, ModelVisitor};
use teetotal_program::ir::{Interpreter, Program};
use thiserror::Error;

use self::finish::finish;
use crate::auto;
use crate::collector::{Collector, Found};
use crate::dpor::{self, CheckpointError, Checkpoints, Estimate};
use crate::driver::{self, StopSignal};
use crate::limits::{LimitError, Limits};
use crate::mcr;
use crate::outcome::{Coverage, Outcome, Schedule, StopReason};
use crate::replay::named;
use crate::robustness::{self, Decided, Shown, Unbounded};
use crate::search::{SEARCHES, SearchId, SearchInfo};
use crate::stateful;
use crate::stateless::{Bounded, Brute, Guarantee, Pct, Random};
use crate::strategy::Strategy;
use crate::symbolic;
use crate::system::System;

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    pub model: ModelId,
    pub search: SearchId,
    pub monitors: Vec<MonitorId>,
    pub limits: Limits,
    /// How many processor cores to use; results do not depend on it.
    pub jobs: usize,
    /// Whether the first violation ends the search.
    pub stop_at_first: bool,
    /// Of a search that samples: the same seed gives the same executions.
    pub seed: u64,
    /// Of the bugs that a search by random priorities promises something about.
    pub depth: u32,
    /// Whether the executions that are reported are replaced by simpler ones that show the same.
    pub minimize: bool,
}

impl Options {
    /// The model whose executions are searched: where robustness is asked for, those of sequential consistency.
    #[must_use]
    pub fn explored(&self) -> ModelId {
        if self.asks_for_robustness() { ModelId::Sc } else { self.model }
    }

    /// Whether some monitor watches sequential consistency to tell of the model.
    #[must_use]
    pub fn asks_for_robustness(&self) -> bool {
        self.monitors.iter().any(|id| id.is_about_robustness())
    }

    /// The default search with every monitor that watches the model itself.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Options {
            model,
            search: SEARCHES[0].id,
            monitors: MonitorId::defaults(),
            limits: Limits::default(),
            jobs: 1,
            stop_at_first: false,
            seed: 0,
            depth: 3,
            minimize: true,
        }
    }
}

/// Why nothing was checked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CheckError {
    #[error("`{program}` has no operation on shared memory and no condition, so there is nothing to check")]
    NothingToCheck { program: String },
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error("the number of jobs is 0")]
    NoJobs,
    #[error("a bug of depth 0 needs no search; the depth is at least 1")]
    NoDepth,
    #[error("`{program}` has {reason}, which the search `{search}` cannot take; use `stateful`")]
    Unsupported { program: String, search: &'static str, reason: &'static str },
    #[error("`{monitor}` knows nothing of {model}; use `robustness`")]
    UnknownModel { monitor: &'static str, model: &'static str },
    #[error("`{program}` has {reason}, and the search `{search}` cannot decide robustness of that; use `stateful`")]
    Undecided { program: String, search: &'static str, reason: &'static str },
    #[error("`{program}` has {reason}, which a trace cannot say; it is not recorded")]
    NotRecorded { program: String, reason: &'static str },
    #[error("`{variable}` of `{program}` takes ever more values, so a search over states has no end; use `dpor`")]
    Unbounded { program: String, variable: String },
    #[error("the search `{search}` has no checkpoints; use `dpor`")]
    NoCheckpoints { search: &'static str },
    #[error("a checkpoint does not keep what `{monitor}` has seen; leave one of them out")]
    NotKept { monitor: &'static str },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("`{monitor}` looks at more than the search `{search}` shows; use `{instead}`")]
    Unfit { monitor: &'static str, search: &'static str, instead: &'static str },
    #[error(
        "an execution that the {model} machine allows is rejected by its axiomatic twin: {reason}; \
         this is a fault of teetotal, please report it with the program and the token {token}"
    )]
    Disagreement { model: &'static str, reason: String, token: String },
}

/// Searches the executions of `program`.
pub fn check(program: &Arc<Program>, options: &Options, signal: StopSignal<'_>) -> Result<Outcome, CheckError> {
    check_with(program, options, signal, None)
}

/// The same with checkpoints, from which a search that was stopped or killed goes on, as if nothing had been.
pub fn check_with(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
    checkpoints: Option<&Checkpoints<'_>>,
) -> Result<Outcome, CheckError> {
    // A condition asks about the final state, which there is even if nobody touches memory.
    if program.n_operations() == 0 && program.condition.is_none() {
        return Err(CheckError::NothingToCheck { program: program.name.clone() });
    }
    options.limits.validate()?;
    if options.jobs == 0 {
        return Err(CheckError::NoJobs);
    }
    if options.depth == 0 {
        return Err(CheckError::NoDepth);
    }
    let asked = options.search;
    let chosen = Options { search: chosen(program, options), ..options.clone() };
    let options = &chosen;
    refuse_unfit(options)?;
    refuse_undecided(program, options)?;
    if options.search == SearchId::Dpor {
        refuse_unsupported(program)?;
    } else if checkpoints.is_some() {
        return Err(CheckError::NoCheckpoints { search: options.search.info().name });
    }
    if let (true, Some(id)) = (checkpoints.is_some(), options.monitors.iter().find(|id| id.is_about_robustness())) {
        return Err(CheckError::NotKept { monitor: id.info().name });
    }
    if asked == SearchId::Auto
        && checkpoints.is_none()
        && let Some(early) = try_what_is_cheap(program, options, signal)?
    {
        return Ok(early);
    }
    let reduces = options.search == SearchId::Stateful;
    let watches = |id: &MonitorId| !(reduces && id.is_about_robustness());
    let monitors: Vec<MonitorId> = options.monitors.iter().copied().filter(watches).collect();
    let collector = Collector::new(program, options.model, &monitors, options.stop_at_first);
    // A program with ever more states is refused here, so it comes before the search for everything else.
    let decided = if reduces && options.asks_for_robustness() && options.model != ModelId::Sc {
        Some(decide_robustness(program, options, signal)?)
    } else {
        None
    };
    if (asked, options.search) == (SearchId::Auto, SearchId::Symbolic) && options.stop_at_first {
        return search_any_buffers(program, options, signal, collector, &monitors);
    }
    let mut searched = search(program, options, signal, collector, checkpoints)?;
    if let Some(decided) = decided {
        searched.add(decided);
    } else if searched.is_in_doubt() && options.monitors.contains(&MonitorId::Robustness) {
        searched.collector.constructor.gave_up = false;
        searched.add(search_model(program, options, signal)?);
    }
    finish(program, options, searched)
}

/// Searches, and names the steps of what was found.
fn search(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
    collector: Collector,
    checkpoints: Option<&Checkpoints<'_>>,
) -> Result<Searched, CheckError> {
    let explored = options.explored();
    let mut searched = explored.visit(Search { program, options, signal, collector, checkpoints })?;
    let Collector { satisfying, falsifying, findings, .. } = &mut searched.collector;
    let places = findings.iter_mut().map(|found| &mut found.place);
    for schedule in places.chain(satisfying).chain(falsifying) {
        let found = std::mem::replace(schedule, Schedule::Steps(Vec::new()));
        *schedule = named(program, explored, &options.limits, found);
    }
    Ok(searched)
}

/// Searches symbolically, and looks for something wrong that needs few stores in each buffer before and, where that found
/// no end, some more of them after it.
fn search_any_buffers(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
    collector: Collector,
    monitors: &[MonitorId],
) -> Result<Outcome, CheckError> {
    let by_states = Options { search: SearchId::Stateful, ..options.clone() };
    if let Some(searched) = look_with_short_buffers(program, options, signal, monitors, &auto::SHORT_BUFFERS)? {
        return finish(program, &by_states, searched);
    }
    let searched = search(program, options, signal, collector, None)?;
    if matches!(searched.coverage, Coverage::Stopped(StopReason::UnboundedLoop { .. }))
        && let Some(searched) = look_with_short_buffers(program, options, signal, monitors, &auto::LONGER_BUFFERS)?
    {
        return finish(program, &by_states, searched);
    }
    finish(program, options, searched)
}

/// Looks for something wrong that needs no more than so many stores in each buffer, before the symbolic search begins or
/// after it has found no end.
///
/// Gives what it found, or that there is nothing where no buffer ever needs more.
fn look_with_short_buffers(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
    monitors: &[MonitorId],
    buffers: &[u64],
) -> Result<Option<Searched>, CheckError> {
    for &buffer in buffers {
        let states = Some(options.limits.states.unwrap_or(u64::MAX).min(auto::FEW_STATES));
        let limits = Limits { buffer: Some(buffer), states, ..options.limits };
        let quick = Options { search: SearchId::Stateful, limits, ..options.clone() };
        let collector = Collector::new(program, options.model, monitors, options.stop_at_first);
        let searched = search(program, &quick, signal, collector, None)?;
        let is_enough = match searched.coverage {
            Coverage::Complete => true,
            Coverage::Stopped(reason) => {
                matches!(reason, StopReason::Violation | StopReason::Time | StopReason::Interrupted)
            }
        };
        if is_enough {
            return Ok(Some(searched));
        }
    }
    Ok(None)
}

/// What comes of searches that take little time where they suffice, before the one that was chosen.
fn try_what_is_cheap(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
) -> Result<Option<Outcome>, CheckError> {
    match options.search {
        SearchId::Stateful => try_what_is_small(program, options, signal),
        SearchId::Dpor if options.asks_for_robustness() => try_small_robustness(program, options, signal),
        _ => Ok(None),
    }
}

/// What comes of a search over states where they are few, or else of one over executions where these are.
fn try_what_is_small(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
) -> Result<Option<Outcome>, CheckError> {
    if !options.asks_for_robustness() {
        // Whoever sets a limit wants to know what it leaves out.
        if options.limits != Limits::default() {
            return Ok(None);
        }
        let limits = Limits { states: Some(auto::SOME_STATES), ..options.limits };
        let collector = Collector::new(program, options.model, &options.monitors, options.stop_at_first);
        let searched = search(program, &Options { limits, ..options.clone() }, signal, collector, None)?;
        if !matches!(searched.coverage, Coverage::Stopped(StopReason::States(_))) {
            return finish(program, options, searched).map(Some);
        }
    }
    match try_few_executions(program, options, signal)? {
        Some(searched) => finish(program, &Options { search: SearchId::Dpor, ..options.clone() }, searched).map(Some),
        None => Ok(None),
    }
}

/// What comes of robustness of a program without loops where it has few executions, or else few states.
///
/// Two threads with many accesses to one location have few states and very many executions.
fn try_small_robustness(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
) -> Result<Option<Outcome>, CheckError> {
    let limits = Limits { states: Some(auto::FEW_STATES), ..options.limits };
    let by_states = Options { search: SearchId::Stateful, limits, ..options.clone() };
    // Whoever sets a limit wants to know what it leaves out.
    if options.limits != Limits::default() || refuse_unfit(&by_states).is_err() || options.model == ModelId::Sc {
        return Ok(None);
    }
    if let Some(searched) = try_few_executions(program, options, signal)? {
        return finish(program, options, searched).map(Some);
    }
    let Ok(decided) = decide_robustness(program, &by_states, signal) else { return Ok(None) };
    let monitors: Vec<MonitorId> = options.monitors.iter().copied().filter(|id| !id.is_about_robustness()).collect();
    let collector = Collector::new(program, options.model, &monitors, options.stop_at_first);
    let mut searched = search(program, &by_states, signal, collector, None)?;
    searched.add(decided);
    let is_over = matches!(searched.coverage, Coverage::Complete | Coverage::Stopped(StopReason::Violation));
    let by_states = Options { limits: options.limits, ..by_states };
    if is_over { finish(program, &by_states, searched).map(Some) } else { Ok(None) }
}

/// Runs all executions, if there are few and they are short; a loop may have no end, or end soon.
fn try_few_executions(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
) -> Result<Option<Searched>, CheckError> {
    let fits = options.monitors.iter().all(|id| SearchId::Dpor.info().fits(id.info()));
    if !fits || dpor::unsupported(program).is_some() {
        return Ok(None);
    }
    let at_most = |limit: Option<u64>, few: u64| Some(limit.unwrap_or(few).min(few));
    let Limits { executions, steps, .. } = options.limits;
    let limits = Limits {
        executions: at_most(executions, auto::FEW_EXECUTIONS),
        steps: at_most(steps, auto::SHORT_EXECUTION),
        ..options.limits
    };
    let few = Options { search: SearchId::Dpor, limits, jobs: 1, ..options.clone() };
    let collector = Collector::new(program, options.model, &options.monitors, options.stop_at_first);
    let searched = search(program, &few, signal, collector, None)?;
    let is_over = matches!(searched.coverage, Coverage::Complete | Coverage::Stopped(StopReason::Violation));
    let is_done = is_over && !searched.is_in_doubt();
    Ok(is_done.then_some(searched))
}

/// What a search over states says of robustness: of those of sequential consistency, and where that does not do, of
/// those of the model.
fn decide_robustness(program: &Arc<Program>, options: &Options, signal: StopSignal<'_>) -> Result<Decided, CheckError> {
    if dpor::unsupported(program).is_some() {
        return search_model(program, options, signal);
    }
    let decided = robustness::decide(program, options.model, &options.limits, signal);
    let decided = decided.map_err(|unbounded| refused(program, unbounded))?;
    let in_doubt = decided.coverage == Coverage::Stopped(StopReason::Continuation);
    if in_doubt && decided.violations.is_empty() { search_model(program, options, signal) } else { Ok(decided) }
}

fn search_model(program: &Arc<Program>, options: &Options, signal: StopSignal<'_>) -> Result<Decided, CheckError> {
    let decided = robustness::search_model(program, options.model, &options.limits, signal);
    decided.map_err(|unbounded| refused(program, unbounded))
}

fn refused(program: &Program, Unbounded { variable }: Unbounded) -> CheckError {
    CheckError::Unbounded { program: program.name.clone(), variable }
}

/// Refuses robustness of a program whose steps access memory more than once, except by states.
fn refuse_undecided(program: &Program, options: &Options) -> Result<(), CheckError> {
    let by_states = options.search == SearchId::Stateful;
    match dpor::unsupported(program).filter(|_| options.asks_for_robustness() && !by_states) {
        Some(dpor::Unsupported { reason }) => {
            Err(CheckError::Undecided { program: program.name.clone(), search: options.search.info().name, reason })
        }
        None => Ok(()),
    }
}

/// The search that the options name, or the one that fits.
fn chosen(program: &Program, options: &Options) -> SearchId {
    match options.search {
        SearchId::Auto if options.asks_for_robustness() => SearchId::for_robustness(program),
        SearchId::Auto if options.monitors.contains(&MonitorId::Races) => SearchId::Mcr,
        SearchId::Auto => options.explored().visit(Choosing { program, limits: &options.limits }),
        named => named,
    }
}

struct Choosing<'c> {
    program: &'c Program,
    limits: &'c Limits,
}

impl ModelVisitor for Choosing<'_> {
    type Output = SearchId;

    fn visit<M: Model>(self) -> SearchId {
        auto::choose::<M>(self.program, self.limits)
    }
}

/// Estimates how many executions `dpor` would run, from at most `probes` of them, drawn by `seed`.
pub fn estimate(
    program: &Arc<Program>,
    model: ModelId,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Result<Estimate, CheckError> {
    refuse_unsupported(program)?;
    Ok(model.visit(Estimating { program, limits, probes, seed }))
}

struct Estimating<'e> {
    program: &'e Arc<Program>,
    limits: &'e Limits,
    probes: u64,
    seed: u64,
}

impl ModelVisitor for Estimating<'_> {
    type Output = Estimate;

    fn visit<M: Model>(self) -> Estimate {
        let subject = Interpreter::new(Arc::clone(self.program));
        dpor::estimate::<_, M>(&subject, self.limits, self.probes, self.seed)
    }
}

/// Refuses a program that `dpor` cannot take.
fn refuse_unsupported(program: &Program) -> Result<(), CheckError> {
    match dpor::unsupported(program) {
        Some(dpor::Unsupported { reason }) => {
            Err(CheckError::Unsupported { program: program.name.clone(), search: "dpor", reason })
        }
        None => Ok(()),
    }
}

/// Refuses a monitor that looks at more than the search shows.
fn refuse_unfit(options: &Options) -> Result<(), CheckError> {
    let search = options.search.info();
    for monitor in options.monitors.iter().map(|id| id.info()) {
        if let Watches::SequentialConsistency(models) = monitor.watches
            && !models.contains(&options.model)
        {
            return Err(CheckError::UnknownModel { monitor: monitor.name, model: options.model.info().name });
        }
        if !search.fits(monitor) {
            let fits = |s: &&SearchInfo| s.preserves.extent == Extent::All && s.fits(monitor);
            let fitting = SEARCHES.iter().find(fits);
            let instead = fitting.expect("brute force fits everything").name;
            return Err(CheckError::Unfit { monitor: monitor.name, search: search.name, instead });
        }
    }
    Ok(())
}

struct Search<'s> {
    program: &'s Arc<Program>,
    options: &'s Options,
    signal: StopSignal<'s>,
    collector: Collector,
    checkpoints: Option<&'s Checkpoints<'s>>,
}

/// What a search found before anything is replayed.
struct Searched {
    collector: Collector,
    coverage: Coverage,
    guarantee: Option<Guarantee>,
    fences_suffice: bool,
}

impl Searched {
    /// Whether delays were found, and it was given up to show that one of them counts.
    fn is_in_doubt(&self) -> bool {
        let found = self.collector.findings.iter().any(|found| found.relaxed.is_some());
        self.coverage.is_complete() && self.collector.constructor.gave_up && !found
    }

    /// Adds what a search over states says of robustness.
    fn add(&mut self, decided: Decided) {
        self.collector.stats.states += decided.states;
        self.fences_suffice = decided.fences_suffice;
        for Shown { finding, schedule, relaxed, seen } in decided.violations {
            let schedule = schedule.unwrap_or_else(|| Schedule::Steps(Vec::new()));
            let found = Found::of_states(MonitorId::Robustness, finding, schedule, relaxed, seen);
            self.collector.findings.push(found);
        }
        if self.coverage.is_complete() {
            self.coverage = decided.coverage;
        }
    }
}

impl ModelVisitor for Search<'_> {
    type Output = Result<Searched, CheckpointError>;

    fn visit<M: Model>(mut self) -> Self::Output {
        let Options { seed, depth, limits, .. } = *self.options;
        let samples = limits.executions.unwrap_or(Limits::SAMPLES);
        let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        Ok(match self.options.search {
            SearchId::Stateful => {
                let settings = stateful::Settings { limits, jobs: self.options.jobs, reduce: true };
                let coverage = stateful::search(&system, &mut self.collector, &settings, self.signal);
                Searched { collector: self.collector, coverage, guarantee: None, fences_suffice: true }
            }
            SearchId::Dpor => {
                let Options { model, jobs, monitors, stop_at_first, .. } = self.options;
                let collector = || Collector::new(self.program, *model, monitors, *stop_at_first);
                let settings = dpor::Settings { limits, jobs: *jobs };
                let of = || dpor::Searched::new(self.program, *model, monitors, limits.steps, *stop_at_first);
                let checkpoints = self.checkpoints.map(|checkpoints| (of(), checkpoints));
                let subject = system.subject();
                let (collector, coverage) =
                    dpor::search::<_, M>(subject, &collector, &settings, self.signal, checkpoints)?;
                Searched { collector, coverage, guarantee: None, fences_suffice: true }
            }
            SearchId::Mcr => {
                let settings = mcr::Settings::new(limits, self.options.jobs);
                let seen = self.program.locations_at_end();
                let coverage = mcr::search(&system, &seen, &mut self.collector, &settings, self.signal);
                Searched { collector: self.collector, coverage, guarantee: None, fences_suffice: true }
            }
            SearchId::Auto => unreachable!("a search was chosen before"),
            SearchId::Symbolic => {
                let settings = symbolic::Settings::new(limits);
                let subject = Interpreter::new(Arc::clone(self.program));
                let (coverage, _) = symbolic::search::<_, M>(subject, &mut self.collector, &settings, self.signal);
                Searched { collector: self.collector, coverage, guarantee: None, fences_suffice: true }
            }
            SearchId::Bounded => self.drive(system, &mut Bounded::new(limits.preemptions)),
            SearchId::Random => self.drive(system, &mut Random::new(seed, samples)),
            SearchId::Pct => {
                let mut pct = Pct::new::<M>(seed, depth, samples);
                let found = self.drive(system, &mut pct);
                Searched { guarantee: pct.guarantee(), ..found }
            }
            SearchId::Brute => self.drive(system, &mut Brute::default()),
        })
    }
}

impl Search<'_> {
    /// Runs one execution after the other.
    fn drive<M: Model>(mut self, mut system: System<Interpreter, M>, strategy: &mut dyn Strategy) -> Searched {
        let limits = &self.options.limits;
        let coverage = driver::run(&mut system, strategy, &mut self.collector, limits, self.signal);
        Searched { collector: self.collector, coverage, guarantee: None, fences_suffice: true }
    }
}
