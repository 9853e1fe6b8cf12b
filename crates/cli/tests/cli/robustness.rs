//! Robustness: what is said where it holds, where it does not, and where it cannot be decided.

use expect_test::expect;

use crate::{check, check_file, refuse};

#[test]
fn a_program_that_is_not_robust_comes_with_a_proof() {
    check_file("check SB --check robustness", 1, "not_robust");
}

#[test]
fn a_robust_program_says_what_follows() {
    check(
        "check MP --check robustness --model tso",
        0,
        expect![[r#"
        MP: holds under tso (complete, 3 executions)
          every TSO execution is sequentially consistent
    "#]],
    );
    check(
        "check mp-release-store --check robustness,assertion,condition,deadlock --model pso",
        0,
        expect![[r#"
        mp-release-store: holds under pso (complete, 3 executions)
          every PSO execution is sequentially consistent, and all of them are correct
    "#]],
    );
}

#[test]
fn threads_without_an_end_are_decided_by_states() {
    check(
        "check spin-lock spin-lock-fenced --check robustness --model tso,pso --quiet",
        1,
        expect![[r#"
        spin-lock: holds under tso (complete, 166 states)
        spin-lock: violated under pso (complete, 194 states)
        spin-lock-fenced: holds under tso (complete, 166 states)
        spin-lock-fenced: holds under pso (complete, 166 states)
    "#]],
    );
}

#[test]
fn a_violation_is_confirmed_on_request() {
    check_file("check write-order --check robustness --model pso --confirm", 1, "confirmed");
}

#[test]
fn what_does_not_fit_is_refused() {
    refuse(
        "check SB --check sober --model pso",
        2,
        expect![[r#"
        error: `sober` knows nothing of pso; use `robustness`
    "#]],
    );
    refuse(
        "check SB --check buffers --search dpor",
        2,
        expect![[r#"
        error: `buffers` looks at more than the search `dpor` shows; use `brute`
        help: `teetotal list checks` shows what fits
    "#]],
    );
    refuse(
        "check SB --check robustness --search dpor --checkpoint sb.checkpoint",
        2,
        expect![[r#"
        error: a checkpoint does not keep what `robustness` has seen; leave one of them out
    "#]],
    );
}
