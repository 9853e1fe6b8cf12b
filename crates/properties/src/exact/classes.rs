//! Classes of executions by the order of dependent steps, with our rule of dependence and with the plain one.
//!
//! The plain rule lets a commit depend on every foreign access to its location. It tells executions apart that have one
//! trace: where a load forwards, it does not matter which foreign stores have reached memory before the one it read.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::Brute;
use teetotal_engine::{Coverage, Limits, System};
use teetotal_gallery::{Variant, dekker_try};
use teetotal_judge::{Ending, View};
use teetotal_memory::dependence::depends;
use teetotal_memory::models::Tso;
use teetotal_memory::{Event, EventId, Model, Recorder, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Snapshot, Value, packed};
use teetotal_stateful::History;

use super::Row;
use super::count::search;
use crate::dependence::signature;

/// Whether the later of two steps of a trace depends on the earlier.
type Rule = fn(&Trace, usize, usize) -> bool;

pub(super) fn rows() -> Vec<Row> {
    let [one, two] = [1, 2].map(|rounds| Arc::new(dekker_try(rounds, Variant::PLAIN.unchecked())));
    vec![
        by_brute_force(&one, "our", depends::<Tso>, 11),
        by_brute_force(&one, "plain", |trace, i, j| depends::<Tso>(trace, i, j) || plainly_depends(trace, i, j), 15),
        by_states(&one, 15),
        by_states(&two, 712),
    ]
}

fn by_brute_force(program: &Arc<Program>, name: &str, rule: Rule, expected: usize) -> Row {
    let program = Arc::clone(program);
    Row {
        what: format!("classes by {name} dependence of {} under tso, by brute force", program.name),
        expected: expected.to_string(),
        quick: false,
        count: Box::new(move |_| n_signatures::<Tso>(&program, rule).to_string()),
    }
}

/// Two rounds have too many executions for brute force.
fn by_states(program: &Arc<Program>, expected: usize) -> Row {
    let program = Arc::clone(program);
    Row {
        what: format!("classes by plain dependence of {} under tso", program.name),
        expected: expected.to_string(),
        quick: true,
        count: Box::new(move |jobs| n_plain_classes::<Tso>(&program, jobs).to_string()),
    }
}

/// How many signatures all executions of `program` have.
fn n_signatures<M: Model>(program: &Arc<Program>, rule: Rule) -> usize {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut signatures = Signatures { rule, found: BTreeSet::new() };
    let coverage = driver::run(&mut system, &mut Brute::default(), &mut signatures, &Limits::default(), &|| None);
    assert_eq!(coverage, Coverage::Complete, "{} is counted to the end", program.name);
    signatures.found.len()
}

struct Signatures {
    rule: Rule,
    found: BTreeSet<Vec<u64>>,
}

impl Observer for Signatures {
    fn step(&mut self, _: &View<'_>) -> Flow {
        Flow::Continue
    }

    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.found.insert(signature(view.trace, self.rule));
        Flow::Continue
    }
}

/// Whether one of two steps is a commit and the other a foreign load of its location.
fn plainly_depends(trace: &Trace, earlier: usize, later: usize) -> bool {
    let [first, second] = [earlier, later].map(|position| &trace.steps()[position]);
    let [a, b] = [first, second].map(|record| trace.event(record.event));
    let load_and_commit = match (first.step.is_commit(), second.step.is_commit()) {
        (true, false) => !b.is_store(),
        (false, true) => !a.is_store(),
        _ => false,
    };
    load_and_commit && a.thread != b.thread && a.loc == b.loc
}

/// How many classes the plain rule tells apart in a program of loads and stores.
fn n_plain_classes<M: Model>(program: &Arc<Program>, jobs: usize) -> usize {
    let mut classes = BTreeSet::new();
    let history = Plain {
        locations: vec![Vec::new(); program.n_threads()],
        loads: vec![Vec::new(); program.n_threads()],
        writes: vec![Vec::new(); program.locations.len()],
    };
    search::<M, _>(program, history, jobs, false, &mut |history: &Plain, _| {
        classes.insert((history.loads.clone(), history.writes.clone()));
    });
    classes.len()
}

/// What the plain rule sees of an execution of loads and stores.
///
/// All other dependent steps are in an order that is the same in all executions with these loads.
#[derive(Clone, Debug)]
struct Plain {
    /// The location of each event of each thread.
    locations: Vec<Vec<Value>>,
    /// For each load of each thread, its value and how many foreign stores had reached its location.
    loads: Vec<Vec<Value>>,
    /// The stores that reached each location, by thread and position there.
    writes: Vec<Vec<Value>>,
}

/// Below these bits of the name of an event is its position in its thread.
const INDEX_BITS: u32 = 16;

impl Recorder for Plain {
    fn event(&mut self, event: Event) -> EventId {
        let thread = event.thread.index();
        let index = self.locations[thread].len();
        let loc = event.loc.expect("every event of the program is a load or a store");
        self.locations[thread].push(loc.0.into());
        if let Some(value) = event.read {
            let is_foreign = |write: &&Value| **write >> INDEX_BITS != thread as Value;
            let n_foreign = self.writes[loc.index()].iter().filter(is_foreign).count();
            self.loads[thread].extend([value, n_foreign as Value]);
        }
        EventId((thread as u32) << INDEX_BITS | index as u32)
    }

    fn committed(&mut self, event: EventId) {
        let (thread, index) = (event.0 >> INDEX_BITS, event.0 & ((1 << INDEX_BITS) - 1));
        let loc = self.locations[thread as usize][index as usize];
        self.writes[loc as usize].push(event.0.into());
    }

    fn step(&mut self, _: Step) {}
}

impl Snapshot for Plain {
    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    fn save(&self, out: &mut Vec<u8>) {
        for list in self.locations.iter().chain(&self.loads).chain(&self.writes) {
            packed::put(out, list.len() as u64);
            list.iter().for_each(|&value| packed::put(out, value));
        }
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        for list in self.locations.iter_mut().chain(&mut self.loads).chain(&mut self.writes) {
            let length = packed::take(bytes);
            list.clear();
            list.extend((0..length).map(|_| packed::take(bytes)));
        }
    }
}

impl History for Plain {
    /// A pending store is named by its event, so that its commit can be.
    fn keeps_sources(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_dependence_tells_executions_of_one_trace_apart() {
        super::super::check_quick(rows());
    }
}
