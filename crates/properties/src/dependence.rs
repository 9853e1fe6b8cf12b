//! The dependence of steps tells executions apart exactly as their traces do.

use std::collections::{BTreeMap, BTreeSet};

use teetotal_memory::dependence::depends;
use teetotal_memory::{Model, Trace};
use teetotal_program::Value;
use teetotal_program::ir::{Instruction, Program};

use crate::everything::under_every_model;
use crate::{Case, Verdict, has_exclusive};

/// With more executions than this, a program is too large for a comparison of all pairs of steps.
const MAX_EXECUTIONS: u64 = 3_000;

/// Two executions have the same trace exactly when they order the same dependent steps alike.
pub(super) fn agrees_with_traces(case: &Case) -> Verdict {
    under_every_model!(agrees_under, case)
}

fn agrees_under<M: Model>(case: &Case) -> Verdict {
    case.everything::<M>().dependence.clone()
}

/// The classes of executions by the dependence of their steps.
pub(super) struct Classes {
    by_key: BTreeMap<Vec<Value>, Vec<u64>>,
    executions: u64,
    /// Dependence may tell more apart than traces do: when a global fence came is not part of a trace.
    finer: bool,
    /// Dependence does not know of exclusive regions, whose steps depend on everything outside.
    skip: bool,
    verdict: Verdict,
}

impl Classes {
    pub(super) fn new(program: &Program) -> Self {
        let instructions = || program.threads.iter().flat_map(|thread| &thread.code);
        let finer = instructions().any(|instruction| *instruction == Instruction::GlobalFence);
        Classes { by_key: BTreeMap::new(), executions: 0, finer, skip: has_exclusive(program), verdict: Ok(()) }
    }

    /// Takes in an execution.
    pub(super) fn add<M: Model>(&mut self, trace: &Trace, key: &[Value]) {
        self.executions += 1;
        if self.skip || self.executions > MAX_EXECUTIONS || self.verdict.is_err() {
            return;
        }
        let signature = signature(trace, depends::<M>);
        match self.by_key.get(key) {
            Some(known) if *known != signature && !self.finer => {
                self.verdict = Err(format!("one trace, two classes of dependence: {:?}", trace.steps()));
            }
            Some(_) => {}
            None => drop(self.by_key.insert(key.to_vec(), signature)),
        }
    }

    pub(super) fn verdict(self) -> Verdict {
        let signatures: BTreeSet<&Vec<u64>> = self.by_key.values().collect();
        if signatures.len() < self.by_key.len() {
            return Err("one class of dependence, two traces".to_owned());
        }
        self.verdict
    }
}

/// Every ordered pair of dependent steps, with steps named independently of the interleaving, sorted.
pub(super) fn signature(trace: &Trace, depends: impl Fn(&Trace, usize, usize) -> bool) -> Vec<u64> {
    let name = |position: usize| {
        let record = &trace.steps()[position];
        let event = trace.event(record.event);
        u64::from(event.thread.0) << 24 | u64::from(event.index) << 1 | u64::from(record.step.is_commit())
    };
    let n = trace.steps().len();
    let pairs = (0..n).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let dependent = pairs.filter(|&(earlier, later)| depends(trace, earlier, later));
    let mut signature: Vec<u64> = dependent.map(|(earlier, later)| name(earlier) << 32 | name(later)).collect();
    // What the alternatives of choices were is part of the class, although nothing depends on it.
    signature.extend(trace.steps().iter().enumerate().map(|(position, record)| match record.step {
        teetotal_memory::Step::Issue { alternative, .. } => 1 << 63 | name(position) << 16 | u64::from(alternative),
        teetotal_memory::Step::Commit { .. } => 1 << 63 | name(position) << 16,
    }));
    signature.sort_unstable();
    signature
}
