//! RC11 as a model: machine, axioms and the search for graphs agree, and it is SC where everything is `SeqCst`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_dpor as dpor;
use teetotal_engine::driver::{self, Flow, Observer, values};
use teetotal_engine::stateless::Brute;
use teetotal_engine::{Coverage, Limits, Schedule, System, trace_of, undefined};
use teetotal_judge::axiomatic::{EnumerateError, accepts, enumerate};
use teetotal_judge::{Ending, View};
use teetotal_memory::models::{Rc11, Sc};
use teetotal_memory::{Model, ModelId, Trace};
use teetotal_program::ir::{Instruction, Interpreter, Program, Update};
use teetotal_program::{OnFailure, Order, Value};

use crate::everything::{End, difference};
use crate::{Case, Verdict};

/// More executions than this are not run one by one.
const MOST: u64 = 60_000;

/// Every execution of `program` under `M` by brute force, unless there are too many.
fn brute<M: Model>(program: &Arc<Program>) -> Option<BTreeMap<Vec<Value>, (Trace, End)>> {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut all = All { program, traces: BTreeMap::new() };
    let limits = Limits { executions: Some(MOST), ..Limits::default() };
    let coverage = driver::run(&mut system, &mut Brute::default(), &mut all, &limits, &|| None);
    (coverage == Coverage::Complete).then_some(all.traces)
}

struct All<'p> {
    program: &'p Program,
    traces: BTreeMap<Vec<Value>, (Trace, End)>,
}

impl Observer for All<'_> {
    fn step(&mut self, _: &View<'_>) -> Flow {
        Flow::Continue
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        let end = End::new(ending, values(view.state, &self.program.observed));
        self.traces.entry(view.trace.key()).or_insert_with(|| (view.trace.clone(), end));
        Flow::Continue
    }
}

