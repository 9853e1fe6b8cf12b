//! The search over states finds what brute force finds, and its reduction loses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::{Collector, Coverage, Limits, System};
use teetotal_judge::{Ending, Finding, MonitorId};
use teetotal_memory::Model;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Failure, ThreadId, Value};
use teetotal_stateful::{Reads, Remember, Settings, search_with};

use crate::everything::{Everything, difference, under_every_model};
use crate::{Case, Verdict};

/// Final states, deadlocks, failures, and the number of classes at every level.
pub(super) fn agree_with_brute_force(case: &Case) -> Verdict {
    under_every_model!(agree_under, case)
}

fn agree_under<M: Model>(case: &Case) -> Verdict {
    let (program, all) = (&case.program, case.everything::<M>());
    let outcome = check(program, &Options { search: SearchId::Stateful, ..Options::new(M::ID) }, &|| None)
        .map_err(|error| error.to_string())?;
    if outcome.coverage != Coverage::Complete {
        return Err(format!("the search stopped: {:?}", outcome.coverage));
    }
    let found: BTreeSet<&[Value]> = outcome.states.keys().map(Vec::as_slice).collect();
    difference(&found, &all.outcomes(), ("of the search", "of brute force"))?;

    let deadlocks: BTreeSet<Vec<ThreadId>> =
        all.ends.iter().filter(|end| end.kind == "blocked").map(|end| end.blocked.clone()).collect();
    let failures: BTreeSet<(ThreadId, Failure)> = all.failures.clone();
    let mut found_deadlocks = BTreeSet::new();
    let mut found_failures = BTreeSet::new();
    for violation in &outcome.violations {
        match &violation.finding {
            Finding::Deadlock { blocked } => drop(found_deadlocks.insert(blocked.clone())),
            Finding::Failure { thread, failure } => drop(found_failures.insert((*thread, *failure))),
            Finding::Condition | Finding::Race(_) | Finding::NotRobust(_) => {}
        }
    }
    difference(&found_deadlocks, &deadlocks, ("deadlocks of the search", "deadlocks of brute force"))?;
    difference(&found_failures, &failures, ("failures of the search", "failures of brute force"))?;
    for remember in [Remember::Values, Remember::ReadsFrom, Remember::Trace] {
        classes_agree::<M>(program, all, remember)?;
    }
    Ok(())
}

/// With what it read remembered, each class of executions is one end of the search.
fn classes_agree<M: Model>(program: &Arc<Program>, all: &Everything, remember: Remember) -> Verdict {
    let expected = match remember {
        Remember::Trace => all.traces.len(),
        _ => {
            let key = |trace: &teetotal_memory::Trace| match remember {
                Remember::Values => trace.values_key(),
                _ => trace.reads_from_key(),
            };
            all.traces.values().map(|(trace, _)| key(trace)).collect::<BTreeSet<_>>().len()
        }
    };
    let found = histories::<M>(program, remember, true).len();
    // The reads of locks are not remembered apart from the order of writes, and two ways to end may read the same.
    let exact = remember == Remember::Trace || !uses_locks(program);
    if exact && found != expected {
        return Err(format!("{found} classes of {remember:?}, brute force has {expected}"));
    }
    Ok(())
}

fn uses_locks(program: &Program) -> bool {
    use teetotal_program::ir::Instruction;
    let is_lock = |i: &Instruction| matches!(i, Instruction::Lock { .. } | Instruction::Unlock { .. });
    program.threads.iter().flat_map(|thread| &thread.code).any(is_lock)
}

/// What was remembered at each maximal state.
fn histories<M: Model>(program: &Arc<Program>, remember: Remember, reduce: bool) -> BTreeSet<String> {
    let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut ends = BTreeSet::new();
    let mut collector = Collector::new(program, M::ID, &[], false);
    let settings = Settings { limits: Limits::default(), jobs: 1, reduce };
    let history = Reads::new(remember, program.n_threads(), program.locations.len());
    search_with(&system, history, &mut collector, &settings, &|| None, &mut |history, _| {
        ends.insert(format!("{:?}", history.classes()));
    });
    ends
}

/// With and without reduction: the same final states, endings and findings.
pub(super) fn survive_reduction(case: &Case) -> Verdict {
    under_every_model!(survive_under, case)
}

fn survive_under<M: Model>(case: &Case) -> Verdict {
    let [reduced, full] = [true, false].map(|reduce| found::<M>(&case.program, reduce));
    difference(&reduced, &full, ("with reduction", "without"))
}

/// Everything that a search over states finds, as text.
fn found<M: Model>(program: &Arc<Program>, reduce: bool) -> BTreeSet<String> {
    let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut collector = Collector::new(program, M::ID, &MonitorId::defaults(), false);
    // Programs that spin under a buffered model may have no end of states.
    let limits = Limits { buffer: Some(6), ..Limits::default() };
    let settings = Settings { limits, jobs: 1, reduce };
    let mut found = BTreeSet::new();
    let forgetful = teetotal_stateful::Forgetful;
    search_with(&system, forgetful, &mut collector, &settings, &|| None, &mut |_, ending: &Ending| {
        found.insert(format!("{ending:?}"));
    });
    found.extend(collector.states.keys().map(|values| format!("{values:?}")));
    found.extend(collector.findings.iter().map(|found| format!("{:?} {:?}", found.monitor, found.finding)));
    found
}
