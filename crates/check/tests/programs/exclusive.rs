//! Stretches without a switch, and threads that may rest.

use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_engine::Limits;
use teetotal_memory::ModelId;
use teetotal_program::ir::{Builder, Program};

/// The final states under a model, and how many executions are blocked.
fn outcomes(program: Program, model: ModelId, limits: Limits, expected: &[&str]) {
    let program = Arc::new(program);
    let options = Options { limits, ..Options::new(model) };
    let outcome = check(&program, &options, &|| None).expect("it can be checked");
    let mut shown: Vec<String> = outcome.states.keys().map(|values| program.show_outcome(values)).collect();
    shown.push(format!("{} violations", outcome.violations.len()));
    assert_eq!(shown, expected);
}

fn interrupted_by_a_fence() -> Program {
    let mut p = Builder::new("fence inside");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    p.thread("P0", |t| {
        t.exclusive(|t| {
            t.store(x, 1);
            t.fence();
            t.store(y, 1);
        });
    });
    p.thread("P1", |t| {
        t.await_until("r0", x, |read| read.eq(1));
        t.load("r1", y);
    });
    p.build().expect("it is well formed")
}

#[test]
fn without_buffers_a_fence_does_not_interrupt() {
    let expected = &["1:r0=1; 1:r1=1; [x]=1; [y]=1;", "0 violations"];
    outcomes(interrupted_by_a_fence(), ModelId::Sc, Limits::default(), expected);
}

/// Not only while the store is on its way: once the thread had to wait, others may go first even when it can go on.
#[test]
fn a_fence_that_waits_lets_others_in() {
    let expected = &["1:r0=1; 1:r1=0; [x]=1; [y]=1;", "1:r0=1; 1:r1=1; [x]=1; [y]=1;", "0 violations"];
    outcomes(interrupted_by_a_fence(), ModelId::Tso, Limits::default(), expected);
}

#[test]
fn a_full_buffer_does_not_let_others_in() {
    let mut p = Builder::new("full buffer");
    let (x, y, z) = (p.shared("x", 0), p.shared("y", 0), p.shared("z", 0));
    p.thread("P0", |t| {
        t.exclusive(|t| {
            t.load("r0", z);
            t.store(x, 1);
            t.store(y, 1);
            t.load("r1", z);
        });
    });
    p.thread("P1", |t| {
        t.exchange("r2", z, 1);
    });
    let expected = &[
        "0:r0=0; 0:r1=0; 1:r2=0; [x]=1; [y]=1; [z]=1;",
        "0:r0=1; 0:r1=1; 1:r2=0; [x]=1; [y]=1; [z]=1;",
        "0 violations",
    ];
    let limits = Limits { buffer: Some(1), ..Limits::default() };
    outcomes(p.build().expect("it is well formed"), ModelId::Tso, limits, expected);
}

#[test]
fn a_step_that_reads_and_stores_is_one_moment_under_sc_only() {
    let increments = || {
        let mut p = Builder::new("increments");
        let x = p.shared("x", 0);
        for name in ["P0", "P1"] {
            p.thread(name, |t| {
                let read = t.temporary();
                t.transfer(vec![(read, x.into())], x, read.plus(1));
            });
        }
        p.build().expect("it is well formed")
    };
    let expected = &["[x]=2;", "0 violations"];
    outcomes(increments(), ModelId::Sc, Limits::default(), expected);
    let expected = &["[x]=1;", "[x]=2;", "0 violations"];
    outcomes(increments(), ModelId::Tso, Limits::default(), expected);
}

#[test]
fn a_thread_that_may_rest_is_no_deadlock() {
    let waiting = |rests: bool| {
        let mut p = Builder::new("waiting");
        let x = p.shared("x", 0);
        p.thread("P0", |t| {
            if rests {
                t.may_rest();
            }
            t.await_until("r0", x, |read| read.eq(1));
        });
        p.build().expect("it is well formed")
    };
    let expected = &["0:r0=0; [x]=0;", "0 violations"];
    outcomes(waiting(true), ModelId::Tso, Limits::default(), expected);
    outcomes(waiting(false), ModelId::Tso, Limits::default(), &["1 violations"]);
}
