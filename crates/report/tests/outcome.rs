//! What is said of searches: one small program for each thing there is to say.

use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_check::{Options, check};
use teetotal_engine::Limits;
use teetotal_memory::ModelId;
use teetotal_program::condition::{Condition, Formula, Term};
use teetotal_program::ir::{Builder, Expr};
use teetotal_program::{Loc, Span};
use teetotal_report::{Detail, Options as Drawing, Report};

/// What is said under TSO of a program with the locations `x` and `y`, up to the first execution that is shown.
fn said(options: Options, build: impl FnOnce(&mut Builder, Loc, Loc)) -> String {
    let mut p = Builder::new("test");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    build(&mut p, x, y);
    let program = Arc::new(p.build().expect("well formed"));
    let outcome = check(&program, &options, &|| None).expect("it can be checked");
    let report = Report { program: &program, options: &options, outcome: &outcome };
    let text = report.render(Detail::Brief, Drawing::default());
    let text: String = text.lines().filter(|line| !line.contains("-->")).map(|line| format!("{line}\n")).collect();
    let said = text.split(" step │").next().expect("there is a first piece");
    said.trim_end().to_owned() + "\n"
}

fn check_said(build: impl FnOnce(&mut Builder, Loc, Loc), expected: Expect) {
    expected.assert_eq(&said(Options::new(ModelId::Tso), build));
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    check_said(
        |p, x, y| {
            p.thread("P0", |t| {
                t.lock(x);
                t.lock(y);
                t.unlock(y);
                t.unlock(x);
            });
            p.thread("P1", |t| {
                t.lock(y);
                t.lock(x);
                t.unlock(x);
                t.unlock(y);
            });
        },
        expect![[r#"
            test: violated under tso (complete, 17 states)

            deadlock: P0 and P1 are blocked forever
              P0 waits at `lock y`, which P1 holds
              P1 waits at `lock x`, which P0 holds
        "#]],
    );
}

#[test]
fn a_wait_that_never_ends_says_what_is_there_instead() {
    check_said(
        |p, x, y| {
            p.thread("P0", |t| {
                t.store(y, 2);
                t.await_until("r", x, |r| Expr::from(r).eq(1));
            });
        },
        expect![[r#"
            test: violated under tso (complete, 3 states)

            deadlock: P0 is blocked forever
              P0 waits at `await r = x until r == 1`, but x is 0
        "#]],
    );
}

#[test]
fn a_wait_that_never_ends_is_told_where_deadlock_is_not_checked() {
    let monitors = vec![teetotal_judge::MonitorId::Condition];
    let text = said(Options { monitors, ..Options::new(ModelId::Tso) }, |p, x, _| {
        p.thread("P0", |t| {
            t.await_until("r", x, |r| Expr::from(r).eq(1));
        });
        p.thread("P1", |t| {
            let choice = t.choose("c", 2);
            t.when(choice, |t| t.store(x, 1));
        });
        p.condition(Condition::Exists(Formula::equal(Term::Memory(x), 1)));
    });
    expect![[r#"
        test: observed under tso (complete, 6 states)
          asks: exists ([x]=1)
          note: in some execution a thread is blocked forever; `--check deadlock` shows
            one
          show: teetotal replay test tso1:4:fa4d55d0:1c1.1.1w.0
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_lock_taken_twice_is_held_by_its_own_thread() {
    check_said(
        |p, x, _| {
            p.thread("P0", |t| {
                t.lock(x);
                t.lock(x);
            });
        },
        expect![[r#"
            test: violated under tso (complete, 2 states)

            deadlock: P0 is blocked forever
              P0 waits at `lock x`, which it holds itself
        "#]],
    );
}

#[test]
fn a_join_says_for_whom_it_waits() {
    check_said(
        |p, x, _| {
            let child = p.spawned("child", |t| t.store(x, 1));
            p.thread("main", |t| t.join(child));
        },
        expect![[r#"
            test: violated under tso (complete, 1 state)

            deadlock: main is blocked forever
              main waits at `join child`, but child was never started
        "#]],
    );
}

#[test]
fn a_failure_says_which_values_led_to_it() {
    check_said(
        |p, x, y| {
            p.thread("P0", |t| {
                let a = t.load("a", x);
                let b = t.load("b", y);
                t.assert(Expr::from(a).plus(b), "something is set");
            });
        },
        expect![[r#"
            test: violated under tso (complete, 3 states)

            assertion failed in P0: something is set
              at `assert a + b`, where a = 0 and b = 0
        "#]],
    );
}

#[test]
fn an_unlock_of_a_free_lock_is_a_failure() {
    check_said(
        |p, x, _| {
            p.thread("P0", |t| t.unlock(x));
        },
        expect![[r#"
            test: violated under tso (complete, 2 states)

            unlock without holding the lock in P0
              at `unlock x`
        "#]],
    );
}

#[test]
fn a_broken_condition_shows_the_final_state() {
    check_said(
        |p, x, _| {
            p.thread("P0", |t| t.store(x, 1));
            p.observe([Term::Memory(x)]);
            p.condition(Condition::ForAll(Formula::equal(Term::Memory(x), 0)));
        },
        expect![[r#"
            test: violated under tso (complete, 3 states)

            condition violated: forall ([x]=0)
              the final state is [x]=1;
        "#]],
    );
}

#[test]
fn a_condition_that_no_execution_comes_to_is_not_looked_at() {
    let monitors = vec![teetotal_judge::MonitorId::Condition];
    let text = said(Options { monitors, ..Options::new(ModelId::Tso) }, |p, x, _| {
        p.thread("P0", |t| {
            t.await_until("r", x, |r| Expr::from(r).eq(1));
        });
        p.condition(Condition::ForAll(Formula::equal(Term::Memory(x), 7)));
    });
    expect![[r#"
        test: nothing to check under tso (no execution ends)
          note: no execution ended, so the condition was never evaluated
          note: in some execution a thread is blocked forever; `--check deadlock` shows
            one
    "#]]
    .assert_eq(&text);
}

#[test]
fn assumptions_that_never_hold_are_told() {
    check_said(
        |p, x, _| {
            p.thread("P0", |t| {
                let r = t.load("r", x);
                t.assume(r);
            });
        },
        expect![[r#"
            test: nothing to check under tso (no execution satisfies the assumptions)
              note: every execution ends at an assumption that does not hold
        "#]],
    );
}

#[test]
fn an_endless_loop_is_told() {
    check_said(
        |p, x, _| {
            let source = p.source("spin.txt", None);
            p.thread("P0", |t| {
                t.at(Some(Span { source, line: 3, column: 5, length: 0 }));
                t.store(x, 1);
                t.repeat(|_, _| {});
            });
        },
        expect![[r#"
            test: no violation found under tso (stopped: an endless loop in P0)
              help: let the loop at spin.txt:3:5 read shared memory, or wait with `await`
        "#]],
    );
}

#[test]
fn a_buffer_that_is_too_short_makes_the_search_incomplete() {
    let limits = Limits { buffer: Some(1), ..Limits::default() };
    let text = said(Options { limits, ..Options::new(ModelId::Tso) }, |p, x, y| {
        p.thread("P0", |t| {
            t.store(x, 1);
            t.store(y, 1);
        });
        p.thread("P1", |t| {
            t.load("r0", y);
            t.load("r1", x);
        });
        p.condition(Condition::Exists(Formula::equal(Term::Memory(x), 7)));
    });
    expect![[r#"
        test: not observed so far under tso (stopped: a buffer of 1 store)
          asks: exists ([x]=7)
          help: explore more with a higher limit than `--limit buffer=1`
    "#]]
    .assert_eq(&text);
}
