//! The machines and their axiomatic models allow the same traces.

mod common;

use common::check;
use teetotal_gallery::{message_passing, n6, store_buffering, two_plus_two_writes};
use teetotal_judge::axiomatic::families::{e1, e2, e3};
use teetotal_judge::axiomatic::{accepts, accepts_as_sober_printed};
use teetotal_memory::ModelId::{Pso, Sc, Tso};
use teetotal_program::Order;
use teetotal_program::ir::Program;

const MODELS: [teetotal_memory::ModelId; 3] = [Sc, Tso, Pso];

#[test]
fn the_classics_have_as_many_traces_as_the_models_allow() {
    let counts = |program: &Program| MODELS.map(|model| check(model, program).len());
    assert_eq!(counts(&store_buffering()), [3, 4, 4]);
    assert_eq!(counts(&message_passing()), [3, 3, 4]);
    assert_eq!(counts(&two_plus_two_writes()), [3, 3, 4]);
    let [sc, tso, pso] = counts(&n6());
    assert!(sc < tso && tso < pso);
}

/// [SOBER, Def. 3] with and without the correction.
#[test]
fn sober_as_printed_forbids_one_trace_of_n6_that_the_machine_performs() {
    let program = n6();
    let traces = check(Tso, &program);
    let forbidden: Vec<_> = traces.values().filter(|trace| !accepts_as_sober_printed(trace)).collect();
    assert_eq!(forbidden.len(), 1);
    assert_eq!(accepts(Tso, forbidden[0], |_| 0), Ok(()));
}

/// Every how many of a family's programs is compared; 1 compares all, which takes minutes.
fn stride() -> usize {
    std::env::var("TEETOTAL_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(97)
}

#[test]
fn machine_and_axioms_agree_on_two_threads_of_three_operations() {
    for program in e1(Order::SeqCst).step_by(stride()) {
        MODELS.iter().for_each(|&model| drop(check(model, &program)));
    }
    for program in e1(Order::Relaxed).step_by(stride()) {
        check(Pso, &program);
    }
}

#[test]
fn machine_and_axioms_agree_on_three_threads_of_two_operations() {
    for program in e2(Order::SeqCst).step_by(stride()) {
        MODELS.iter().for_each(|&model| drop(check(model, &program)));
    }
    for program in e2(Order::Relaxed).step_by(stride()) {
        check(Pso, &program);
    }
}

#[test]
fn machine_and_axioms_agree_on_a_thread_of_four_operations() {
    for program in e3().step_by(stride()) {
        MODELS.iter().for_each(|&model| drop(check(model, &program)));
    }
}
