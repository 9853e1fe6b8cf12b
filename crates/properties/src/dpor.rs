//! Dynamic partial-order reduction runs every trace, and each once.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_dpor as dpor;
use teetotal_engine::{Limits, Schedule, trace_of};
use teetotal_memory::Model;
use teetotal_program::Value;
use teetotal_program::ir::Interpreter;

use crate::everything::under_every_model;
use crate::{Case, Verdict};

pub(super) fn runs_each_trace_once(case: &Case) -> Verdict {
    if dpor::unsupported(&case.program).is_some() {
        return Ok(());
    }
    under_every_model!(agrees, case)
}

fn agrees<M: Model>(case: &Case) -> Verdict {
    let mut seen: BTreeMap<Vec<Value>, u32> = BTreeMap::new();
    let mut run = |steps| {
        let again = trace_of(&case.program, M::ID, &Schedule::Steps(steps));
        *seen.entry(again.trace.key()).or_default() += 1;
    };
    let subject = Interpreter::new(Arc::clone(&case.program));
    dpor::visit(M::ID, &subject, &Limits::default(), &mut run);
    let all = &case.everything::<M>().traces;
    let missed: Vec<String> = all
        .iter()
        .filter(|(key, _)| !seen.contains_key(*key))
        .map(|(_, (trace, end))| format!("{:?} {end:?}", trace.steps().iter().map(|s| s.step).collect::<Vec<_>>()))
        .collect();
    if let Some(first) = missed.first() {
        return Err(format!("{} of {} traces missed: {first}", missed.len(), all.len()));
    }
    if let Some((key, times)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("a trace is run {times} times: {:?}", all.get(key).map(|(_, end)| end)));
    }
    match seen.keys().find(|key| !all.contains_key(*key)) {
        Some(_) => Err("a trace is run that brute force does not know".to_owned()),
        None => Ok(()),
    }
}
