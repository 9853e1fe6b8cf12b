//! A plain search over the machine, and its comparison with the axioms.

mod neighbors;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use teetotal_judge::axiomatic::{accepts, enumerate};
use teetotal_memory::{Machine, Model, ModelId, ModelVisitor, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Snapshot};

/// Every trace of a maximal execution, by its key.
pub(crate) type Traces = BTreeMap<Vec<u64>, Trace>;

/// Checks that the machine and the axioms agree on `program`, and gives the traces.
pub(crate) fn check(model: ModelId, program: &Program) -> Traces {
    let machine = model.visit(Everything(program));
    for trace in machine.values() {
        let verdict = accepts(model, trace, |loc| program.locations[loc.index()].initial);
        assert_eq!(verdict, Ok(()), "{model:?} performs\n{trace:#?}\nof {}", program);
    }
    check_neighbors(model, program, &machine);
    let executions = enumerate(model, program, usize::MAX).expect("the program has no loops");
    let twin: Vec<Vec<u64>> = executions.iter().map(|execution| execution.trace.key()).collect();
    for (key, execution) in twin.iter().zip(&executions) {
        let trace = &execution.trace;
        assert!(machine.contains_key(key), "{model:?} does not perform\n{trace:#?}\nof {}", program);
        let verdict = accepts(model, trace, |loc| program.locations[loc.index()].initial);
        assert_eq!(verdict, Ok(()), "{model:?}: enumerated but not accepted:\n{trace:#?}\nof {}", program);
    }
    let distinct: HashSet<&Vec<u64>> = twin.iter().collect();
    assert_eq!(distinct.len(), twin.len(), "{model:?}: some trace was given twice of {}", program);
    for (key, trace) in &machine {
        let found = distinct.contains(key);
        assert!(found, "{model:?} performs, but not enumerated:\n{trace:#?}\nof {}", program);
    }
    machine
}

/// Checks that the axioms allow a trace beside a performed one exactly if the machine performs it.
fn check_neighbors(model: ModelId, program: &Program, machine: &Traces) {
    let initial = |loc: Loc| program.locations[loc.index()].initial;
    for trace in machine.values() {
        neighbors::for_each_neighbor(trace, initial, |neighbor| {
            let verdict = accepts(model, neighbor, initial);
            let performed = machine.contains_key(&neighbor.key());
            assert_eq!(verdict.is_ok(), performed, "{model:?}: {verdict:?}\n{neighbor:#?}\nof {program}");
        });
    }
}

/// Every maximal execution of the machine.
struct Everything<'p>(&'p Program);

impl ModelVisitor for Everything<'_> {
    type Output = Traces;

    fn visit<M: Model>(self) -> Traces {
        let subject = Interpreter::new(Arc::new(self.0.clone()));
        let mut search = Search { seen: HashSet::new(), found: Traces::new() };
        search.visit(Machine::<M>::new(&subject), subject, Trace::default());
        search.found
    }
}

struct Search {
    seen: HashSet<Vec<u8>>,
    found: Traces,
}

impl Search {
    fn visit<M: Model>(&mut self, mut machine: Machine<M>, subject: Interpreter, trace: Trace) {
        let mut state = Vec::new();
        subject.save(&mut state);
        machine.save(&mut state);
        let key = trace.key();
        key.iter().for_each(|word| state.extend_from_slice(&word.to_le_bytes()));
        if !self.seen.insert(state) {
            return;
        }
        let mut steps = Vec::new();
        machine.enabled(&subject, &mut steps);
        if steps.is_empty() {
            self.found.insert(key, trace);
            return;
        }
        for step in steps {
            let (mut machine, mut subject, mut trace) = (machine.clone(), subject.clone(), trace.clone());
            machine.perform(&mut subject, step, &mut trace);
            self.visit(machine, subject, trace);
        }
    }
}
