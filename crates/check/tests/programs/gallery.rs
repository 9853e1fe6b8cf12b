//! Which programs of the gallery go wrong under which models.

use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_gallery::*;
use teetotal_judge::Finding;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

/// Demands that some assertion fails under exactly these models.
fn check_failures(program: Program, expected: &[&str]) {
    let is_failure = |finding: &Finding| matches!(finding, Finding::Failure { .. });
    assert_eq!(models_with(&program, is_failure), expected, "{}", program.name);
}

/// The models under which the program is complete and has such a finding.
fn models_with(program: &Program, is_wanted: impl Fn(&Finding) -> bool) -> Vec<&'static str> {
    let program = Arc::new(program.clone());
    let found = BUFFER_MODELS.iter().filter(|model| {
        let outcome = check(&program, &Options::new(model.id), &|| None).expect("the gallery can be checked");
        assert!(outcome.coverage.is_complete(), "{} under {}", program.name, model.name);
        outcome.violations.iter().any(|violation| is_wanted(&violation.finding))
    });
    found.map(|model| model.name).collect()
}

const SET: SetThreads = SetThreads { adders: 1, readers: 1, removers: 1 };
const TWO_THIEVES: Deque = Deque { pushes: 2, takes: 1, thieves: 2 };

#[test]
fn without_fences_locks_fail_under_tso() {
    let weak = ["tso", "pso"];
    check_failures(dekker_try(1, Variant::PLAIN), &weak);
    check_failures(dekker_loop(1, Variant::PLAIN), &weak);
    check_failures(peterson_loop(1, Variant::PLAIN), &weak);
    check_failures(bakery_loop(2, Variant::PLAIN), &weak);
    check_failures(lamport_loop(2, Variant::PLAIN), &weak);
    check_failures(chase_lev(TWO_THIEVES, Variant::PLAIN), &weak);
}

/// Under SC nothing at all goes wrong: no count gets lost, and nobody waits for good.
#[test]
fn dekker_with_waiting_as_a_step_counts_right_under_sc_only() {
    assert_eq!(models_with(&dekker_sections(1), |_| true), ["tso", "pso"]);
}

#[test]
fn the_deque_snark_ends_under_sc() {
    let program = Arc::new(snark(1, Variant::PLAIN));
    let outcome = check(&program, &Options::new(ModelId::Sc), &|| None).expect("the gallery can be checked");
    assert!(outcome.coverage.is_complete() && outcome.violations.is_empty());
}

#[test]
fn without_fences_publication_fails_under_pso() {
    check_failures(message_passing_rounds(1, Variant::PLAIN), &["pso"]);
    check_failures(two_lock_queue(1, 1, Variant::PLAIN), &["pso"]);
    check_failures(lazy_list(SET, Variant::PLAIN), &["pso"]);
    check_failures(chase_lev(Deque { thieves: 1, ..TWO_THIEVES }, Variant::PLAIN), &["pso"]);
}

#[test]
fn fences_releases_and_locked_instructions_make_them_correct() {
    for waiting in [Waiting::Await, Waiting::Loop] {
        let fenced = Variant::FENCED.with_waiting(waiting);
        check_failures(dekker_loop(2, fenced), &[]);
        check_failures(peterson_loop(2, fenced), &[]);
        check_failures(bakery_loop(2, fenced), &[]);
        check_failures(lamport_loop(2, fenced), &[]);
    }
    check_failures(dekker_try(2, Variant::FENCED), &[]);
    check_failures(message_passing_rounds(2, Variant::FENCED), &[]);
    check_failures(message_passing_release(Publication::Store), &[]);
    check_failures(message_passing_release(Publication::Fence), &[]);
    check_failures(two_lock_queue(1, 1, Variant::FENCED), &[]);
    check_failures(lazy_list(SET, Variant::FENCED), &[]);
    check_failures(chase_lev(TWO_THIEVES, Variant::FENCED), &[]);
    check_failures(treiber(2, 1, Variant::PLAIN), &[]);
    check_failures(michael_scott(2, 1, Swap::Instruction, Variant::PLAIN), &[]);
    check_failures(harris(SET, Swap::Instruction, Variant::PLAIN), &[]);
}

/// Both are in the critical section at once, and the last store to `turn` hands it to the one that has ended.
#[test]
fn without_fences_dekker_may_wait_forever_under_tso() {
    let is_deadlock = |finding: &Finding| matches!(finding, Finding::Deadlock { .. });
    let program = dekker_loop(2, Variant::PLAIN.unchecked());
    assert_eq!(models_with(&program, is_deadlock), ["tso", "pso"]);
}
