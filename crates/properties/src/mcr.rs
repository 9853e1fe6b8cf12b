//! Maximal causality reduction finds the values that brute force finds, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::{Limits, System};
use teetotal_judge::Finding;
use teetotal_mcr::{Settings, visit};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Op, Status, Subject, ThreadId, Value};

use crate::everything::{difference, under_every_model};
use crate::{Case, Verdict};

pub(super) fn finds_each_class_once(case: &Case) -> Verdict {
    under_every_model!(agrees, case)
}

fn agrees<M: Model>(case: &Case) -> Verdict {
    let all: BTreeSet<Class> = {
        let traces = case.everything::<M>().traces.values();
        traces.map(|(trace, _)| class_of::<M>(&case.program, trace.steps().iter().map(|record| record.step))).collect()
    };
    let mut seen: BTreeMap<Class, u32> = BTreeMap::new();
    let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(&case.program)));
    let executions = |settings: &Settings| {
        let mut executions = Vec::new();
        visit(&system, &case.program.locations_at_end(), settings, &mut |steps| executions.push(steps));
        executions
    };
    let alone = Settings::new(Limits::default(), 1);
    let by_one = executions(&alone);
    if executions(&Settings { jobs: 4, alone: 0, ..alone }) != by_one {
        return Err("four workers show other executions than one, or in another order".to_owned());
    }
    for steps in by_one {
        *seen.entry(class_of::<M>(&case.program, steps.into_iter())).or_default() += 1;
    }
    if let Some((class, times)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("a class is run {times} times: {class:?}"));
    }
    difference(&seen.into_keys().collect(), &all, ("of the search", "of brute force"))?;
    findings_agree::<M>(case)
}

/// The final states, deadlocks and failures that are reported are those of brute force.
fn findings_agree<M: Model>(case: &Case) -> Verdict {
    let all = case.everything::<M>();
    let options = Options { search: SearchId::Mcr, minimize: false, ..Options::new(M::ID) };
    let outcome = check(&case.program, &options, &|| None).map_err(|error| error.to_string())?;
    let states: BTreeSet<&[Value]> = outcome.states.keys().map(Vec::as_slice).collect();
    difference(&states, &all.outcomes(), ("of the search", "of brute force"))?;
    let mut expected: BTreeSet<String> = all.failures.iter().map(|failure| format!("{failure:?}")).collect();
    let blocked = all.ends.iter().filter(|end| end.kind == "blocked");
    expected.extend(blocked.map(|end| format!("{:?}", end.blocked)));
    let found = outcome.violations.iter().filter_map(|violation| match &violation.finding {
        Finding::Deadlock { blocked } => Some(format!("{blocked:?}")),
        Finding::Failure { thread, failure } => Some(format!("{:?}", (thread, failure))),
        _ => None,
    });
    difference(&found.collect(), &expected, ("found by the search", "found by brute force"))
}

/// What each thread read and how many operations it performed, and what memory holds at the end where somebody looks.
pub(super) type Class = (Vec<(Vec<Value>, usize)>, Vec<(Loc, Value)>);

/// The class of an execution, by its definition.
pub(super) fn class_of<M: Model>(program: &Arc<Program>, steps: impl Iterator<Item = Step>) -> Class {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut trace = Trace::default();
    for step in steps {
        system.perform(step, &mut trace);
    }
    let threads = (0..program.n_threads()).map(ThreadId::at).map(|thread| {
        let own = || trace.events().iter().filter(|event| event.thread == thread);
        (own().filter_map(|event| event.read).collect(), own().count())
    });
    let mut seen = program.locations_at_end();
    let subject = system.subject();
    for thread in (0..program.n_threads()).map(ThreadId::at) {
        match subject.status(thread) {
            Status::Ready(Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Lock { loc, .. }) => seen.push(loc),
            Status::Ready(Op::Await { .. }) => subject.awaited(thread, &mut seen),
            _ => {}
        }
    }
    seen.sort_unstable();
    seen.dedup();
    (threads.collect(), seen.into_iter().map(|loc| (loc, system.machine().memory(loc))).collect())
}
