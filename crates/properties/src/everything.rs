//! Every execution of a program, by brute force: what the other engines are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use teetotal_engine::driver::{self, Flow, Observer, values};
use teetotal_engine::stateless::Brute;
use teetotal_engine::{Coverage, Limits, System};
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Failure, ThreadId, Value};

use crate::{Verdict, dependence};

/// How an execution ended, with what there is to see then.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct End {
    pub(super) kind: &'static str,
    pub(super) blocked: Vec<ThreadId>,
    pub(super) values: Vec<Value>,
}

impl End {
    pub(super) fn new(ending: &Ending, values: Vec<Value>) -> Self {
        let (kind, blocked) = match ending {
            Ending::Completed => ("completed", Vec::new()),
            Ending::Blocked(blocked) => ("blocked", blocked.clone()),
            Ending::Discarded => ("discarded", Vec::new()),
            Ending::Failed => ("failed", Vec::new()),
        };
        End { kind, blocked, values }
    }
}

/// All maximal executions of a program under one model.
#[derive(Clone, Debug)]
pub(super) struct Everything {
    /// By what tells traces apart: the first execution that has it, and the end.
    pub(super) traces: BTreeMap<Vec<Value>, (Trace, End)>,
    pub(super) ends: BTreeSet<End>,
    pub(super) failures: BTreeSet<(ThreadId, Failure)>,
    /// Whether the dependence of steps tells executions apart as their traces do.
    pub(super) dependence: Verdict,
}

impl Default for Everything {
    fn default() -> Self {
        let (traces, ends, failures) = Default::default();
        Everything { traces, ends, failures, dependence: Ok(()) }
    }
}

impl Everything {
    /// Runs every interleaving of `program` under `M`.
    pub(super) fn of<M: Model>(program: &Arc<Program>) -> Self {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
        let mut classes = dependence::Classes::new(program);
        let mut watch = |trace: &Trace, key: &[Value]| classes.add::<M>(trace, key);
        let mut collect = Collect { program, watch: &mut watch, all: Everything::default() };
        let coverage = driver::run(&mut system, &mut Brute::default(), &mut collect, &Limits::default(), &|| None);
        assert_eq!(coverage, Coverage::Complete, "brute force ends on programs that end");
        let all = collect.all;
        Everything { dependence: classes.verdict(), ..all }
    }

    /// The different final states of completed executions.
    pub(super) fn outcomes(&self) -> BTreeSet<&[Value]> {
        self.ends.iter().filter(|end| end.kind == "completed").map(|end| end.values.as_slice()).collect()
    }
}

struct Collect<'c> {
    program: &'c Program,
    watch: &'c mut dyn FnMut(&Trace, &[Value]),
    all: Everything,
}

impl Observer for Collect<'_> {
    fn step(&mut self, view: &View<'_>) -> Flow {
        self.all.failures.extend(view.failure);
        Flow::Continue
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        let end = End::new(ending, values(view.state, &self.program.observed));
        let key = view.trace.key();
        (self.watch)(view.trace, &key);
        if !self.all.ends.contains(&end) {
            self.all.ends.insert(end.clone());
        }
        self.all.traces.entry(key).or_insert_with(|| (view.trace.clone(), end));
        Flow::Continue
    }
}

/// What is in only one of two sets, for the report of a broken law.
pub(super) fn difference<T: Ord + std::fmt::Debug>(
    ours: &BTreeSet<T>,
    theirs: &BTreeSet<T>,
    names: (&str, &str),
) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let only =
        |a: &BTreeSet<T>, b: &BTreeSet<T>| a.difference(b).map(|x| format!("{x:?}")).collect::<Vec<_>>().join("\n  ");
    Err(format!("only {}:\n  {}\nonly {}:\n  {}", names.0, only(ours, theirs), names.1, only(theirs, ours)))
}

/// Calls a function with each model as its type parameter and stops at the first error.
macro_rules! under_every_model {
    ($function:ident, $case:expr) => {{
        let named = |model: &str, verdict: Verdict| verdict.map_err(|reason| format!("under {model}: {reason}"));
        named("sc", $function::<teetotal_memory::models::Sc>($case))
            .and_then(|()| named("tso", $function::<teetotal_memory::models::Tso>($case)))
            .and_then(|()| named("pso", $function::<teetotal_memory::models::Pso>($case)))
    }};
}
pub(super) use under_every_model;
