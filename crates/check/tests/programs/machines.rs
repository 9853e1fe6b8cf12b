//! What each operation allows and forbids under each model, in the smallest programs that show it.

use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_generate::program;
use teetotal_memory::BUFFER_MODELS;

/// Checks under which models some execution of `text` ends with these values; `expected` names them.
fn allowed(text: &str, values: &str, expected: &str) {
    let program = Arc::new(program(text));
    let wanted: Vec<&str> = values.split_whitespace().collect();
    let mut models = Vec::new();
    for model in BUFFER_MODELS {
        let outcome = check(&program, &Options::new(model.id), &|| None).expect("the program can be checked");
        assert!(outcome.coverage.is_complete());
        let shown = outcome.states.keys().map(|state| program.show_outcome(state));
        let has = |state: &String, want: &str| state.split("; ").any(|part| part.trim_end_matches(';') == want);
        if shown.into_iter().any(|state| wanted.iter().all(|want| has(&state, want))) {
            models.push(model.name);
        }
    }
    assert_eq!(models.join(" "), expected, "{text} with {values}");
}

#[test]
fn a_load_passes_an_older_store_to_another_location() {
    allowed("x=1; r0=y || y=1; r1=x", "0:r0=0 1:r1=0", "tso pso");
}

#[test]
fn a_full_fence_between_them_forbids_it() {
    allowed("x=1; fence; r0=y || y=1; fence; r1=x", "0:r0=0 1:r1=0", "");
}

#[test]
fn a_fence_in_one_thread_is_not_enough() {
    allowed("x=1; fence; r0=y || y=1; r1=x", "0:r0=0 1:r1=0", "tso pso");
}

#[test]
fn a_store_store_fence_does_not_hold_back_a_load() {
    allowed("x=1; sfence; r0=y || y=1; sfence; r1=x", "0:r0=0 1:r1=0", "tso pso");
}

#[test]
fn sequentially_consistent_stores_drain_before_the_thread_goes_on() {
    allowed("x =sc 1; r0=y || y =sc 1; r1=x", "0:r0=0 1:r1=0", "");
    allowed("x =rel 1; r0=y || y =rel 1; r1=x", "0:r0=0 1:r1=0", "tso pso");
}

#[test]
fn a_read_modify_write_drains_under_tso_whatever_its_ordering() {
    allowed("x=1; r2=xchg.rlx(z,1); r0=y || y=1; r2=xchg.rlx(z,1); r1=x", "0:r0=0 1:r1=0", "pso");
    allowed("x=1; r2=xchg(z,1); r0=y || y=1; r2=xchg(z,1); r1=x", "0:r0=0 1:r1=0", "");
}

#[test]
fn stores_to_different_locations_pass_each_other_under_pso_alone() {
    allowed("x=1; y=1 || r0=y; r1=x", "1:r0=1 1:r1=0", "pso");
}

#[test]
fn a_store_store_fence_or_a_release_store_keeps_them_in_order() {
    allowed("x=1; sfence; y=1 || r0=y; r1=x", "1:r0=1 1:r1=0", "");
    allowed("x=1; y =rel 1 || r0=y; r1=x", "1:r0=1 1:r1=0", "");
    allowed("x=1; lfence; y=1 || r0=y; r1=x", "1:r0=1 1:r1=0", "pso");
}

#[test]
fn a_later_store_may_pass_a_release_store() {
    allowed("x =rel 1; y=1 || r0=y; r1=x", "1:r0=1 1:r1=0", "pso");
}

#[test]
fn a_relaxed_read_modify_write_waits_for_what_is_before_a_store_store_fence() {
    allowed("x=1; r2=add.rlx(y,1) || r0=y; r1=x", "1:r0=1 1:r1=0", "pso");
    allowed("x=1; sfence; r2=add.rlx(y,1) || r0=y; r1=x", "1:r0=1 1:r1=0", "");
    allowed("x=1; r2=add.rel(y,1) || r0=y; r1=x", "1:r0=1 1:r1=0", "");
}

#[test]
fn a_compare_exchange_that_fails_as_a_load_drains_under_tso_alone() {
    allowed("x=1; r2=cas.sc/rlx(z,5,6); r0=y || y=1; fence; r1=x", "0:r0=0 1:r1=0", "pso");
    allowed("x=1; r2=cas(z,5,6); r0=y || y=1; fence; r1=x", "0:r0=0 1:r1=0", "");
}

#[test]
fn a_load_forwards_from_the_newest_store_of_its_thread() {
    allowed("x=1; x=2; r0=x", "0:r0=1", "");
    allowed("x=1; r0=x; r1=y || y=1; r0=y; r1=x", "0:r0=1 0:r1=0 1:r0=1 1:r1=0", "tso pso");
}

#[test]
fn stores_to_one_location_reach_memory_in_order() {
    allowed("x=1; x=2 || r0=x; r1=x", "1:r0=2 1:r1=1", "");
}

#[test]
fn writers_agree_on_the_order_of_writes() {
    allowed("x=1 || y=1 || r0=x; r1=y || r0=y; r1=x", "2:r0=1 2:r1=0 3:r0=1 3:r1=0", "");
}

#[test]
fn a_global_fence_drains_the_buffers_of_all_threads() {
    allowed("x=1; r0=y || sync; y=1; r1=x", "0:r0=0 1:r1=0", "tso pso");
    allowed("x=1; r0=y; r2=z || y=1; sync; r1=x; z=1", "0:r0=0 1:r1=0 0:r2=1", "");
}

#[test]
fn locks_exclude_and_order_everything() {
    allowed("lock l; x=1; r0=y; unlock l || lock l; y=1; r1=x; unlock l", "0:r0=0 1:r1=0", "");
}

#[test]
fn an_await_looks_at_all_its_locations_in_one_step() {
    allowed("x=1; fence; y=1; fence; x=0 || await x==0 && y==1; r0=x", "1:r0=1", "");
    allowed("x=1; fence; y=1 || await x==0 && y==1; r0=y", "1:r0=1", "");
}

#[test]
fn a_join_that_only_acquires_drains_nothing() {
    let with = |join: &str| format!("x=1; {join}; r0=y || y=1; fence; r1=x || r2=z");
    allowed(&with("join.acq P2"), "0:r0=0 1:r1=0", "tso pso");
    allowed(&with("sfence; join.acq P2"), "0:r0=0 1:r1=0", "tso pso");
    allowed(&with("join P2"), "0:r0=0 1:r1=0", "");
}

#[test]
fn a_join_comes_after_every_store_of_the_thread() {
    allowed("join.acq P1; r0=x || x=1", "0:r0=0", "");
    allowed("z=1; join.acq P1; r0=x || x=1", "0:r0=0", "");
}
