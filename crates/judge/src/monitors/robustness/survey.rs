//! What the algorithms find on every interleaving of a program, beside what enumeration says of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_memory::models::Strongest;
use teetotal_memory::{EventId, Machine, ModelId, Trace, relations};
use teetotal_program::Value;
use teetotal_program::ir::{Interpreter, Program};

use super::{Algorithm, Attempt, Borderline, Buffers, Sober, SoberAsPrinted, stuck};
use crate::axiomatic::enumerate;

/// The algorithms, in the order of the counts of a [`Survey`].
pub const ALGORITHMS: [&str; 4] = ["borderline", "sober", "sober as printed", "buffers"];

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Survey {
    pub programs: usize,
    /// Programs with an execution of the model that is not sequentially consistent.
    pub not_robust: usize,
    /// Of these, programs in which an algorithm finds nothing on any interleaving.
    pub missed: [usize; 4],
    /// Programs that are robust, and an algorithm finds something.
    pub false_alarms: [usize; 4],
    /// Programs that are not robust, and an algorithm that sees one interleaving of each trace may find nothing.
    pub hidden: [usize; 4],
}

impl Survey {
    /// Counts a program without loops.
    pub fn add(&mut self, model: ModelId, program: &Arc<Program>) {
        let executions = enumerate(model, program, usize::MAX).expect("the program has no loops");
        let not_robust = executions.iter().any(|e| !relations::is_sequentially_consistent(&e.trace));
        let mut algorithms = algorithms(program, model);
        // For each trace, whether each algorithm finds something on some of its interleavings, and on all.
        let mut classes: BTreeMap<Vec<Value>, [(bool, bool); 4]> = BTreeMap::new();
        for trace in interleavings(program) {
            let class = classes.entry(trace.key()).or_insert([(false, true); 4]);
            for (algorithm, (some, all)) in algorithms.iter_mut().zip(class) {
                let found = finds(algorithm.as_mut(), program, model, &trace);
                *some |= found;
                *all &= found;
            }
        }
        self.programs += 1;
        self.not_robust += usize::from(not_robust);
        for index in 0..ALGORITHMS.len() {
            let found = classes.values().any(|class| class[index].0);
            let always = classes.values().any(|class| class[index].1);
            self.missed[index] += usize::from(not_robust && !found);
            self.false_alarms[index] += usize::from(!not_robust && found);
            self.hidden[index] += usize::from(not_robust && !always);
        }
    }

    /// Counts what was counted of other programs.
    pub fn merge(&mut self, other: &Survey) {
        self.programs += other.programs;
        self.not_robust += other.not_robust;
        for index in 0..ALGORITHMS.len() {
            self.missed[index] += other.missed[index];
            self.false_alarms[index] += other.false_alarms[index];
            self.hidden[index] += other.hidden[index];
        }
    }
}

fn algorithms(program: &Program, model: ModelId) -> [Box<dyn Algorithm>; 4] {
    [
        Box::new(Borderline::new(program, model)),
        Box::new(Sober::new(program)),
        Box::new(SoberAsPrinted::new(program)),
        Box::new(Buffers::new(program, model)),
    ]
}

/// Whether an algorithm finds a delay on a maximal execution of sequential consistency.
fn finds(algorithm: &mut dyn Algorithm, program: &Arc<Program>, model: ModelId, trace: &Trace) -> bool {
    algorithm.begin();
    let mut found = false;
    for (id, event) in trace.ids() {
        found |= Attempt::of(model, event).is_some_and(|attempt| algorithm.overtaken(&attempt).is_some());
        algorithm.perform(id, event);
    }
    found || stuck::attempts(program, model, trace).iter().any(|s| algorithm.overtaken(&s.attempt).is_some())
}

/// Every maximal execution of sequential consistency.
fn interleavings(program: &Arc<Program>) -> Vec<Trace> {
    let subject = Interpreter::new(Arc::clone(program));
    let mut found = Vec::new();
    go_on(&Machine::<Strongest>::new(&subject), &subject, &Trace::default(), &mut found);
    found
}

fn go_on(machine: &Machine<Strongest>, subject: &Interpreter, trace: &Trace, found: &mut Vec<Trace>) {
    let (mut machine, mut steps) = (machine.clone(), Vec::new());
    machine.enabled(subject, &mut steps);
    if steps.is_empty() {
        found.push(trace.clone());
    }
    for step in steps {
        let (mut machine, mut subject, mut trace) = (machine.clone(), subject.clone(), trace.clone());
        machine.perform(&mut subject, step, &mut trace);
        go_on(&machine, &subject, &trace, found);
    }
}

/// The store and the access of every delay that the default algorithm finds on a maximal execution, by event.
#[must_use]
pub fn delays(program: &Arc<Program>, model: ModelId, trace: &Trace) -> Vec<(EventId, EventId)> {
    let mut algorithm = Borderline::new(program, model);
    let mut found = Vec::new();
    for (id, event) in trace.ids() {
        let store = Attempt::of(model, event).and_then(|attempt| algorithm.overtaken(&attempt));
        found.extend(store.map(|store| (store, id)));
        algorithm.perform(id, event);
    }
    found
}
