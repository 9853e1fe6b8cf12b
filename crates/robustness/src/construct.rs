//! Makes an execution of the model that is not sequentially consistent out of a delay.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::Brute;
use teetotal_engine::{
    Abandon, Choice, Construct, Constructed, Limits, Schedule, StopReason, Strategy, System, counted, perform,
};
use teetotal_judge::monitors::robustness::Delay;
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, ModelId, ModelVisitor, Step, Trace, relations};
use teetotal_program::Value;
use teetotal_program::ir::{Instruction, Interpreter, Program};

use super::past::Past;
use super::plan::{Plan, Trial, plan};

/// How many continuations are tried before a delay is given up, and how long each may be.
const LIMITS: Limits = Limits {
    executions: Some(20_000),
    states: None,
    steps: Some(20_000),
    buffer: None,
    memory: None,
    preemptions: None,
    leaves_out_unrepeatable: false,
};

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
    gave_up: bool,
}

impl Constructor {
    #[must_use]
    pub fn new(program: &Arc<Program>, model: ModelId) -> Self {
        let code = program.threads.iter().flat_map(|thread| &thread.code);
        let assumes = program.filter.is_some() || code.into_iter().any(|i| matches!(i, Instruction::Assume { .. }));
        Constructor { program: Arc::clone(program), model, assumes, refused: BTreeSet::new(), gave_up: false }
    }

    /// Performs a plan; gives an execution that begins so, counts and is not sequentially consistent.
    fn perform(&mut self, plan: &Plan) -> Option<Vec<Step>> {
        let trace = self.model.visit_buffers(Attempt { program: &self.program, plan });
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
        let seen = self.model.visit_buffers(Continuing { program: &self.program, strategy: &mut strategy });
        self.gave_up |= seen.is_none() && Some(strategy.executions) >= LIMITS.executions;
        seen.map(|trace| trace.steps().iter().map(|record| record.step).collect())
    }
}

impl Construct for Constructor {
    fn construct(&mut self, trace: &Trace, delay: &Delay) -> Constructed {
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

    fn gave_up(&self) -> bool {
        self.gave_up
    }

    fn afresh(&self) -> Box<dyn Construct> {
        Box::new(Constructor::new(&self.program, self.model))
    }
}

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

/// Performs a plan as far as it is possible.
struct Attempt<'a> {
    program: &'a Arc<Program>,
    plan: &'a Plan,
}

impl ModelVisitor for Attempt<'_> {
    type Output = Trace;

    fn visit<M: Model>(self) -> Trace {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        perform(&mut system, &Schedule::Steps(self.plan.steps.clone())).trace
    }
}

/// Runs a strategy until it shows a maximal execution that counts and has a cycle.
struct Continuing<'c> {
    program: &'c Arc<Program>,
    strategy: &'c mut dyn Strategy,
}

impl ModelVisitor for Continuing<'_> {
    type Output = Option<Trace>;

    fn visit<M: Model>(self) -> Option<Trace> {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        let mut looked = Looked { program: self.program, found: None };
        driver::run(&mut system, self.strategy, &mut looked, &LIMITS, &|| None);
        looked.found
    }
}

struct Looked<'l> {
    program: &'l Program,
    found: Option<Trace>,
}

impl Observer for Looked<'_> {
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        let ending = counted(self.program, view.state, ending);
        let counts = ending != Ending::Discarded && !relations::is_sequentially_consistent(view.trace);
        if !counts {
            return Flow::Continue;
        }
        self.found = Some(view.trace.clone());
        Flow::Stop(StopReason::Violation)
    }
}
