//! The search by annotations finds who reads from whom as brute force does, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use teetotal_dpor as dpor;
use teetotal_engine::driver::Flow;
use teetotal_engine::{Execution, Limits, Move, Schedule, trace_of};
use teetotal_memory::{Model, Trace};
use teetotal_program::ir::Interpreter;
use teetotal_program::{ThreadId, Value};
use teetotal_rf as rf;

use crate::everything::{End, difference, under_every_model};
use crate::{Case, Verdict};

pub(super) fn finds_each_class_once(case: &Case) -> Verdict {
    if dpor::unsupported(&case.program).is_some() {
        return Ok(());
    }
    under_every_model!(agrees, case)
}

/// Who reads from whom, how many operations each thread performed, and who waits for good.
type Class = (Vec<Value>, Vec<usize>, &'static str, Vec<ThreadId>);

fn class(trace: &Trace, end: &End) -> Class {
    let performed = |thread: usize| trace.events().iter().filter(|event| event.thread.index() == thread).count();
    let counts = (0..trace.n_threads()).map(performed).collect();
    (trace.reads_from_key(), counts, end.kind, end.blocked.clone())
}

fn agrees<M: Model>(case: &Case) -> Verdict {
    let all: BTreeSet<Class> = case.everything::<M>().traces.values().map(|(trace, end)| class(trace, end)).collect();
    let mut seen: BTreeMap<Class, u32> = BTreeMap::new();
    let mut each = |leaf: &Execution<'_, Interpreter>| {
        let steps = leaf.moves().into_iter().map(Move::step).collect();
        let trace = trace_of(&case.program, M::ID, &Schedule::Steps(steps)).trace;
        *seen.entry(class(&trace, &End::new(&leaf.ending, Vec::new()))).or_default() += 1;
        Flow::Continue
    };
    let subject = Interpreter::new(Arc::clone(&case.program));
    let result = rf::watch::<_, M>(subject, &Limits::default(), &|| None, &mut each);
    match result {
        Ok((_, coverage)) if coverage.is_complete() => {}
        other => return Err(format!("it does not end: {other:?}")),
    }
    if let Some((class, times)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("a class is run {times} times: {class:?}"));
    }
    difference(&seen.into_keys().collect(), &all, ("of the search", "of brute force"))
}
