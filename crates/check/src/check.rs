//! The entry: a program, a model, a search, monitors.

mod robustness;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_dpor as dpor;
use teetotal_dpor::{Checkpoints, Estimate};
use teetotal_engine::auto::{Asked, Attempt, Plan};
use teetotal_engine::driver::{Progress, Signal, StopSignal};
use teetotal_engine::search::Takes;
use teetotal_engine::{
    Collector, Coverage, Found, Limits, Schedule, SearchId, SearchInfo, StopReason, named, undefined, unsupported,
};
use teetotal_judge::{Extent, MonitorId};
use teetotal_memory::ModelId;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_robustness::{Decided, Shown};

use crate::finish::finish;
use crate::options::{CheckError, Options};
use crate::outcome::Outcome;
use crate::programs::{Gathered, ProgramTask, search_of};

/// Searches the executions of `program`.
pub fn check(program: &Arc<Program>, options: &Options, signal: StopSignal<'_>) -> Result<Outcome, CheckError> {
    check_with(program, options, signal, None)
}

/// As [`check`], with checkpoints, from which a search that was stopped or killed goes on as if nothing had happened.
pub fn check_with(
    program: &Arc<Program>,
    options: &Options,
    signal: StopSignal<'_>,
    checkpoints: Option<&Checkpoints<'_>>,
) -> Result<Outcome, CheckError> {
    let asked = Check { program, options, signal, checkpoints };
    asked.refuse_misuse()?;
    let plan = asked.plan();
    asked.refuse(plan.main.search)?;
    let (attempt, searched) = asked.carry_out(&plan)?;
    finish(program, options, &attempt, searched)
}

/// A program, and what is asked about it.
#[derive(Clone, Copy)]
struct Check<'c> {
    program: &'c Arc<Program>,
    options: &'c Options,
    signal: StopSignal<'c>,
    checkpoints: Option<&'c Checkpoints<'c>>,
}

impl Check<'_> {
    /// Refuses what no search answers.
    fn refuse_misuse(&self) -> Result<(), CheckError> {
        let Check { program, options, .. } = self;
        // A condition asks about the final state, which there is even if no thread accesses memory.
        if program.n_operations() == 0 && program.condition.is_none() {
            return Err(CheckError::NothingToCheck { program: program.name.clone() });
        }
        if let Some(it) = undefined(program, options.model) {
            let (program, model) = (program.name.clone(), options.model.info().name);
            return Err(CheckError::Undefined { program, model, reason: it.reason });
        }
        options.limits.validate()?;
        match options {
            Options { jobs: 0, .. } => Err(CheckError::NoJobs),
            Options { depth: 0, .. } => Err(CheckError::NoDepth),
            _ => match options.search.info() {
                SearchInfo { name, programs: Takes::No(reason), .. } => {
                    Err(CheckError::NoPrograms { search: name, reason })
                }
                _ => Ok(()),
            },
        }
    }

    /// What is tried: the search that was asked for, or what the policy says.
    fn plan(&self) -> Plan {
        let options = self.options;
        if options.search != SearchId::Auto {
            return Plan::only(options.search, &options.limits, "it was requested");
        }
        let fits = |search: SearchId| options.monitors.iter().all(|id| search.info().fits(id.info()));
        let question = options.question();
        let plan = Plan::of(&Asked {
            program: self.program,
            explored: question.explored(),
            limits: &options.limits,
            robustness: question.is_robustness(),
            races: options.monitors.contains(&MonitorId::Races),
            stop_at_first: options.stop_at_first,
            fits_dpor: fits(SearchId::Dpor),
            fits_mcr: fits(SearchId::Mcr),
            fits_states: fits(SearchId::Stateful),
        });
        // Only the main search has checkpoints.
        if self.checkpoints.is_some() { Plan { first: Vec::new(), last: Vec::new(), ..plan } } else { plan }
    }

    /// Refuses what `search` does not answer.
    fn refuse(&self, search: SearchId) -> Result<(), CheckError> {
        let Check { program, options, checkpoints, .. } = self;
        refuse_unfit(options, search)?;
        let name = search.name();
        let of_traces = unsupported(program).filter(|_| options.question().is_robustness());
        if let Some(it) = of_traces.filter(|_| search != SearchId::Stateful) {
            return Err(CheckError::Undecided { program: program.name.clone(), search: name, reason: it.reason });
        }
        let limits = &options.limits;
        if let Some(it) = search_of(search).refusal(&self.task(search, limits, &options.monitors)) {
            return Err(CheckError::Unsupported { program: program.name.clone(), search: name, reason: it.reason });
        }
        if checkpoints.is_some() && search != SearchId::Dpor {
            return Err(CheckError::NoCheckpoints { search: name });
        }
        match options.monitors.iter().find(|id| checkpoints.is_some() && id.is_about_robustness()) {
            Some(id) => Err(CheckError::NotKept { monitor: id.info().name }),
            None => Ok(()),
        }
    }

    /// Tries what the plan says; returns the attempt whose answer counts.
    fn carry_out(&self, plan: &Plan) -> Result<(Attempt, Searched), CheckError> {
        for attempt in &plan.first {
            if let Some(searched) = self.answer(attempt)? {
                return Ok((attempt.clone(), searched));
            }
        }
        let main = self.search(&plan.main)?;
        if matches!(main.coverage, Coverage::Stopped(StopReason::UnboundedLoop { .. })) {
            for attempt in &plan.last {
                if let Some(searched) = self.answer(attempt)? {
                    return Ok((attempt.clone(), searched));
                }
            }
        }
        Ok((plan.main.clone(), main))
    }

    /// What `attempt` finds, if that is an answer.
    fn answer(&self, attempt: &Attempt) -> Result<Option<Searched>, CheckError> {
        let searched = match self.search_once(attempt) {
            // The main search refuses it, or has an answer of its own.
            Err(CheckError::Unbounded { .. }) => return Ok(None),
            searched => searched?,
        };
        let is_answer = attempt.is_answered_by(&searched.coverage) && !searched.is_in_doubt();
        Ok(is_answer.then_some(searched))
    }

    /// What `attempt` finds; where executions do not decide robustness, states do.
    fn search(&self, attempt: &Attempt) -> Result<Searched, CheckError> {
        let mut searched = self.search_once(attempt)?;
        if searched.is_in_doubt() && self.options.monitors.contains(&MonitorId::Robustness) {
            searched.collector.gave_up = false;
            searched.add(self.search_model(&attempt.limits)?);
        }
        Ok(searched)
    }

    fn search_once(&self, attempt: &Attempt) -> Result<Searched, CheckError> {
        if attempt.search == SearchId::Stateful && self.options.question().is_robustness() {
            return self.search_states_for_robustness(attempt);
        }
        self.gather(attempt, &self.options.monitors)
    }

    /// Shows executions to `monitors`, and names the steps of what they found.
    fn gather(&self, attempt: &Attempt, monitors: &[MonitorId]) -> Result<Searched, CheckError> {
        let jobs = if attempt.is_small { 1 } else { self.options.jobs };
        let patience = Patience { signal: self.signal, looks: AtomicU64::new(0), limit: attempt.looks };
        let task = ProgramTask { jobs, signal: &patience, ..self.task(attempt.search, &attempt.limits, monitors) };
        let Gathered { mut collector, coverage, guarantee } = search_of(attempt.search).run(&task)?;
        let Collector { satisfying, falsifying, findings, .. } = &mut collector;
        let places = findings.iter_mut().map(|found| &mut found.place);
        for schedule in places.chain(satisfying).chain(falsifying) {
            let found = std::mem::replace(schedule, Schedule::Steps(Vec::new()));
            *schedule = named(self.program, task.explored, &attempt.limits, found);
        }
        Ok(Searched { collector, coverage, guarantee, fences_suffice: true })
    }

    fn task<'t>(&'t self, search: SearchId, limits: &Limits, monitors: &'t [MonitorId]) -> ProgramTask<'t> {
        let Options { model, stop_at_first, jobs, seed, depth, .. } = *self.options;
        ProgramTask {
            program: self.program,
            model,
            explored: self.options.question().explored(),
            monitors,
            stop_at_first,
            limits: *limits,
            jobs,
            seed,
            depth,
            signal: self.signal,
            checkpoints: self.checkpoints.filter(|_| search == SearchId::Dpor),
        }
    }
}

