//! Neighboring steps that do not depend on each other can be swapped, on random executions of random programs.

mod common;

use std::sync::Arc;

use teetotal_generate::{Rng, Shape, generate};
use teetotal_memory::dependence::depends;
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, Step};
use teetotal_program::Snapshot;
use teetotal_program::ir::Program;

use crate::common::Run;

/// No execution of the programs here takes more steps.
const MOST_STEPS: usize = 60;

/// A random execution of `program`.
fn walk<M: Model>(program: &Arc<Program>, rng: &mut Rng) -> Run<M> {
    let mut run = Run::<M>::new(program);
    while run.trace.steps().len() < MOST_STEPS {
        let enabled = run.enabled();
        if enabled.is_empty() {
            break;
        }
        let step = rng.pick(&enabled);
        run.machine.perform(&mut run.subject, step, &mut run.trace);
    }
    run
}

/// The execution with these steps, if they are possible.
fn perform<M: Model>(program: &Arc<Program>, steps: &[Step]) -> Option<Run<M>> {
    let mut run = Run::<M>::new(program);
    for &step in steps {
        if !run.enabled().contains(&step) {
            return None;
        }
        run.machine.perform(&mut run.subject, step, &mut run.trace);
    }
    Some(run)
}

fn state<M: Model>(run: &Run<M>) -> Vec<u8> {
    let mut bytes = Vec::new();
    run.subject.save(&mut bytes);
    run.machine.save(&mut bytes);
    bytes
}

/// Swaps every two independent neighbors of one execution; gives how many there were.
fn check<M: Model>(seed: u64) -> usize {
    let program = Arc::new(generate(seed, &Shape::litmus()));
    let run = walk::<M>(&program, &mut Rng::new(seed));
    let steps: Vec<Step> = run.trace.steps().iter().map(|record| record.step).collect();
    let mut n_swapped = 0;
    for later in 1..steps.len() {
        if depends::<M>(&run.trace, later - 1, later) {
            continue;
        }
        let mut swapped = steps.clone();
        swapped.swap(later - 1, later);
        let again = perform::<M>(&program, &swapped);
        let again =
            again.unwrap_or_else(|| panic!("seed {seed}: step {later} cannot be swapped in {steps:?}\n{program}"));
        assert_eq!(again.trace.key(), run.trace.key(), "seed {seed}: step {later} in {steps:?}\n{program}");
        assert_eq!(state(&again), state(&run), "seed {seed}: step {later} in {steps:?}\n{program}");
        n_swapped += 1;
    }
    n_swapped
}

#[test]
fn independent_neighbors_commute_under_every_model() {
    let counts = (0..400).map(|seed| [check::<Sc>(seed), check::<Tso>(seed), check::<Pso>(seed)]);
    let all = counts.fold([0; 3], |all, one| [0, 1, 2].map(|model| all[model] + one[model]));
    assert!(all.iter().all(|&n| n > 300), "few neighbors are independent: {all:?}");
}

/// Whether the second step depends on the first, of an execution with two.
fn depend<M: Model>(text: &str, steps: [Step; 2], before: &[u16]) -> bool {
    let mut run = Run::<M>::of(text);
    run.issue(before);
    let first = run.trace.steps().len();
    for step in steps {
        run.step(step);
    }
    depends::<M>(&run.trace, first, first + 1)
}

#[test]
fn accesses_to_one_location_depend_if_one_of_them_writes() {
    let both = [common::issue(0), common::issue(1)];
    assert!(depend::<Sc>("x=1 || r0=x", both, &[]));
    assert!(depend::<Sc>("x=1 || x=2", both, &[]));
    assert!(!depend::<Sc>("r0=x || r0=x", both, &[]));
    assert!(!depend::<Sc>("x=1 || y=1", both, &[]));
    assert!(!depend::<Tso>("x=1 || r0=x", both, &[]), "a store only joins its buffer");
}

#[test]
fn a_store_that_leaves_depends_on_reads_of_other_threads_alone() {
    let leaves = |thread| [common::commit(0, 0), common::issue(thread)];
    assert!(depend::<Tso>("x=1 || r0=x", leaves(1), &[0]));
    assert!(!depend::<Tso>("x=1; r0=x", leaves(0), &[0]), "its own thread reads it in both places");
    assert!(depend::<Tso>("x=1; fence", leaves(0), &[0]));
}

#[test]
fn stores_of_a_thread_leave_in_the_order_that_the_model_keeps() {
    let both = [common::commit(0, 0), common::commit(0, 1)];
    assert!(depend::<Tso>("x=1; y=1", both, &[0, 0]));
    assert!(!depend::<Pso>("x=1; y=1", both, &[0, 0]));
    assert!(depend::<Pso>("x=1; sfence; y=1", both, &[0, 0, 0]));
    assert!(depend::<Pso>("x=1; y =rel 1", both, &[0, 0]));
}
