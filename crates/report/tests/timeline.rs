//! Executions as they are shown, each driven step by step.

use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Machine, Model, Step, Trace};
use teetotal_program::condition::Term;
use teetotal_program::gallery;
use teetotal_program::ir::{Builder, Expr, Interpreter, Program};
use teetotal_program::{Loc, Order, ThreadId, Value};
use teetotal_report::{Options, Style, Timeline};

/// Steps as text: `0` lets thread 0 go on, `0.2` takes alternative 2, `0x` lets its oldest store to `x` leave.
fn run<M: Model>(program: &Program, steps: &str) -> (Trace, Vec<Value>) {
    let mut subject = Interpreter::new(Arc::new(program.clone()));
    let mut machine = Machine::<M>::new(&subject);
    let mut trace = Trace::default();
    for word in steps.split(' ') {
        let (thread, rest) = word.split_at(1);
        let thread = ThreadId(thread.parse().expect("a thread"));
        let step = match rest.strip_prefix('.') {
            Some(alternative) => Step::Issue { thread, alternative: alternative.parse().expect("an alternative") },
            None if rest.is_empty() => Step::Issue { thread, alternative: 0 },
            None => {
                let loc = program.locations.iter().position(|l| l.name == rest).expect("a location");
                Step::Commit { thread, loc: Loc::at(loc) }
            }
        };
        let mut enabled = Vec::new();
        machine.enabled(&subject, &mut enabled);
        assert!(enabled.contains(&step), "{word} is not possible, only {enabled:?}");
        machine.perform(&mut subject, step, &mut trace);
    }
    let outcome = program.observed.iter().map(|&term| match term {
        Term::Register(thread, reg) => subject.register(thread, reg),
        Term::Memory(loc) => machine.memory(loc),
    });
    (trace, outcome.collect())
}

fn check_with<M: Model>(program: &Program, steps: &str, options: Options, expect: Expect) {
    let (trace, outcome) = run::<M>(program, steps);
    let timeline = Timeline { program, trace: &trace, model: M::ID, outcome: Some(&outcome) };
    let text = timeline.render(options);
    for line in text.lines().filter(|_| !options.style.color) {
        assert!(line.chars().count() <= options.width, "too wide: {line}");
    }
    expect.assert_eq(&text);
}

fn check<M: Model>(_: M, program: &Program, steps: &str, expect: Expect) {
    check_with::<M>(program, steps, Options { width: 100, style: Style::default() }, expect);
}

fn program(build: impl FnOnce(&mut Builder)) -> Program {
    let mut p = Builder::new("test");
    build(&mut p);
    p.build().expect("well formed")
}

