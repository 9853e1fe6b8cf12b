//! The programs of the gallery have the exact numbers of states and traces that earlier enumerations found.
//!
//! Numbers are given for SC, TSO and PSO in this order, as far as the search ends within seconds.

mod enumeration;

use enumeration::{Count, Ends, enumerate};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_program::gallery::*;
use teetotal_program::ir::Program;

/// Demands these numbers of executions under the first models, and that none of them blocks.
fn check(build: impl Fn() -> Program, count: Count, expected: &[usize]) {
    let name = build().name;
    for (model, &expected) in expected.iter().enumerate() {
        let ends = run(build(), count, model);
        assert_eq!(ends.n_complete(), expected, "{count:?} of {name} under {}", MODELS[model]);
        assert_eq!(ends.n_blocked(), 0, "{name} blocks under {}", MODELS[model]);
    }
}

/// Demands that some assertion fails under exactly these models.
fn check_failures(build: impl Fn() -> Program, expected: &[&str]) {
    let fails = |&model: &usize| run(build(), Count::Outcomes, model).n_failed() > 0;
    let failing: Vec<_> = (0..MODELS.len()).filter(fails).map(|model| MODELS[model]).collect();
    assert_eq!(failing, expected, "{}", build().name);
}

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

fn run(program: Program, count: Count, model: usize) -> Ends {
    match model {
        0 => enumerate::<Sc>(program, count),
        1 => enumerate::<Tso>(program, count),
        _ => enumerate::<Pso>(program, count),
    }
}

/// Without fences and assertions, and with the executions that would wait discarded, as Nidhugg counts.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

#[test]
fn the_classics_have_the_known_read_values() {
    check(store_buffering, Count::Values, &[3, 4, 4]);
    check(store_forwarding, Count::Values, &[3, 4, 4]);
    check(n6, Count::Values, &[3, 3, 4]);
    check(write_order, Count::Values, &[2, 2, 3]);
}

#[test]
fn the_programs_of_maximal_causality_have_the_known_read_values() {
    check(|| example(1), Count::Values, &[2, 2, 10]);
    check(|| example(2), Count::Values, &[52, 52, 188]);
    check(|| example(3), Count::Values, &[1016, 1016]);
    check(rv_example, Count::Values, &[107, 107, 137]);
    check(|| counter(2), Count::Values, &[19, 19, 19]);
    check(|| counter(3), Count::Values, &[140, 140, 140]);
}

#[test]
fn the_bounded_locks_have_the_known_read_values() {
    check(peterson, Count::Values, &[36, 36, 36]);
    check(dekker, Count::Values, &[84, 86, 154]);
    check(bakery, Count::Values, &[194, 496, 624]);
    check(lamport, Count::Values, &[121, 123]);
}

#[test]
fn the_programs_have_the_known_reads_from_classes() {
    check(store_buffering, Count::Sources, &[3, 4, 4]);
    check(store_forwarding, Count::Sources, &[3, 4, 4]);
    check(n6, Count::Sources, &[3, 3, 4]);
    check(write_order, Count::Sources, &[2, 2, 3]);
    check(|| example(1), Count::Sources, &[3, 3, 38]);
    check(|| example(2), Count::Sources, &[105, 105]);
    check(rv_example, Count::Sources, &[600, 612, 868]);
    check(|| counter(2), Count::Sources, &[19, 19, 19]);
    check(|| counter(3), Count::Sources, &[141, 141, 141]);
    check(peterson, Count::Sources, &[39, 46, 46]);
    check(dekker, Count::Sources, &[227, 230, 444]);
    check(bakery, Count::Sources, &[221, 669, 1140]);
    check(lamport, Count::Sources, &[477, 540]);
}

#[test]
fn the_shapes_have_the_known_outcomes() {
    for (n, outcomes) in (2..=5).zip([4, 24, 200, 2160]) {
        check(|| write_read(n), Count::Outcomes, &[outcomes, outcomes]);
    }
    for n in 2..=4 {
        check(|| store_buffering_ring(n), Count::Outcomes, &[(1 << n) - 1, 1 << n, 1 << n]);
    }
    check(|| n_writers(4), Count::Traces, &[24, 24, 24]);
    check(|| increments(3), Count::Outcomes, &[16, 16, 16]);
    check(|| iriw(2), Count::Outcomes, &[15, 15, 15]);
    check(two_by_ten, Count::Outcomes, &[1783, 4862]);
}