/// The signal of an attempt, which also gives it up for the next one.
struct Patience<'p> {
    signal: StopSignal<'p>,
    looks: AtomicU64,
    limit: Option<u64>,
}

impl Signal for Patience<'_> {
    fn stop(&self, progress: Progress) -> Option<StopReason> {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        let is_over = self.limit.is_some_and(|limit| looks >= limit);
        self.signal.stop(progress).or(is_over.then_some(StopReason::Superseded))
    }
}

/// What a search found before anything is replayed.
pub(crate) struct Searched {
    pub(crate) collector: Collector,
    pub(crate) coverage: Coverage,
    pub(crate) guarantee: Option<teetotal_engine::stateless::Guarantee>,
    pub(crate) fences_suffice: bool,
}

impl Searched {
    /// Whether delays were found, and none of them could be shown to count.
    fn is_in_doubt(&self) -> bool {
        let found = self.collector.findings.iter().any(|found| found.relaxed.is_some());
        self.coverage.is_complete() && self.collector.gave_up && !found
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

/// Refuses a model that the search does not take, and a monitor that looks at more than it shows.
fn refuse_unfit(options: &Options, search: SearchId) -> Result<(), CheckError> {
    let search = search.info();
    if let Takes::No(reason) = search.takes(options.model) {
        return Err(CheckError::NoPrograms { search: search.name, reason });
    }
    for monitor in options.monitors.iter().map(|id| id.info()) {
        if !monitor.watches.knows(options.model) {
            return Err(CheckError::UnknownModel { monitor: monitor.name, model: options.model.info().name });
        }
        if !search.fits(monitor) {
            let fits = |s: &&SearchInfo| s.preserves.extent == Extent::All && s.fits(monitor);
            let instead = SearchInfo::of_programs().find(fits).expect("brute force fits everything").name;
            return Err(CheckError::Unfit { monitor: monitor.name, search: search.name, instead });
        }
    }
    Ok(())
}

/// Estimates how many executions `dpor` would run, from at most `probes` of them, drawn by `seed`.
pub fn estimate(
    program: &Arc<Program>,
    model: ModelId,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Result<Estimate, CheckError> {
    if let Some(it) = unsupported(program) {
        let search = SearchId::Dpor.name();
        return Err(CheckError::Unsupported { program: program.name.clone(), search, reason: it.reason });
    }
    let subject = Interpreter::new(Arc::clone(program));
    Ok(dpor::estimate(model, &subject, limits, probes, seed))
}
