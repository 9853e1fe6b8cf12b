//! Makes an execution of the model that is not sequentially consistent out of a delay.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_judge::monitors::robustness::Delay;
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, ModelId, ModelVisitor, Step, Trace, relations};
use teetotal_program::Value;
use teetotal_program::ir::{Instruction, Interpreter, Program};

use super::past::Past;
use super::plan::{Plan, Trial, plan};
use crate::collector::counted;
use crate::driver::{self, Flow, Observer};
use crate::limits::Limits;
use crate::outcome::{Schedule, StopReason};
use crate::stateless::{Brute, Replay};
use crate::strategy::{Abandon, Choice, Strategy};
use crate::system::System;

/// How many continuations are tried before a delay is given up, and how long each may be.
const LIMITS: Limits = Limits { executions: Some(20_000), steps: Some(20_000), ..ONCE };

/// Makes executions of `model` out of delays.
#[derive(Debug)]
pub struct Constructor {
    program: Arc<Program>,
    model: ModelId,
    /// Whether an execution may not count in the end, because an assumption fails or the filter rejects it.
    assumes: bool,
    /// Executions that were found to lead to none that counts.
    refused: BTreeSet<Vec<Value>>,
    /// Whether it was ever given up to find a continuation.
    pub gave_up: bool,
}

/// What became of a delay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constructed {
    /// An execution of the model in which happens-before has a cycle.
    Execution(Vec<Step>),
    /// The access is not possible so early, or every execution that goes on from there is discarded.
    Impossible,
}

impl Constructor {
    #[must_use]
    pub fn new(program: &Arc<Program>, model: ModelId) -> Self {
        let code = program.threads.iter().flat_map(|thread| &thread.code);
        let assumes = program.filter.is_some() || code.into_iter().any(|i| matches!(i, Instruction::Assume { .. }));
        Constructor { program: Arc::clone(program), model, assumes, refused: BTreeSet::new(), gave_up: false }
    }

    /// Performs `delay`, which was seen in `trace`, an execution of sequential consistency.
    pub fn construct(&mut self, trace: &Trace, delay: &Delay) -> Constructed {
        let past = Past::before(trace, delay.access_at.thread, delay.index, self.model);
        let Some(store) = past.place_of(delay.store) else { return Constructed::Impossible };
        let code = &self.program.threads[delay.access_at.thread.index()].code;
        let is_store = matches!(code.get(delay.access_at.place as usize), Some(Instruction::Store { .. }));
        for trial in Trial::all(&past, delay, store) {
            if let Some(plan) = plan(self.model, &past, delay, is_store, trial)
                && let Some(steps) = self.perform(&plan)
            {
                return Constructed::Execution(steps);
            }
        }
        Constructed::Impossible
    }

    /// Performs a plan; gives an execution that begins so, counts and is not sequentially consistent.
    fn perform(&mut self, plan: &Plan) -> Option<Vec<Step>> {
        let schedule = Schedule::Steps(plan.steps.clone());
        let mut strategy = Replay::of_schedule(&schedule);
        let run = Run { program: &self.program, strategy: &mut strategy, limits: &ONCE, ends: false };
        let trace = self.model.visit(run)?;
        if trace.steps().len() < plan.steps.len() || relations::is_sequentially_consistent(&trace) {
            return None;
        }
        if !self.assumes {
            return Some(plan.steps.clone());
        }
        let key = trace.key();
        if self.refused.contains(&key) {
            return None;
        }
        let found = self.continuation(&plan.steps[..plan.until_access]);
        if found.is_none() {
            self.refused.insert(key);
        }
        found
    }

    /// An execution that begins with these steps, counts, and is not sequentially consistent.
    fn continuation(&mut self, prefix: &[Step]) -> Option<Vec<Step>> {
        let mut strategy = Prefixed { prefix, brute: Brute::default(), executions: 0 };
        let run = Run { program: &self.program, strategy: &mut strategy, limits: &LIMITS, ends: true };
        let seen = self.model.visit(run);
        self.gave_up |= seen.is_none() && Some(strategy.executions) >= LIMITS.executions;
        seen.map(|trace| trace.steps().iter().map(|record| record.step).collect())
    }
}

/// One execution, however long.
const ONCE: Limits = Limits {
    executions: None,
    states: None,
    steps: None,
    buffer: None,
    memory: None,
    preemptions: None,
    leaves_out_unrepeatable: false,
};

/// Takes given steps and then every continuation.
struct Prefixed<'p> {
    prefix: &'p [Step],
    brute: Brute,
    executions: u64,
}

impl Strategy for Prefixed<'_> {
    fn begin(&mut self) -> bool {
        self.executions += 1;
        self.brute.begin()
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        match self.prefix.get(trace.steps().len()) {
            None => self.brute.choose(enabled, trace),
            Some(step) => match enabled.iter().position(|e| e == step) {
                Some(index) => Choice::Take(index),
                None => Choice::Abandon(Abandon::NotPossible),
            },
        }
    }

    fn end(&mut self, trace: &Trace) {
        self.brute.end(trace);
    }
}

/// Runs a strategy until it shows what is looked for.
struct Run<'r> {
    program: &'r Arc<Program>,
    strategy: &'r mut dyn Strategy,
    limits: &'r Limits,
    /// Whether a maximal execution that counts and has a cycle is looked for, or just the first.
    ends: bool,
}

impl ModelVisitor for Run<'_> {
    type Output = Option<Trace>;

    fn visit<M: Model>(self) -> Option<Trace> {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        let mut looked = Looked { program: self.program, ends: self.ends, found: None };
        driver::run(&mut system, self.strategy, &mut looked, self.limits, &|| None);
        looked.found
    }
}

struct Looked<'l> {
    program: &'l Program,
    ends: bool,
    found: Option<Trace>,
}

impl Observer for Looked<'_> {
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        let ending = counted(self.program, view.state, ending);
        let counts = ending != Ending::Discarded && !relations::is_sequentially_consistent(view.trace);
        if self.ends && !counts {
            return Flow::Continue;
        }
        self.found = Some(view.trace.clone());
        Flow::Stop(StopReason::Violation)
    }

    fn abandoned(&mut self, view: &View<'_>, reason: Abandon) {
        if !self.ends && reason == Abandon::EndOfSchedule {
            self.found = Some(view.trace.clone());
        }
    }
}