/// The numbers of complete executions that Nidhugg and GenMC explore.
#[test]
fn the_programs_of_the_peers_have_the_traces_that_the_peers_explore() {
    for n in 2..=3 {
        check(|| store_buffering_sum(n, ALL), Count::Traces, &[(1 << n) - 1, 1 << n, 1 << n]);
    }
    check(|| message_passing_rounds(3, ALL), Count::Traces, &[931, 931, 8000]);
    check(|| dekker_try(1, ALL), Count::Traces, &[7, 11]);
    check(|| dekker_try(2, ALL), Count::Traces, &[107, 346]);
    check(|| dekker_try(3, ALL), Count::Traces, &[1833]);
    check(|| dekker_loop(2, ALL), Count::Traces, &[71, 1007]);
    check(|| peterson_loop(2, ALL), Count::Traces, &[48, 1510]);
    check(|| lamport_loop(2, ALL), Count::Traces, &[16, 52]);
    check(|| bakery_loop(2, ALL), Count::Traces, &[9, 28, 128]);
    check(|| fibonacci(3, ALL), Count::Traces, &[141, 175, 175]);
    check(|| readers(8), Count::Traces, &[256, 256, 256]);
    check(|| michael_scott(2, 1, Swap::Instruction, ALL), Count::Traces, &[188, 188, 188]);
}

#[test]
fn nidhugg_discards_as_many_executions_under_sc() {
    assert_eq!(run(dekker_loop(2, ALL), Count::Traces, 0).n_discarded(), 170);
    assert_eq!(run(peterson_loop(2, ALL), Count::Traces, 0).n_discarded(), 88);
}

#[test]
fn without_fences_locks_fail_under_tso() {
    let weak = ["tso", "pso"];
    check_failures(|| dekker_try(1, Variant::PLAIN), &weak);
    check_failures(|| dekker_loop(1, Variant::PLAIN), &weak);
    check_failures(|| peterson_loop(1, Variant::PLAIN), &weak);
    check_failures(|| bakery_loop(2, Variant::PLAIN), &weak);
    check_failures(|| lamport_loop(2, Variant::PLAIN), &weak);
    check_failures(|| chase_lev(TWO_THIEVES, Variant::PLAIN), &weak);
}

#[test]
fn without_fences_publication_fails_under_pso() {
    check_failures(|| message_passing_rounds(1, Variant::PLAIN), &["pso"]);
    check_failures(|| two_lock_queue(1, 1, Variant::PLAIN), &["pso"]);
    check_failures(|| lazy_list(SET, Variant::PLAIN), &["pso"]);
    check_failures(|| chase_lev(Deque { thieves: 1, ..TWO_THIEVES }, Variant::PLAIN), &["pso"]);
}

#[test]
fn fences_releases_and_locked_instructions_make_them_correct() {
    for waiting in [Waiting::Await, Waiting::Loop] {
        let fenced = Variant::FENCED.with_waiting(waiting);
        check_failures(|| dekker_loop(2, fenced), &[]);
        check_failures(|| peterson_loop(2, fenced), &[]);
        check_failures(|| bakery_loop(2, fenced), &[]);
        check_failures(|| lamport_loop(2, fenced), &[]);
    }
    check_failures(|| dekker_try(2, Variant::FENCED), &[]);
    check_failures(|| message_passing_rounds(2, Variant::FENCED), &[]);
    check_failures(|| message_passing_release(Publication::Store), &[]);
    check_failures(|| message_passing_release(Publication::Fence), &[]);
    check_failures(|| two_lock_queue(1, 1, Variant::FENCED), &[]);
    check_failures(|| lazy_list(SET, Variant::FENCED), &[]);
    check_failures(|| chase_lev(TWO_THIEVES, Variant::FENCED), &[]);
    check_failures(|| treiber(2, 1, Variant::PLAIN), &[]);
    check_failures(|| michael_scott(2, 1, Swap::Instruction, Variant::PLAIN), &[]);
    check_failures(|| harris(SET, Swap::Instruction, Variant::PLAIN), &[]);
}

#[test]
fn a_spinlock_freed_by_a_plain_store_loses_updates_under_pso() {
    let two_adders = SetThreads { adders: 2, removers: 0, ..SET };
    check(|| harris(two_adders, Swap::Spinlock, Variant::PLAIN), Count::Outcomes, &[2, 2, 6]);
    check(|| harris(two_adders, Swap::Spinlock, Variant::FENCED), Count::Outcomes, &[2, 2, 2]);
    check(|| michael_scott(2, 1, Swap::Spinlock, Variant::PLAIN), Count::Outcomes, &[4, 4, 20]);
}

/// Both are in the critical section at once, and the last store to `turn` hands it to the one that has ended.
#[test]
fn without_fences_dekker_may_wait_forever_under_tso() {
    let blocks = |model| run(dekker_loop(2, Variant::PLAIN.unchecked()), Count::Outcomes, model).n_blocked() > 0;
    assert_eq!([blocks(0), blocks(1), blocks(2)], [false, true, true]);
}

const SET: SetThreads = SetThreads { adders: 1, readers: 1, removers: 1 };
const TWO_THIEVES: Deque = Deque { pushes: 2, takes: 1, thieves: 2 };
