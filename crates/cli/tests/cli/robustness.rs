//! Robustness: what is said where it holds, where it does not, and where it cannot be decided.

use expect_test::expect;

use crate::{check, check_file};

#[test]
fn a_program_that_is_not_robust_comes_with_a_proof() {
    check_file("check SB --check robustness", 1, "not_robust");
}

#[test]
fn a_robust_program_says_what_follows() {
    check("check MP --check robustness --model tso", 0, expect![[""]]);
    check("check mp-release-store --check robustness,assertion,condition,deadlock --model pso", 0, expect![[""]]);
}

#[test]
fn threads_without_an_end_are_decided_by_states() {
    check("check spin-lock spin-lock-fenced --check robustness --model tso,pso --quiet", 1, expect![[""]]);
}

#[test]
fn a_violation_is_confirmed_on_request() {
    check_file("check write-order --check robustness --model pso --confirm", 1, "confirmed");
}

#[test]
fn what_does_not_fit_is_refused() {
    check("check SB --check sober --model pso", 2, expect![[""]]);
    check("check SB --check buffers --search dpor", 2, expect![[""]]);
    check("check peterson-loop --check robustness", 2, expect![[""]]);
}
