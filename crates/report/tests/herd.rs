//! The block of herd7.

use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_check::{Options, check as explore};
use teetotal_engine::Limits;
use teetotal_memory::ModelId;
use teetotal_program::condition::{Condition, Formula};
use teetotal_program::ir::Builder;
use teetotal_report::{Report, Tally};

/// The block for store buffering under TSO, with a condition made of `0:r0=0`, `1:r1=0` and `[x]=1`.
fn check(limits: Limits, condition: impl FnOnce([Formula; 3]) -> Option<Condition>, expected: Expect) {
    let mut p = Builder::new("SB");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    let p0 = p.thread("P0", |t| {
        t.store(x, 1);
        t.load("r0", y);
    });
    let p1 = p.thread("P1", |t| {
        t.store(y, 1);
        t.load("r1", x);
    });
    let r0 = p.register(p0, "r0").expect("loaded above");
    let r1 = p.register(p1, "r1").expect("loaded above");
    let x = teetotal_program::condition::Term::Memory(x);
    if let Some(condition) = condition([Formula::equal(r0, 0), Formula::equal(r1, 0), Formula::equal(x, 1)]) {
        p.condition(condition);
    }
    let program = Arc::new(p.build().expect("well formed"));
    let options = Options { limits, ..Options::new(ModelId::Tso) };
    let outcome = explore(&program, &options, &|| None).expect("it can be checked");
    let report = Report { program: &program, options: &options, outcome: &outcome };
    let block = report.herd(Tally::of(&program, &outcome), 0.0);
    let notes: String = report.beside_herd().iter().map(|line| format!("beside: {line}\n")).collect();
    expected.assert_eq(&(block + &notes));
}

#[test]
fn a_question_counts_executions_for_and_against() {
    check(
        Limits::default(),
        |[a, b, _]| Some(Condition::Exists(Formula::And(vec![a, b]))),
        expect![[r#"
        Test SB Allowed
        States 4
        0:r0=0; 1:r1=0; [x]=1; [y]=1;
        0:r0=0; 1:r1=1; [x]=1; [y]=1;
        0:r0=1; 1:r1=0; [x]=1; [y]=1;
        0:r0=1; 1:r1=1; [x]=1; [y]=1;
        Ok
        Witnesses
        Positive: 1 Negative: 3
        Condition exists (0:r0=0 /\ 1:r1=0)
        Observation SB Sometimes 1 3
        Time SB 0.00

    "#]],
    );
}

#[test]
fn what_is_forbidden_turns_the_counts_around() {
    check(
        Limits::default(),
        |[a, b, _]| Some(Condition::NotExists(Formula::And(vec![a, b]))),
        expect![[r#"
        Test SB Forbidden
        States 4
        0:r0=0; 1:r1=0; [x]=1; [y]=1;
        0:r0=0; 1:r1=1; [x]=1; [y]=1;
        0:r0=1; 1:r1=0; [x]=1; [y]=1;
        0:r0=1; 1:r1=1; [x]=1; [y]=1;
        No
        Witnesses
        Positive: 3 Negative: 1
        Condition ~exists (0:r0=0 /\ 1:r1=0)
        Observation SB Sometimes 1 3
        Time SB 0.00

    "#]],
    );
}

#[test]
fn only_a_disjunction_in_a_conjunction_needs_parentheses() {
    let condition = |[a, b, c]: [Formula; 3]| {
        let both = Formula::And(vec![a.clone(), b.clone()]);
        let either = Formula::Or(vec![both, Formula::Or(vec![a, b])]);
        let not = Formula::Not(Box::new(Formula::Or(vec![])));
        Some(Condition::ForAll(Formula::And(vec![
            Formula::And(vec![either.clone(), c]),
            not,
            Formula::And(vec![either]),
        ])))
    };
    check(
        Limits::default(),
        condition,
        expect![[r#"
        Test SB Required
        States 4
        0:r0=0; 1:r1=0; [x]=1; [y]=1;
        0:r0=0; 1:r1=1; [x]=1; [y]=1;
        0:r0=1; 1:r1=0; [x]=1; [y]=1;
        0:r0=1; 1:r1=1; [x]=1; [y]=1;
        No
        Witnesses
        Positive: 3 Negative: 1
        Condition forall ((0:r0=0 /\ 1:r1=0 \/ 0:r0=0 \/ 1:r1=0) /\ [x]=1 /\ not (false) /\ (0:r0=0 /\ 1:r1=0 \/ 0:r0=0 \/ 1:r1=0))
        Observation SB Sometimes 3 1
        Time SB 0.00

    "#]],
    );
}

#[test]
fn without_a_condition_everything_is_as_required() {
    check(
        Limits::default(),
        |_| None,
        expect![[r#"
        Test SB Required
        States 4
        0:r0=0; 1:r1=0; [x]=1; [y]=1;
        0:r0=0; 1:r1=1; [x]=1; [y]=1;
        0:r0=1; 1:r1=0; [x]=1; [y]=1;
        0:r0=1; 1:r1=1; [x]=1; [y]=1;
        Ok
        Witnesses
        Positive: 4 Negative: 0
        Condition forall (true)
        Observation SB Always 4 0
        Time SB 0.00

    "#]],
    );
}

#[test]
fn a_search_that_was_stopped_says_so() {
    let limits = Limits { states: Some(3), ..Limits::default() };
    check(
        limits,
        |[a, ..]| Some(Condition::Exists(a)),
        expect![[r#"
        Test SB Allowed
        States 0
        Loop No
        Witnesses
        Positive: 0 Negative: 0
        Condition exists (0:r0=0)
        Observation SB Never 0 0
        Time SB 0.00

        beside: SB under tso: stopped: 3 states
    "#]],
    );
}