#[test]
fn tso_lets_both_threads_of_store_buffering_read_0() {
    check(Tso, &gallery::store_buffering(), "0 1 0 1 0x 1y", expect![[r#"
         step │ P0                           buffer │ P1                           buffer │ memory
        ──────┼─────────────────────────────────────┼─────────────────────────────────────┼────────
        start │                                     │                                     │ x=0 y=0
          (1) │ x = 1    buffered            [x=1]  │                                     │
          (2) │                              [x=1]  │ y = 1    buffered            [y=1]  │
          (3) │ r0 = y   reads 0 (initial)   [x=1]  │                              [y=1]  │
          (4) │                              [x=1]  │ r1 = x   reads 0 (initial)   [y=1]  │
          (5) │ x=1 leaves the buffer ──────────────┼─────────────────────────────────────▶ x=1
          (6) │                                     │ y=1 leaves the buffer ──────────────▶ y=1
          end │                                     │                                     │ x=1 y=1

        Outcome: 0:r0=0; 1:r1=0;

        P0 read y = 0 at step 3 although P1 had stored y = 1 at step 2: that store was still in P1's buffer
          (it left at step 6).
        P1 read x = 0 at step 4 although P0 had stored x = 1 at step 1: that store was still in P0's buffer
          (it left at step 5).

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) x = 1  ── before in P0 ────────────────▶ (3) r0 = y
          (3) r0 = y ── read 0, then overwritten by ─▶ (2) y = 1
          (2) y = 1  ── before in P1 ────────────────▶ (4) r1 = x
          (4) r1 = x ── read 0, then overwritten by ─▶ (1) x = 1
    "#]]);
}

#[test]
fn one_stale_read_is_enough_for_store_buffering() {
    check(Tso, &gallery::store_buffering(), "0 0 1 1y 1 0x", expect![[r#"
         step │ P0                           buffer │ P1                           buffer │ memory
        ──────┼─────────────────────────────────────┼─────────────────────────────────────┼────────
        start │                                     │                                     │ x=0 y=0
          (1) │ x = 1    buffered            [x=1]  │                                     │
          (2) │ r0 = y   reads 0 (initial)   [x=1]  │                                     │
          (3) │                              [x=1]  │ y = 1    buffered            [y=1]  │
          (4) │                              [x=1]  │ y=1 leaves the buffer ──────────────▶ y=1
          (5) │                              [x=1]  │ r1 = x   reads 0 (initial)          │
          (6) │ x=1 leaves the buffer ──────────────┼─────────────────────────────────────▶ x=1
          end │                                     │                                     │ x=1 y=1

        Outcome: 0:r0=0; 1:r1=0;

        P1 read x = 0 at step 5 although P0 had stored x = 1 at step 1: that store was still in P0's buffer
          (it left at step 6).

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) x = 1  ── before in P0 ────────────────▶ (2) r0 = y
          (2) r0 = y ── read 0, then overwritten by ─▶ (3) y = 1
          (3) y = 1  ── before in P1 ────────────────▶ (5) r1 = x
          (5) r1 = x ── read 0, then overwritten by ─▶ (1) x = 1
    "#]]);
}

#[test]
fn an_execution_that_sc_allows_says_so() {
    check(Tso, &gallery::store_buffering(), "0 1 0 0x 1 1y", expect![[r#"
         step │ P0                           buffer │ P1                          buffer │ memory
        ──────┼─────────────────────────────────────┼────────────────────────────────────┼────────
        start │                                     │                                    │ x=0 y=0
          (1) │ x = 1    buffered            [x=1]  │                                    │
          (2) │                              [x=1]  │ y = 1    buffered           [y=1]  │
          (3) │ r0 = y   reads 0 (initial)   [x=1]  │                             [y=1]  │
          (4) │ x=1 leaves the buffer ──────────────┼────────────────────────────────────▶ x=1
          (5) │                                     │ r1 = x   reads 1 from (1)   [y=1]  │
          (6) │                                     │ y=1 leaves the buffer ─────────────▶ y=1
          end │                                     │                                    │ x=1 y=1

        Outcome: 0:r0=0; 1:r1=1;

        P0 read y = 0 at step 3 although P1 had stored y = 1 at step 2: that store was still in P1's buffer
          (it left at step 6).
        The same reads and writes are possible under sequential consistency.
    "#]]);
}

#[test]
fn sc_has_no_buffers_to_show() {
    check(Sc, &gallery::store_buffering(), "0 0 1 1", expect![[r#"
         step │ P0                         │ P1                        │ memory
        ──────┼────────────────────────────┼───────────────────────────┼────────
        start │                            │                           │ x=0 y=0
          (1) │ x = 1 ─────────────────────┼───────────────────────────▶ x=1
          (2) │ r0 = y   reads 0 (initial) │                           │
          (3) │                            │ y = 1 ────────────────────▶ y=1
          (4) │                            │ r1 = x   reads 1 from (1) │
          end │                            │                           │ x=1 y=1

        Outcome: 0:r0=0; 1:r1=1;
    "#]]);
}

#[test]
fn pso_lets_the_flag_overtake_the_data() {
    check(Pso, &gallery::message_passing(), "0 0 0flag 1 1 0data", expect![[r#"
         step │ P0                    buffer          │ P1                            │ memory
        ──────┼───────────────────────────────────────┼───────────────────────────────┼──────────────
        start │                                       │                               │ data=0 flag=0
          (1) │ data = 1   buffered   [data=1]        │                               │
          (2) │ flag = 1   buffered   [data=1 flag=1] │                               │
          (3) │ flag=1 leaves the buffer ─────────────┼───────────────────────────────▶ flag=1
          (4) │                       [data=1]        │ r0 = flag   reads 1 from (2)  │
          (5) │                       [data=1]        │ r1 = data   reads 0 (initial) │
          (6) │ data=1 leaves the buffer ─────────────┼───────────────────────────────▶ data=1
          end │                                       │                               │ data=1 flag=1

        Outcome: 1:r0=1; 1:r1=0;

        P1 read data = 0 at step 5 although P0 had stored data = 1 at step 1: that store was still in P0's
          buffer (it left at step 6).
        P0's store flag = 1 reached memory (step 3) before its earlier store data = 1 did (step 6).

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) data = 1  ── before in P0 ────────────────▶ (2) flag = 1
          (2) flag = 1  ── read by ─────────────────────▶ (4) r0 = flag
          (4) r0 = flag ── before in P1 ────────────────▶ (5) r1 = data
          (5) r1 = data ── read 0, then overwritten by ─▶ (1) data = 1
    "#]]);
}

#[test]
fn a_forwarded_load_names_its_buffer() {
    check(Tso, &gallery::n6(), "0 0 0 1 1 1y 1x 0x", expect![[r#"
         step │ P0                                     buffer │ P1                 buffer    │ memory
        ──────┼───────────────────────────────────────────────┼──────────────────────────────┼────────
        start │                                               │                              │ x=0 y=0
          (1) │ x = 1    buffered                      [x=1]  │                              │
          (2) │ r0 = x   reads 1 from own buffer (1)   [x=1]  │                              │
          (3) │ r1 = y   reads 0 (initial)             [x=1]  │                              │
          (4) │                                        [x=1]  │ y = 2   buffered   [y=2]     │
          (5) │                                        [x=1]  │ x = 2   buffered   [y=2 x=2] │
          (6) │                                        [x=1]  │ y=2 leaves the buffer ───────▶ y=2
          (7) │                                        [x=1]  │ x=2 leaves the buffer ───────▶ x=2
          (8) │ x=1 leaves the buffer ────────────────────────┼──────────────────────────────▶ x=1
          end │                                               │                              │ x=1 y=2

        Outcome: 0:r0=1; 0:r1=0; [x]=1;

        P0 read x = 1 at step 2 from its own buffer; P1's x = 2 reached memory before that store did.

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) x = 1  ── before in P0 ────────────────▶ (3) r1 = y
          (3) r1 = y ── read 0, then overwritten by ─▶ (4) y = 2
          (4) y = 2  ── before in P1 ────────────────▶ (5) x = 2
          (5) x = 2  ── overwritten by ──────────────▶ (1) x = 1
    "#]]);
}

#[test]
fn two_plus_two_writes_has_no_reads_to_explain() {
    check(Pso, &gallery::two_plus_two_writes(), "0 0 1 1 0y 1x 0x 1y", expect![[r#"
         step │ P0                 buffer    │ P1                 buffer    │ memory
        ──────┼──────────────────────────────┼──────────────────────────────┼────────
        start │                              │                              │ x=0 y=0
          (1) │ x = 2   buffered   [x=2]     │                              │
          (2) │ y = 1   buffered   [x=2 y=1] │                              │
          (3) │                    [x=2 y=1] │ y = 2   buffered   [y=2]     │
          (4) │                    [x=2 y=1] │ x = 1   buffered   [y=2 x=1] │
          (5) │ y=1 leaves the buffer ───────┼──────────────────────────────▶ y=1
          (6) │                    [x=2]     │ x=1 leaves the buffer ───────▶ x=1
          (7) │ x=2 leaves the buffer ───────┼──────────────────────────────▶ x=2
          (8) │                              │ y=2 leaves the buffer ───────▶ y=2
          end │                              │                              │ x=2 y=2

        Outcome: [x]=2; [y]=2;

        P0's store y = 1 reached memory (step 5) before its earlier store x = 2 did (step 7).
        P1's store x = 1 reached memory (step 6) before its earlier store y = 2 did (step 8).

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) x = 2 ── before in P0 ───▶ (2) y = 1
          (2) y = 1 ── overwritten by ─▶ (3) y = 2
          (3) y = 2 ── before in P1 ───▶ (4) x = 1
          (4) x = 1 ── overwritten by ─▶ (1) x = 2
    "#]]);
}

#[test]
fn stores_that_never_leave_are_pending_at_the_end() {
    check(Pso, &gallery::message_passing(), "0 0 0flag 1 1", expect![[r#"
         step │ P0                    buffer          │ P1                            │ memory
        ──────┼───────────────────────────────────────┼───────────────────────────────┼──────────────
        start │                                       │                               │ data=0 flag=0
          (1) │ data = 1   buffered   [data=1]        │                               │
          (2) │ flag = 1   buffered   [data=1 flag=1] │                               │
          (3) │ flag=1 leaves the buffer ─────────────┼───────────────────────────────▶ flag=1
          (4) │                       [data=1]        │ r0 = flag   reads 1 from (2)  │
          (5) │                       [data=1]        │ r1 = data   reads 0 (initial) │
          end │ still buffered        [data=1]        │                               │ data=0 flag=1

        Outcome: 1:r0=1; 1:r1=0;

        P1 read data = 0 at step 5 although P0 had stored data = 1 at step 1: that store was still in P0's
          buffer (it is there to the end).
        P0's store flag = 1 reached memory (step 3) before its earlier store data = 1 did (still in the
          buffer at the end).

        This is impossible under sequential consistency, where each of these would have to come before the
          next:
          (1) data = 1  ── before in P0 ────────────────▶ (2) flag = 1
          (2) flag = 1  ── read by ─────────────────────▶ (4) r0 = flag
          (4) r0 = flag ── before in P1 ────────────────▶ (5) r1 = data
          (5) r1 = data ── read 0, then overwritten by ─▶ (1) data = 1
    "#]]);
}

fn counter() -> Program {
    program(|p| {
        let m = p.shared("m", 0);
        let x = p.shared("x", 0);
        for name in ["P0", "P1"] {
            p.thread(name, |t| {
                t.lock(m);
                let r = t.load("r", x);
                t.store(x, Expr::from(r).plus(1));
                t.unlock(m);
            });
        }
        p.observe([Term::Memory(x)]);
    })
}

#[test]
fn a_lock_is_free_or_held_by_a_thread() {
    check(Tso, &counter(), "0 0 0 0x 0 1 1 1 1x 1", expect![[r#"
         step │ P0                              buffer │ P1                             buffer │ memory
        ──────┼────────────────────────────────────────┼───────────────────────────────────────┼───────────
        start │                                        │                                       │ m=free x=0
          (1) │ lock m      free → P0 ─────────────────┼───────────────────────────────────────▶ m=P0
          (2) │ r = x       reads 0 (initial)          │                                       │
          (3) │ x = r + 1   buffered            [x=1]  │                                       │
          (4) │ x=1 leaves the buffer ─────────────────┼───────────────────────────────────────▶ x=1
          (5) │ unlock m    P0 → free ─────────────────┼───────────────────────────────────────▶ m=free
          (6) │                                        │ lock m      free → P1 ────────────────▶ m=P1
          (7) │                                        │ r = x       reads 1 from (3)          │
          (8) │                                        │ x = r + 1   buffered           [x=2]  │
          (9) │                                        │ x=2 leaves the buffer ────────────────▶ x=2
         (10) │                                        │ unlock m    P1 → free ────────────────▶ m=free
          end │                                        │                                       │ m=free x=2

        Outcome: [x]=2;

        The same reads and writes are possible under sequential consistency.
    "#]]);
}

#[test]
fn barriers_stand_in_the_buffer() {
    let program = program(|p| {
        let (x, y, z) = (p.shared("x", 0), p.shared("y", 0), p.shared("z", 0));
        p.thread("writer", |t| {
            t.store(x, 1);
            t.store_store_fence();
            t.store(y, 1);
            t.store_with(z, 1, Order::Release);
            t.fence();
        });
    });
    check(Pso, &program, "0 0 0 0 0x 0y 0z 0", expect![[r#"
         step │ writer                       buffer          │ memory
        ──────┼──────────────────────────────────────────────┼────────────
        start │                                              │ x=0 y=0 z=0
          (1) │ x = 1             buffered   [x=1]           │
          (2) │ store-store fence            [x=1 |]         │
          (3) │ y = 1             buffered   [x=1 | y=1]     │
          (4) │ z = 1 (release)   buffered   [x=1 | y=1 z=1] │
          (5) │ x=1 leaves the buffer ───────────────────────▶ x=1
          (6) │ y=1 leaves the buffer ───────────────────────▶ y=1
          (7) │ z=1 leaves the buffer ───────────────────────▶ z=1
          (8) │ fence                                        │
          end │                                              │ x=1 y=1 z=1

        Outcome: [x]=1; [y]=1; [z]=1;

        The same reads and writes are possible under sequential consistency.
    "#]]);
}

#[test]
fn every_other_statement_says_what_came_of_it() {
    let program = program(|p| {
        let x = p.shared("x", 5);
        let a = p.array("a", 3);
        let child = p.spawned("child", |t| {
            t.fetch_add("old", x, 2);
            t.compare_exchange("seen", x, 1, 2);
            t.exchange("last", x, -1);
        });
        p.thread("main", |t| {
            let c = t.choose("c", 3);
            t.store(a.at(c), 4);
            t.load("r", a.at(c));
            t.spawn(child);
            t.join(child);
            t.await_until("w", x, |w| Expr::from(w).eq(-1));
        });
        p.observe([Term::Memory(x)]);
    });
    check(Tso, &program, "1.2 1 1 1a[2] 1 0 0 0 1 1", expect![[r#"
         step │ child                              │ main                                 │ memory
        ──────┼────────────────────────────────────┼──────────────────────────────────────┼────────────
        start │                                    │                                      │ x=5 a[2]=0
          (1) │                                    │ c = choose below 3                   │
              │                                    │   takes 2                            │
          (2) │                                    │ a[c] = 4                             │
              │                                    │   buffer [a[2]=4]                    │
          (3) │                                    │ r = a[c]                             │
              │                                    │   reads a[2] = 4 from own buffer (2) │
          (4) │                                    │ a[2]=4 leaves the buffer ────────────▶ a[2]=4
          (5) │                                    │ spawn child                          │
          (6) │ old = fetch_add(x, 2) ─────────────┼──────────────────────────────────────▶ x=7
              │   5 → 7                            │                                      │
          (7) │ seen = compare_exchange(x, 1, 2)   │                                      │
              │   reads 7 from (6), writes nothing │                                      │
          (8) │ last = exchange(x, -1) ────────────┼──────────────────────────────────────▶ x=-1
              │   7 → -1                           │                                      │
          (9) │                                    │ join child                           │
         (10) │                                    │ await w = x until w == -1            │
              │                                    │   reads -1 from (8)                  │
          end │                                    │                                      │ x=-1 a[2]=4

        Outcome: [x]=-1;

        The same reads and writes are possible under sequential consistency.
    "#]]);
}

fn sized(width: usize, style: Style, program: &Program, steps: &str, expect: Expect) {
    check_with::<Tso>(program, steps, Options { width, style }, expect);
}

#[test]
fn a_narrow_timeline_stacks_its_cells() {
    sized(60, Style::default(), &gallery::store_buffering(), "0 1 0 1 0x 1y", expect![[r#"
         step │ P0                  │ P1                   │ memory
        ──────┼─────────────────────┼──────────────────────┼────────
        start │                     │                      │ x=0 y=0
          (1) │ x = 1               │                      │
              │   buffer [x=1]      │                      │
          (2) │                     │ y = 1                │
              │                     │   buffer [y=1]       │
          (3) │ r0 = y              │                      │
              │   reads 0 (initial) │                      │
          (4) │                     │ r1 = x               │
              │                     │   reads 0 (initial)  │
          (5) │ x=1 leaves the      │                      │
              │   buffer ───────────┼──────────────────────▶ x=1
          (6) │                     │ y=1 leaves the       │
              │                     │   buffer ────────────▶ y=1
          end │                     │                      │ x=1 y=1

        Outcome: 0:r0=0; 1:r1=0;

        P0 read y = 0 at step 3 although P1 had stored y = 1 at step
          2: that store was still in P1's buffer (it left at step
          6).
        P1 read x = 0 at step 4 although P0 had stored x = 1 at step
          1: that store was still in P0's buffer (it left at step
          5).

        This is impossible under sequential consistency, where each
          of these would have to come before the next:
          (1) x = 1  ── before in P0 ────────────────▶ (3) r0 = y
          (3) r0 = y ── read 0, then overwritten by ─▶ (2) y = 1
          (2) y = 1  ── before in P1 ────────────────▶ (4) r1 = x
          (4) r1 = x ── read 0, then overwritten by ─▶ (1) x = 1
    "#]]);
}

#[test]
fn a_very_narrow_timeline_is_a_list() {
    sized(40, Style::default(), &gallery::store_buffering(), "0 1 0 1 0x 1y", expect![[r#"
        start      memory x=0 y=0
          (1)  P0  x = 1 · buffered · [x=1]
          (2)  P1  y = 1 · buffered · [y=1]
          (3)  P0  r0 = y · reads 0 (initial)
          (4)  P1  r1 = x · reads 0 (initial)
          (5)  P0  x=1 leaves the buffer →
                     memory x=1
          (6)  P1  y=1 leaves the buffer →
                     memory y=1
          end      memory x=1 y=1

        Outcome: 0:r0=0; 1:r1=0;

        P0 read y = 0 at step 3 although P1 had
          stored y = 1 at step 2: that store was
          still in P1's buffer (it left at step
          6).
        P1 read x = 0 at step 4 although P0 had
          stored x = 1 at step 1: that store was
          still in P0's buffer (it left at step
          5).

        This is impossible under sequential
          consistency, where each of these would
          have to come before the next:
          (1) x = 1 ── before in P0 ─▶ (3) r0 =
            y
          (3) r0 = y ── read 0, then overwritten
            by ─▶ (2) y = 1
          (2) y = 1 ── before in P1 ─▶ (4) r1 =
            x
          (4) r1 = x ── read 0, then overwritten
            by ─▶ (1) x = 1
    "#]]);
}

#[test]
fn ascii_needs_no_special_characters() {
    let style = Style { ascii: true, color: false };
    let (trace, _) = run::<Tso>(&counter(), "0 0 0 0x 0");
    let timeline = Timeline { program: &counter(), trace: &trace, model: teetotal_memory::ModelId::Tso, outcome: None };
    for width in [120, 50, 30] {
        assert!(timeline.render(Options { width, style }).is_ascii());
    }
    sized(80, style, &gallery::store_buffering(), "0 1 0 1 0x 1y", expect![[r#"
         step | P0                      | P1                      | memory
        ------+-------------------------+-------------------------+--------
        start |                         |                         | x=0 y=0
          (1) | x = 1                   |                         |
              |   buffer [x=1]          |                         |
          (2) |                         | y = 1                   |
              |                         |   buffer [y=1]          |
          (3) | r0 = y                  |                         |
              |   reads 0 (initial)     |                         |
          (4) |                         | r1 = x                  |
              |                         |   reads 0 (initial)     |
          (5) | x=1 leaves the buffer --+-------------------------> x=1
          (6) |                         | y=1 leaves the buffer --> y=1
          end |                         |                         | x=1 y=1

        Outcome: 0:r0=0; 1:r1=0;

        P0 read y = 0 at step 3 although P1 had stored y = 1 at step 2: that store was
          still in P1's buffer (it left at step 6).
        P1 read x = 0 at step 4 although P0 had stored x = 1 at step 1: that store was
          still in P0's buffer (it left at step 5).

        This is impossible under sequential consistency, where each of these would have
          to come before the next:
          (1) x = 1  -- before in P0 ----------------> (3) r0 = y
          (3) r0 = y -- read 0, then overwritten by -> (2) y = 1
          (2) y = 1  -- before in P1 ----------------> (4) r1 = x
          (4) r1 = x -- read 0, then overwritten by -> (1) x = 1
    "#]]);
}

#[test]
fn color_only_adds_to_the_text() {
    let program = gallery::n6();
    let (trace, outcome) = run::<Tso>(&program, "0 0 0 1 1 1y 1x 0x");
    let timeline =
        Timeline { program: &program, trace: &trace, model: teetotal_memory::ModelId::Tso, outcome: Some(&outcome) };
    let [plain, colored] =
        [false, true].map(|color| timeline.render(Options { width: 80, style: Style { ascii: false, color } }));
    let mut stripped = String::new();
    let mut inside = false;
    for c in colored.chars() {
        match c {
            '\x1b' => inside = true,
            'm' if inside => inside = false,
            _ if inside => {}
            _ => stripped.push(c),
        }
    }
    assert_ne!(plain, colored);
    assert_eq!(plain, stripped);
}
