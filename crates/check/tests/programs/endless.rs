//! Programs that fill buffers without end: which of them are right, for any number of rounds and any length of buffers.

use std::sync::Arc;

use teetotal_check::{Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_gallery::{
    Guard, HowOften, dekker_entry, filter_lock, peterson_entry, store_forwarding, stores_in_a_loop, two_writers,
    unlocking_cycle,
};
use teetotal_generate::program;
use teetotal_judge::Finding;
use teetotal_memory::ModelId;
use teetotal_program::ir::Program;

fn search(program: Program, model: ModelId) -> Outcome {
    let options = Options { search: SearchId::Symbolic, ..Options::new(model) };
    check(&Arc::new(program), &options, &|| None).expect("it can be checked")
}

fn has_failure(outcome: &Outcome) -> bool {
    outcome.violations.iter().any(|violation| matches!(violation.finding, Finding::Failure { .. }))
}

/// Demands a complete search without any violation, and asks the search over states with bounded buffers as well.
fn check_right(program: Program, model: ModelId) {
    let outcome = search(program.clone(), model);
    assert_eq!(outcome.coverage, Coverage::Complete, "{}", program.name);
    assert!(outcome.violations.is_empty(), "{}: {:?}", program.name, outcome.violations[0].finding);
    for buffer in 1..=6 {
        let limits = Limits { buffer: Some(buffer), ..Limits::default() };
        let bounded = check(&Arc::new(program.clone()), &Options { limits, ..Options::new(model) }, &|| None);
        let bounded = bounded.expect("it can be checked");
        assert!(bounded.violations.is_empty(), "{} with {buffer} stores", program.name);
        let expected = [Coverage::Complete, Coverage::Stopped(StopReason::Buffer(buffer))];
        assert!(expected.contains(&bounded.coverage), "{}", program.name);
    }
}

/// Demands that an assertion fails. The execution is replayed and accepted by the axiomatic model.
fn check_wrong(program: Program, model: ModelId) {
    let name = program.name.clone();
    let options = Options { search: SearchId::Symbolic, stop_at_first: true, ..Options::new(model) };
    let outcome = check(&Arc::new(program), &options, &|| None).expect("it can be checked");
    assert!(has_failure(&outcome), "{name}");
}

#[test]
fn without_fences_dekker_and_peterson_are_wrong_under_tso_and_pso() {
    for entry in [HowOften::Once, HowOften::Repeated] {
        for lock in [dekker_entry, peterson_entry] {
            check_wrong(lock(entry, Guard::None), ModelId::Tso);
            check_wrong(lock(entry, Guard::None), ModelId::Pso);
            check_right(lock(entry, Guard::None), ModelId::Sc);
        }
    }
}

#[test]
fn what_is_wrong_under_tso_is_searched_to_the_end() {
    for lock in [dekker_entry, peterson_entry] {
        let outcome = search(lock(HowOften::Repeated, Guard::None), ModelId::Tso);
        assert_eq!(outcome.coverage, Coverage::Complete);
        let failures = outcome.violations.iter().filter(|v| matches!(v.finding, Finding::Failure { .. }));
        assert_eq!(failures.count(), 2, "the assertion of each thread may fail");
    }
}

#[test]
fn with_fences_dekker_and_peterson_are_right_for_any_number_of_rounds() {
    for entry in [HowOften::Once, HowOften::Repeated] {
        for lock in [dekker_entry, peterson_entry] {
            check_right(lock(entry, Guard::Sync), ModelId::Tso);
            check_right(lock(entry, Guard::Fences), ModelId::Tso);
            check_right(lock(entry, Guard::Fences), ModelId::Pso);
        }
    }
}

#[test]
fn the_filter_lock_needs_its_fences() {
    check_right(filter_lock(2, Guard::Fences), ModelId::Tso);
    check_right(filter_lock(2, Guard::Fences), ModelId::Pso);
    check_wrong(filter_lock(2, Guard::None), ModelId::Tso);
}

/// [LINDEN, Fig. 4].
#[test]
fn a_buffer_that_drains_unlocks_the_cycle_of_another_thread() {
    for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
        let outcome = search(unlocking_cycle(), model);
        assert_eq!(outcome.coverage, Coverage::Complete);
        let deadlock = outcome.violations.iter().find(|v| matches!(v.finding, Finding::Deadlock { .. }));
        assert!(deadlock.is_some(), "both may wait for each other");
    }
}

/// [LINDEN, Fig. 2 and Fig. 3].
#[test]
fn two_writers_have_few_symbolic_states() {
    let outcome = search(two_writers(), ModelId::Tso);
    assert_eq!(outcome.coverage, Coverage::Complete);
    assert!(outcome.violations.is_empty());
    // Four places of control, four contents of memory, and what a buffer may begin with.
    assert!(outcome.stats.states < 150, "{}", outcome.stats.states);
}

/// [LINDEN, Table 1].
#[test]
fn both_threads_may_see_their_own_store_first() {
    assert!(search(store_forwarding(), ModelId::Tso).satisfying.is_some());
    assert!(search(store_forwarding(), ModelId::Sc).satisfying.is_none());
}

#[test]
fn loops_of_many_stores_are_searched_completely() {
    for n in 1..=4 {
        for model in [ModelId::Tso, ModelId::Pso] {
            check_right(stores_in_a_loop(n), model);
        }
    }
}

#[test]
fn an_execution_with_many_rounds_is_found_and_replayed() {
    // The reader must see 0 after 2, so the second round of the writer comes between.
    let text = "x=1; x=2; x=0; x=1; x=2 || r0=x; assume r0==2; r1=x; assume r1==0; r2=x; assert r2!=2";
    assert!(has_failure(&search(program(text), ModelId::Tso)));
}

/// Which search is taken when none is named.
fn chosen(program: Program, model: ModelId, limits: Limits) -> SearchId {
    let options = Options { limits, ..Options::new(model) };
    check(&Arc::new(program), &options, &|| None).expect("it can be checked").search
}

#[test]
fn the_symbolic_search_is_taken_where_a_buffer_may_fill_without_end() {
    let none = Limits::default();
    assert_eq!(chosen(two_writers(), ModelId::Tso, none), SearchId::Symbolic);
    assert_eq!(chosen(two_writers(), ModelId::Sc, none), SearchId::Stateful);
    let bounded = Limits { buffer: Some(3), ..none };
    assert_eq!(chosen(two_writers(), ModelId::Tso, bounded), SearchId::Stateful);
    let fenced = dekker_entry(HowOften::Repeated, Guard::Fences);
    assert_eq!(chosen(fenced, ModelId::Pso, none), SearchId::Mcr);
}
