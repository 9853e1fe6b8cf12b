//! Robustness: what is said where it holds, where it does not, and where it cannot be decided.

use expect_test::{expect, expect_file};

use crate::{check, check_file, refuse, run, teetotal};

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
        error: `sober` does not support pso; use `robustness`
    "#]],
    );
    refuse(
        "check SB --check buffers --search dpor",
        2,
        expect![[r#"
        error: `buffers` needs more than the search `dpor` distinguishes; use `brute`
        help: `teetotal list checks` shows which search answers which check
    "#]],
    );
    refuse(
        "check SB --check robustness --search dpor --checkpoint sb.checkpoint",
        2,
        expect![[r#"
        error: a checkpoint does not save the state of `robustness`; leave out one of them
    "#]],
    );
}

/// Every litmus test of the corpus, and models of Promela whose steps access memory more than once.
#[test]
fn the_corpus_gets_its_verdicts() {
    let litmus = "../../corpus/litmus";
    let models = ["peterson-single", "peterson-repeated-fenced", "dekker-single", "clh", "barrier", "alternating-bit"];
    let models = models.map(|name| format!("../../corpus/promela/{name}.pml")).join(" ");
    let ran = run(&mut teetotal(&format!("check {litmus} {models} --check robustness --model tso,pso --quiet")));
    expect_file!["expected/robustness_of_the_corpus.txt"].assert_eq(&ran.stdout);
    assert_eq!(ran.code, Some(1));
}