/// The axiomatic model accepts what the machine does, and where it can enumerate, finds the same.
pub(super) fn are_those_of_the_axioms(case: &Case) -> Verdict {
    let program = &case.program;
    if undefined(program, ModelId::Rc11).is_some() {
        return Ok(());
    }
    let Some(all) = brute::<Rc11>(program) else { return Ok(()) };
    for (trace, _) in all.values() {
        accepts(ModelId::Rc11, trace, |loc| program.locations[loc.index()].initial)
            .map_err(|rejection| format!("the axioms reject an execution of the machine: {rejection}"))?;
    }
    let executions = match enumerate(ModelId::Rc11, program, usize::MAX) {
        Ok(executions) => executions,
        Err(EnumerateError::Loop { .. } | EnumerateError::Exclusive { .. } | EnumerateError::SpawnedTwice { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    let keys: Vec<Vec<Value>> = executions.iter().map(|execution| execution.trace.key()).collect();
    let by_axioms: BTreeSet<&Vec<Value>> = keys.iter().collect();
    if by_axioms.len() < keys.len() {
        return Err("the axioms enumerate a graph twice".to_owned());
    }
    difference(&all.keys().collect(), &by_axioms, ("of the machine", "of the axioms"))
}

/// `dpor` runs every execution graph, and each once.
pub(super) fn are_run_once(case: &Case) -> Verdict {
    let program = &case.program;
    if undefined(program, ModelId::Rc11).is_some() {
        return Ok(());
    }
    let Some(all) = brute::<Rc11>(program) else { return Ok(()) };
    let mut seen: BTreeMap<Vec<Value>, u32> = BTreeMap::new();
    let subject = Interpreter::new(Arc::clone(program));
    dpor::visit(ModelId::Rc11, &subject, &Limits::default(), &mut |steps| {
        let again = trace_of(program, ModelId::Rc11, &Schedule::Steps(steps));
        *seen.entry(again.trace.key()).or_default() += 1;
    });
    if let Some(missed) = all.iter().find(|(key, _)| !seen.contains_key(*key)).map(|(_, (trace, end))| (trace, end)) {
        let n_missed = all.keys().filter(|key| !seen.contains_key(*key)).count();
        let steps: Vec<_> = missed.0.steps().iter().map(|record| record.step).collect();
        return Err(format!("{n_missed} of {} graphs missed: {steps:?} {:?}", all.len(), missed.1));
    }
    if let Some((_, times)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("a graph is run {times} times"));
    }
    if seen.len() > all.len() {
        return Err("a graph is run that brute force does not know".to_owned());
    }
    let options = Options { search: SearchId::Dpor, ..Options::new(ModelId::Rc11) };
    let outcome = check(program, &options, &|| None).map_err(|error| error.to_string())?;
    let ends = all.values().map(|(_, end)| end).filter(|end| end.kind == "completed");
    let states: BTreeSet<&Vec<Value>> = ends.map(|end| &end.values).collect();
    difference(&outcome.states.keys().collect(), &states, ("of dpor", "of brute force"))
}

/// Where every operation is `SeqCst`, RC11 has the executions of SC.
pub(super) fn are_those_of_sc_if_all_is_seq_cst(case: &Case) -> Verdict {
    let mut code = case.program.threads.iter().flat_map(|thread| &thread.code);
    // What waits has no ordering that could be `SeqCst`.
    let waits = code.any(|instruction| matches!(instruction, Instruction::Await { .. }));
    if waits || undefined(&case.program, ModelId::Rc11).is_some() {
        return Ok(());
    }
    let mut program = Program::clone(&case.program);
    program.threads.iter_mut().flat_map(|thread| &mut thread.code).for_each(strengthen);
    let program = Arc::new(program);
    let (Some(sc), Some(rc11)) = (brute::<Sc>(&program), brute::<Rc11>(&program)) else { return Ok(()) };
    difference(&rc11.keys().collect(), &sc.keys().collect(), ("of rc11", "of sc"))
}

fn strengthen(instruction: &mut Instruction) {
    match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Fence { order }
        | Instruction::Lock { order, .. }
        | Instruction::Unlock { order, .. } => *order = Order::SeqCst,
        Instruction::Rmw { update, order, .. } => {
            *order = Order::SeqCst;
            if let Update::CompareExchange { on_failure, .. } | Update::When { on_failure, .. } = update {
                *on_failure = match on_failure {
                    OnFailure::Load(_) => OnFailure::Load(Order::SeqCst),
                    OnFailure::Locked => OnFailure::Locked,
                };
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use teetotal_generate::program;

    use super::*;

    /// Machine, axioms and `dpor` have this many graphs of `text`.
    #[track_caller]
    fn has_graphs(text: &str, expected: usize) {
        let program = Arc::new(program(text));
        let machine = brute::<Rc11>(&program).expect("there are few executions").len();
        let axioms = enumerate(ModelId::Rc11, &program, usize::MAX).expect("there is no loop").len();
        let mut by_dpor = 0;
        let subject = Interpreter::new(Arc::clone(&program));
        dpor::visit(ModelId::Rc11, &subject, &Limits::default(), &mut |_| by_dpor += 1);
        assert_eq!([machine, axioms, by_dpor], [expected; 3], "{text}");
    }

    /// With program order on one location around happens-before there would be 22. [RC11, §2]
    #[test]
    fn psc_has_program_order_between_different_locations_only() {
        has_graphs("x =sc 1; y =rel 1 || r0 = add.sc(y, 1); r1 =rlx y || y =sc 3; r2 =sc x", 24);
    }

    #[test]
    fn release_sequences_are_continued_by_updates_and_ended_by_stores() {
        has_graphs("x =rlx 1; y =rel 1; y =rlx 2 || r0 =acq y; r1 =rlx x", 5);
        has_graphs("x =rlx 1; y =rel 1 || r0 = add.rlx(y, 1) || r1 =acq y; r2 =rlx x", 9);
    }

    #[test]
    fn readers_of_independent_writes_may_disagree() {
        has_graphs("x =sc 1 || y =sc 1 || r0 =sc x; r1 =sc y || r2 =sc y; r3 =sc x", 15);
        has_graphs("x =rel 1 || y =rel 1 || r0 =acq x; r1 =acq y || r2 =acq y; r3 =acq x", 16);
    }
}
