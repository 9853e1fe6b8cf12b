//! Counts the classes of executions of one program by a search over states that remembers what tells them apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::{Collector, Coverage, Limits, Stats, System};
use teetotal_judge::Ending;
use teetotal_mcr as mcr;
use teetotal_memory::{BUFFER_MODELS, Model, ModelId, ModelVisitor};
use teetotal_program::Value;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_stateful::{Forgetful, History, Reads, Remember, Settings, search_with};

use super::Row;

/// What is counted of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Different values read by complete executions, thread by thread.
    ValueStates,
    /// The same, found by maximal causality reduction, one execution each.
    Classes,
    /// The same with the source of each.
    ReadsFromStates,
    /// Different traces (po, rf, co) of complete executions.
    Traces,
    /// Different traces of executions that an assumption ended.
    DiscardedTraces,
    /// Complete executions of dynamic partial-order reduction.
    Executions,
    /// Executions of it that an assumption ended.
    DiscardedExecutions,
    /// Different final states, as far as the program observes them.
    FinalStates,
}

impl Count {
    fn name(self) -> &'static str {
        match self {
            Count::ValueStates => "value states",
            Count::Classes => "classes by mcr",
            Count::ReadsFromStates => "reads-from states",
            Count::Traces => "traces",
            Count::DiscardedTraces => "discarded traces",
            Count::Executions => "executions by dpor",
            Count::DiscardedExecutions => "discarded executions by dpor",
            Count::FinalStates => "final states",
        }
    }
}

/// A number that is known of a program under one model, if it is.
#[derive(Clone, Copy)]
pub(super) struct Known {
    number: Option<usize>,
    large: bool,
    ours: bool,
}

/// Others have counted it: the reference, or Nidhugg and GenMC.
pub(super) const fn known(number: usize) -> Known {
    Known { number: Some(number), large: false, ours: false }
}

/// Only we have counted it.
pub(super) const fn ours(number: usize) -> Known {
    Known { ours: true, ..known(number) }
}

/// Not counted so far.
pub(super) const OPEN: Known = Known { number: None, ..known(0) };

impl Known {
    /// Counting takes longer than tests should.
    pub(super) const fn large(self) -> Known {
        Known { large: true, ..self }
    }

    /// It does not, in another way.
    pub(super) const fn quick(self) -> Known {
        Known { large: false, ..self }
    }
}

/// What is known of a program under SC, TSO and PSO.
pub(super) fn under_each(count: Count, build: impl Fn() -> Program, known: [Known; 3]) -> Vec<Row> {
    let program = Arc::new(build());
    let known = BUFFER_MODELS.iter().zip(known).filter_map(|(model, known)| Some((model, known, known.number?)));
    known
        .map(|(model, known, number)| {
            let program = Arc::clone(&program);
            let whose = if known.ours { ", by our own count" } else { "" };
            Row {
                what: format!("{} of {} under {}{whose}", count.name(), program.name, model.name),
                expected: number.to_string(),
                quick: !known.large,
                count: Box::new(move |jobs| count_of(count, &program, model.id, jobs)),
            }
        })
        .collect()
}

/// What tells classes of executions apart: the reads of each thread, and the order of writes to each location.
pub(super) type Class = (Vec<Vec<Value>>, Vec<Vec<Value>>);

/// The classes of executions, by how they ended.
#[derive(Default)]
pub(super) struct Ends {
    /// Threads that went wrong count as having ended.
    pub(super) complete: BTreeSet<Class>,
    pub(super) blocked: BTreeSet<Class>,
    pub(super) discarded: BTreeSet<Class>,
}

/// Every class of executions of `program` under `M`, with or without reduction.
pub(super) fn ends<M: Model>(program: &Arc<Program>, remember: Remember, jobs: usize, reduce: bool) -> Ends {
    let mut ends = Ends::default();
    let history = Reads::new(remember, program.n_threads(), program.locations.len());
    search::<M, _>(program, history, jobs, reduce, &mut |history: &Reads, ending| {
        let set = match ending {
            Ending::Completed | Ending::Failed => &mut ends.complete,
            Ending::Blocked(_) => &mut ends.blocked,
            Ending::Discarded => &mut ends.discarded,
        };
        let (reads, writes) = history.classes();
        set.insert((reads.to_vec(), writes.to_vec()));
    });
    ends
}

/// Searches all states of `program` under `M`; `at_end` sees what is remembered at each maximal one.
pub(super) fn search<M: Model, H: History>(
    program: &Arc<Program>,
    history: H,
    jobs: usize,
    reduce: bool,
    at_end: &mut dyn FnMut(&H, &Ending),
) -> Collector {
    let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut collector = Collector::new(program, M::ID, &[], false);
    let settings = Settings { limits: Limits::default(), jobs, reduce };
    let coverage = search_with(&system, history, &mut collector, &settings, &|| None, at_end);
    assert_eq!(coverage, Coverage::Complete, "{} is counted to the end", program.name);
    collector
}

fn count_of(count: Count, program: &Arc<Program>, model: ModelId, jobs: usize) -> String {
    model.visit_buffers(Counting { count, program, jobs })
}

struct Counting<'p> {
    count: Count,
    program: &'p Arc<Program>,
    jobs: usize,
}

impl ModelVisitor for Counting<'_> {
    type Output = String;

    fn visit<M: Model>(self) -> String {
        let remember = match self.count {
            Count::ValueStates => Remember::Values,
            Count::Classes => return classes::<M>(self.program).to_string(),
            Count::ReadsFromStates => Remember::ReadsFrom,
            Count::Traces | Count::DiscardedTraces => Remember::Trace,
            Count::FinalStates => {
                let collector = search::<M, _>(self.program, Forgetful, self.jobs, true, &mut |_, _| {});
                return collector.states.len().to_string();
            }
            Count::Executions | Count::DiscardedExecutions => {
                let Stats { completed, failed, discarded, blocked, .. } = executions(self.program, M::ID, self.jobs);
                let counted = if self.count == Count::Executions { completed + failed } else { discarded };
                return shown(counted, blocked);
            }
        };
        let ends = ends::<M>(self.program, remember, self.jobs, true);
        let set = if self.count == Count::DiscardedTraces { &ends.discarded } else { &ends.complete };
        shown(set.len() as u64, ends.blocked.len() as u64)
    }
}

fn shown(count: u64, blocked: u64) -> String {
    match blocked {
        0 => count.to_string(),
        blocked => format!("{count} and {blocked} blocked"),
    }
}

/// What dynamic partial-order reduction runs of `program` under `model`.
fn executions(program: &Arc<Program>, model: ModelId, jobs: usize) -> Stats {
    let options =
        Options { search: SearchId::Dpor, monitors: Vec::new(), jobs, minimize: false, ..Options::new(model) };
    let outcome = check(program, &options, &|| None).expect("the search takes the programs");
    assert_eq!(outcome.coverage, Coverage::Complete, "{} is counted to the end", program.name);
    outcome.stats
}

/// How many executions maximal causality reduction runs of `program` under `M`, with nothing observed of memory.
fn classes<M: Model>(program: &Arc<Program>) -> u64 {
    let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut count = 0;
    let settings = mcr::Settings::new(Limits::default(), 1);
    let coverage = mcr::visit(&system, &[], &settings, &mut |_| count += 1);
    assert_eq!(coverage, Coverage::Complete, "{} is counted to the end", program.name);
    count
}
