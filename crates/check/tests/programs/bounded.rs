//! What counts as a preemption, and what a search within a bound says of the rest.

use std::sync::Arc;

use teetotal_check::{Options, Outcome, SearchId, check};
use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::Bounded;
use teetotal_engine::{Coverage, Limits, StopReason, System};
use teetotal_gallery as gallery;
use teetotal_generate::program;
use teetotal_judge::{Ending, View};
use teetotal_memory::models::Tso;
use teetotal_memory::{ModelId, Step};
use teetotal_program::ThreadId;
use teetotal_program::ir::{Interpreter, Program};

/// The steps of each execution without a preemption, under TSO.
struct Shown(Vec<Vec<Step>>);

impl Observer for Shown {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.0.push(view.trace.steps().iter().map(|record| record.step).collect());
        Flow::Continue
    }
}

fn without_preemption(program: &Arc<Program>) -> Vec<Vec<Step>> {
    let mut system = System::<Interpreter, Tso>::new(Interpreter::new(Arc::clone(program)));
    let mut shown = Shown(Vec::new());
    driver::run(&mut system, &mut Bounded::new(Some(0)), &mut shown, &Limits::default(), &|| None);
    shown.0
}

fn bounded(program: Program, model: ModelId, preemptions: u64) -> Outcome {
    let limits = Limits { preemptions: Some(preemptions), ..Limits::default() };
    let options = Options { search: SearchId::Bounded, limits, ..Options::new(model) };
    check(&Arc::new(program), &options, &|| None).expect("it can be searched")
}

#[test]
fn a_commit_is_no_preemption() {
    let outcome = bounded(gallery::store_buffering(), ModelId::Tso, 0);
    assert!(outcome.satisfying.is_some(), "both threads read 0 without a preemption, one after the other");
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Preemptions(0)));
}

#[test]
fn leaving_a_thread_that_waits_is_no_preemption() {
    // The first thread can only wait for its buffer, or for the other thread.
    for text in ["x=1; fence; r0=x || y=1", "y=1; await x==1 || x=1"] {
        let switches = |steps: &[Step]| {
            let threads: Vec<ThreadId> = steps.iter().filter(|s| !s.is_commit()).map(|s| s.thread()).collect();
            threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        let found = without_preemption(&Arc::new(program(text)));
        assert!(found.iter().any(|steps| switches(steps) == 2), "{text}");
    }
}

#[test]
fn a_lost_update_needs_one_preemption() {
    let n_states = |bound| bounded(program("r0=x; x=r0+1 || r0=x; x=r0+1"), ModelId::Sc, bound).states.len();
    assert_eq!([n_states(0), n_states(1)], [2, 3], "one thread after the other; both read 0");
}

#[test]
fn a_limit_on_executions_counts_each_once() {
    let limits = Limits { executions: Some(5), preemptions: None, ..Limits::default() };
    let options = Options { search: SearchId::Bounded, limits, ..Options::new(ModelId::Sc) };
    let outcome = check(&Arc::new(gallery::store_buffering()), &options, &|| None).expect("it can be searched");
    assert_eq!((outcome.stats.executions, &outcome.coverage), (5, &Coverage::Stopped(StopReason::Executions(5))));
    let all = bounded(gallery::store_buffering(), ModelId::Sc, 9);
    assert_eq!((all.stats.executions, all.coverage), (6, Coverage::Complete));
}
