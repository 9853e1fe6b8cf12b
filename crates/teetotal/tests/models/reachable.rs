//! "Is this state possible?": states that a model must reach.

use super::common;

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::{ModelId, reachable, thread};

/// Both threads of store buffering, and what they read.
fn store_buffering() -> (usize, usize) {
    let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let other = Arc::clone(&cells);
    let thread = thread::spawn(move || {
        other[0].store(1, Relaxed);
        other[1].load(Relaxed)
    });
    cells[1].store(1, Relaxed);
    let read = cells[0].load(Relaxed);
    (read, thread.join().expect("it ends"))
}

#[test]
fn a_state_that_is_possible_is_reached() {
    let report = common::explore(ModelId::Tso, || reachable!("both are 0", store_buffering() == (0, 0)));
    assert_eq!(report.failure, None);
    let [mark] = report.reachable.as_slice() else { panic!("{:?}", report.reachable) };
    assert!(mark.is_reached && mark.name == "both are 0");
}

#[test]
fn a_state_that_is_not_possible_fails_the_model() {
    let report = common::explore(ModelId::Sc, || reachable!("both are 0", store_buffering() == (0, 0)));
    let failure = report.failure.expect("SC does not have it");
    assert!(failure.starts_with("`both are 0` is never reached\n"), "{failure}");
    assert!(failure.contains("tests/models/reachable.rs:"), "{failure}");
    assert!(failure.contains("These are all 3 executions under sc, and none is in that state.\n"), "{failure}");
    assert!(report.coverage.is_complete() && !report.reachable[0].is_reached);
}

#[test]
fn a_branch_that_is_never_taken_is_seen_in_the_source() {
    let mut builder = teetotal::model::Builder::new();
    builder.model = ModelId::Sc;
    let report = builder.explore(|| {
        if store_buffering() == (0, 0) {
            reachable!("nobody saw a store");
        }
    });
    let failure = report.failure.expect("SC does not have it");
    assert!(failure.starts_with("`nobody saw a store` is never reached\n"), "{failure}");
    builder.model = ModelId::Pso;
    let report = builder.explore(|| {
        if store_buffering() == (0, 0) {
            reachable!("nobody saw a store");
        }
    });
    assert_eq!(report.failure, None);
}

#[test]
fn a_builder_may_name_states_of_code_elsewhere() {
    fn elsewhere() {
        if store_buffering() == (0, 0) {
            reachable!("nobody saw a store");
        }
    }
    let mut builder = teetotal::model::Builder::new();
    builder.model = ModelId::Sc;
    assert_eq!(builder.explore(elsewhere).failure, None);
    builder.must_reach.push("nobody saw a store".to_owned());
    let failure = builder.explore(elsewhere).failure.expect("SC does not have it");
    assert!(failure.starts_with("`nobody saw a store` is never reached\n"), "{failure}");
}

#[test]
fn a_search_that_is_not_complete_says_nothing() {
    let mut builder = teetotal::model::Builder::new();
    builder.max_permutations = Some(1);
    let report = builder.explore(|| reachable!("both are 0", store_buffering() == (0, 0)));
    assert!(report.failure.is_none() && !report.coverage.is_complete());
    assert_eq!(report.reachable.len(), 1);
}

#[test]
fn outside_of_a_model_nothing_comes_of_it() {
    reachable!("nowhere");
    reachable!("nowhere", false);
}
