//! The entry: a program, a model, a search, monitors.

use std::sync::Arc;

use teetotal_judge::{MONITORS, MonitorId, axiomatic};
use teetotal_memory::{Model, ModelId, ModelVisitor, Trace};
use teetotal_program::ir::{Interpreter, Program};
use thiserror::Error;

use crate::collector::Collector;
use crate::driver::{self, StopSignal};
use crate::limits::{LimitError, Limits};
use crate::outcome::{Coverage, Outcome, Violation};
use crate::replay::{Replayed, trace_of};
use crate::search::{SEARCHES, SearchId};
use crate::stateful;
use crate::stateless::Brute;
use crate::symbolic;
use crate::system::System;
use crate::token::Token;

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
}

impl Options {
    /// The default search with every monitor.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Options {
            model,
            search: SEARCHES[0].id,
            monitors: MONITORS.iter().map(|info| info.id).collect(),
            limits: Limits::default(),
            jobs: 1,
            stop_at_first: false,
        }
    }
}

/// Why nothing was checked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CheckError {
    #[error("`{program}` has no operation on shared memory, so there is nothing to check")]
    NothingToCheck { program: String },
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error("the number of jobs is 0")]
    NoJobs,
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
    if program.n_operations() == 0 {
        return Err(CheckError::NothingToCheck { program: program.name.clone() });
    }
    options.limits.validate()?;
    if options.jobs == 0 {
        return Err(CheckError::NoJobs);
    }
    refuse_unfit(options)?;
    let mut collector = Collector::new(program, &options.monitors, options.stop_at_first);
    let coverage = options.model.visit(Search { program, options, signal, collector: &mut collector });
    finish(program, options, collector, coverage)
}

/// Refuses a monitor that looks at more than the search shows.
fn refuse_unfit(options: &Options) -> Result<(), CheckError> {
    let search = options.search.info();
    for monitor in options.monitors.iter().map(|id| id.info()) {
        if !search.preserves.fits(monitor.needs) {
            let fitting = SEARCHES.iter().find(|s| s.preserves.fits(monitor.needs));
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
    collector: &'s mut Collector,
}

impl ModelVisitor for Search<'_> {
    type Output = Coverage;

    fn visit<M: Model>(self) -> Coverage {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        match self.options.search {
            SearchId::Stateful => {
                let Options { limits, jobs, .. } = *self.options;
                let settings = stateful::Settings { limits, jobs, reduce: true };
                stateful::search(&system, self.collector, &settings, self.signal)
            }
            SearchId::Brute => {
                let mut brute = Brute::default();
                driver::run(&mut system, &mut brute, self.collector, &self.options.limits, self.signal)
            }
            SearchId::Symbolic => {
                let settings = symbolic::Settings::new(self.options.limits);
                let subject = Interpreter::new(Arc::clone(self.program));
                symbolic::search::<_, M>(subject, self.collector, &settings, self.signal).0
            }
        }
    }
}

/// Replays every witness and every finding, so that each has the consent of the twin.
fn finish(
    program: &Arc<Program>,
    options: &Options,
    collector: Collector,
    coverage: Coverage,
) -> Result<Outcome, CheckError> {
    let Collector { states, satisfying, falsifying, findings, stats, .. } = collector;
    for witness in [&satisfying, &falsifying].into_iter().flatten() {
        let Replayed { trace, token, .. } = trace_of(program, options.model, witness);
        consult_twin(options.model, &trace, &token, program)?;
    }
    let mut violations = Vec::new();
    for (monitor, finding, schedule) in findings {
        let Replayed { trace, token, values, .. } = trace_of(program, options.model, &schedule);
        consult_twin(options.model, &trace, &token, program)?;
        violations.push(Violation { monitor, finding, schedule, trace, token, values });
    }
    Ok(Outcome {
        model: options.model,
        search: options.search,
        coverage,
        states,
        satisfying,
        falsifying,
        violations,
        stats,
    })
}

/// Asks the axiomatic twin whether it allows the execution too.
fn consult_twin(model: ModelId, trace: &Trace, token: &Token, program: &Program) -> Result<(), CheckError> {
    axiomatic::accepts(model, trace, |loc| program.locations[loc.index()].initial).map_err(|rejection| {
        CheckError::Disagreement { model: model.info().name, reason: rejection.to_string(), token: token.to_string() }
    })
}
