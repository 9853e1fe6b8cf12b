//! Which executions are enumerated, what is refused, and what a rejection says.

mod common;

use common::check;
use teetotal_gallery::{n6, store_buffering};
use teetotal_judge::axiomatic::{EnumerateError, Execution, accepts, enumerate};
use teetotal_memory::ModelId::{self, Pso, Sc, Tso};
use teetotal_program::ir::{Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Order, Status, Subject, ThreadId};

/// Writes a thread that uses two locations.
type Body<'b> = &'b dyn Fn(&mut ThreadBuilder<'_>, Loc, Loc);

/// A program on `x` and `y` with these threads.
fn program(threads: &[Body<'_>]) -> Program {
    let mut p = Builder::new("test");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    for (index, body) in threads.iter().enumerate() {
        p.thread(&format!("P{index}"), |t| body(t, x, y));
    }
    p.build().expect("well formed")
}

/// How many traces `program` has under SC, TSO and PSO, by machine and axioms.
fn counts(program: &Program) -> [usize; 3] {
    [Sc, Tso, Pso].map(|model| check(model, program).len())
}

fn executions(model: ModelId, program: &Program) -> Vec<Execution> {
    check(model, program);
    enumerate(model, program, usize::MAX).expect("no loops")
}

fn is_blocked(execution: &Execution) -> bool {
    let status = |thread| execution.subject.status(ThreadId::at(thread));
    (0..execution.subject.n_threads()).any(|thread| matches!(status(thread), Status::Ready(_)))
}

#[test]
fn a_store_store_barrier_in_the_writer_forbids_what_pso_adds() {
    let reader: Body<'_> = &|t, x, y| {
        t.load("r0", y);
        t.load("r1", x);
    };
    let with = |barrier: fn(&mut ThreadBuilder<'_>)| {
        program(&[
            &|t, x, y| {
                t.store(x, 1);
                barrier(t);
                t.store(y, 1);
            },
            reader,
        ])
    };
    assert_eq!(counts(&with(|_| {})), [3, 3, 4]);
    assert_eq!(counts(&with(|t| t.store_store_fence())), [3, 3, 3]);
    assert_eq!(counts(&with(|t| t.load_load_fence())), [3, 3, 4]);
    assert_eq!(counts(&with(|t| t.fence())), [3, 3, 3]);
}

#[test]
fn a_release_store_waits_for_earlier_stores_but_holds_back_no_later_one() {
    let reader: Body<'_> = &|t, x, y| {
        t.load("r0", y);
        t.load("r1", x);
    };
    let writer = |first: Order, second: Order| {
        program(&[
            &|t, x, y| {
                t.store_with(x, 1, first);
                t.store_with(y, 1, second);
            },
            reader,
        ])
    };
    assert_eq!(counts(&writer(Order::Relaxed, Order::Release)), [3, 3, 3]);
    assert_eq!(counts(&writer(Order::Release, Order::Relaxed)), [3, 3, 4]);
    assert_eq!(counts(&writer(Order::SeqCst, Order::Relaxed)), [3, 3, 3]);
}

#[test]
fn locks_taken_in_opposite_orders_block_in_one_execution() {
    let both = |t: &mut ThreadBuilder<'_>, first: Loc, second: Loc| {
        t.lock(first);
        t.lock(second);
        t.unlock(second);
        t.unlock(first);
    };
    let p = program(&[&|t, x, y| both(t, x, y), &|t, x, y| both(t, y, x)]);
    for model in [Sc, Tso, Pso] {
        let executions = executions(model, &p);
        assert_eq!(executions.iter().filter(|execution| is_blocked(execution)).count(), 1);
        assert_eq!(executions.len(), 3);
    }
}

#[test]
fn an_await_is_blocked_only_where_the_final_memory_does_not_let_it_go_on() {
    let p = program(&[
        &|t, x, _| {
            t.store(x, 1);
            t.store(x, 2);
        },
        &|t, x, _| _ = t.await_until("r", x, |r| r.eq(1)),
    ]);
    let executions = executions(Tso, &p);
    assert_eq!(executions.iter().map(is_blocked).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_join_waits_forever_for_a_thread_that_failed() {
    let mut p = Builder::new("join");
    p.thread("main", |t| {
        t.spawn(ThreadId(1));
        t.join(ThreadId(1));
    });
    p.spawned("child", |t| t.assert(0, "never"));
    let executions = executions(Tso, &p.build().expect("well formed"));
    assert!(executions.len() == 1 && is_blocked(&executions[0]));
}

#[test]
fn what_cannot_be_enumerated_is_refused_by_name() {
    let looping = program(&[&|t, x, _| t.repeat(|t, _| t.store(x, 1))]);
    let exclusive = program(&[&|t, x, y| {
        t.exclusive(|t| {
            t.store(x, 1);
            t.store(y, 1);
        });
    }]);
    let twice = program(&[&|t, _, _| t.spawn(ThreadId(0))]);
    let refused = |program: &Program, limit| enumerate(Tso, program, limit).map(|_| ()).map_err(|e| e.to_string());
    let because = |what: &str| Err(format!("the executions of `test` cannot be enumerated, because {what}"));
    assert_eq!(refused(&looping, 1), because("it has a loop"));
    assert_eq!(refused(&exclusive, 1), because("thread `P0` has an exclusive region"));
    assert_eq!(refused(&twice, 1), because("thread 0 is spawned twice"));
    let limit = 3;
    assert_eq!(
        enumerate(Tso, &store_buffering(), limit).map(|_| ()),
        Err(EnumerateError::TooMany { program: "SB".to_owned(), limit })
    );
    assert_eq!(enumerate(Tso, &store_buffering(), 4).map(|found| found.len()), Ok(4));
}

#[test]
fn a_rejection_names_the_axiom_and_a_shortest_cycle() {
    let sc = check(Sc, &store_buffering());
    let relaxed = check(Tso, &store_buffering()).into_iter().find(|(key, _)| !sc.contains_key(key));
    let (_, trace) = relaxed.expect("TSO adds a trace");
    let rejection = accepts(Sc, &trace, |_| 0).expect_err("it is not sequentially consistent");
    assert_eq!(rejection.to_string(), "happens-before has the cycle 0 → 1 → 2 → 3 → 0");
    let pso = check(Pso, &n6());
    let tso = check(Tso, &n6());
    let verdicts = pso.iter().filter(|(key, _)| !tso.contains_key(*key)).map(|(_, trace)| accepts(Tso, trace, |_| 0));
    assert!(verdicts.into_iter().all(|verdict| verdict.is_err()));
}

#[test]
fn a_read_of_a_value_that_was_not_written_is_malformed() {
    let traces = check(Sc, &store_buffering());
    let trace = traces.values().next().expect("it has executions");
    let rejection = accepts(Sc, trace, |_| 7).expect_err("nothing is 7 at first");
    assert!(rejection.to_string().ends_with("does not read the value that its source wrote"));
}
