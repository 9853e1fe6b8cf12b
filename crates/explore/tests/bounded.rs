//! The bounded search shows exactly the executions of brute force with few preemptions, each once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::stateless::{Bounded, Brute};
use teetotal_explore::{
    Abandon, Choice, Coverage, Limits, Options, Outcome, SearchId, StopReason, Strategy, System, check,
};
use teetotal_judge::{Ending, View};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, ModelId, Step, Trace};
use teetotal_program::ThreadId;
use teetotal_program::gallery;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::testing::{Shape, generate, program};

/// Counts the preemptions of each execution from the steps that are possible, whatever strategy chooses.
struct Counting<'c, S> {
    strategy: S,
    /// The threads that could perform an operation before each step.
    able: Vec<Vec<ThreadId>>,
    preemptions: &'c Cell<u64>,
}

impl<S: Strategy> Strategy for Counting<'_, S> {
    fn begin(&mut self) -> bool {
        self.able.clear();
        self.preemptions.set(0);
        self.strategy.begin()
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        let choice = self.strategy.choose(enabled, trace);
        let Choice::Take(index) = choice else { return choice };
        self.able.push(enabled.iter().filter(|step| !step.is_commit()).map(|step| step.thread()).collect());
        let issues = || trace.steps().iter().map(|record| record.step).filter(|step| !step.is_commit());
        if let (Some(before), Step::Issue { thread, .. }) = (issues().next_back(), enabled[index]) {
            let could_go_on = self.able.last().expect("pushed above").contains(&before.thread());
            self.preemptions.set(self.preemptions.get() + u64::from(could_go_on && thread != before.thread()));
        }
        choice
    }

    fn is_new(&self) -> bool {
        self.strategy.is_new()
    }

    fn end(&mut self, trace: &Trace) {
        self.strategy.end(trace);
    }

    fn left_out(&self) -> Option<StopReason> {
        self.strategy.left_out()
    }
}

/// How often each execution is shown, with its preemptions.
struct Shown<'c> {
    executions: BTreeMap<(u64, Vec<Step>), u32>,
    /// The preemptions of those shown so far never become fewer.
    most: u64,
    preemptions: &'c Cell<u64>,
}

impl Observer for Shown<'_> {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        let steps = view.trace.steps().iter().map(|record| record.step).collect();
        self.most = self.most.max(self.preemptions.get());
        *self.executions.entry((self.preemptions.get(), steps)).or_default() += 1;
        Flow::Continue
    }

    fn abandoned(&mut self, _: &View<'_>, reason: Abandon) {
        assert_eq!(reason, Abandon::SeenBefore);
    }
}

type Executions = BTreeMap<(u64, Vec<Step>), u32>;

fn executions<M: Model>(program: &Arc<Program>, strategy: impl Strategy) -> (Executions, Coverage) {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let preemptions = Cell::new(0);
    let mut counting = Counting { strategy, able: Vec::new(), preemptions: &preemptions };
    let mut shown = Shown { executions: BTreeMap::new(), most: 0, preemptions: &preemptions };
    let coverage = driver::run(&mut system, &mut counting, &mut shown, &Limits::default(), &|| None);
    (shown.executions, coverage)
}

fn compare<M: Model>(program: &Program) {
    let program = Arc::new(program.clone());
    let (all, coverage) = executions::<M>(&program, Brute::default());
    assert_eq!(coverage, Coverage::Complete);
    let most = all.keys().map(|(preemptions, _)| *preemptions).max().expect("there is an execution");
    for bound in 0..=most + 1 {
        let (found, coverage) = executions::<M>(&program, Bounded::new(Some(bound)));
        let within: Executions =
            all.iter().filter(|((n, _), _)| *n <= bound).map(|(key, times)| (key.clone(), *times)).collect();
        assert!(found == within, "bound {bound}: {} executions of {}\n{program}", found.len(), within.len());
        let expected =
            if bound < most { Coverage::Stopped(StopReason::Preemptions(bound)) } else { Coverage::Complete };
        assert_eq!(coverage, expected, "bound {bound} of {most}\n{program}");
    }
    let (found, coverage) = executions::<M>(&program, Bounded::new(None));
    assert!(found == all && coverage == Coverage::Complete, "{program}");
}

#[test]
fn within_a_bound_it_shows_what_brute_force_shows_and_each_once() {
    for (shape, seeds) in [(Shape::litmus(), 0..80), (Shape::full(), 80..160), (Shape::loops(), 160..200)] {
        for seed in seeds {
            let program = generate(seed, &Shape { max_interleavings: 1_500, ..shape.clone() });
            compare::<Sc>(&program);
            compare::<Tso>(&program);
            compare::<Pso>(&program);
        }
    }
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
        let (found, _) = executions::<Tso>(&Arc::new(program(text)), Bounded::new(Some(0)));
        let switches = |steps: &[Step]| {
            let threads: Vec<ThreadId> = steps.iter().filter(|s| !s.is_commit()).map(|s| s.thread()).collect();
            threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        assert!(found.keys().any(|(_, steps)| switches(steps) == 2), "{text}");
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
