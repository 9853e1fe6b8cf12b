//! Robustness of Rust code: which fence a lock needs, and what is said where it is missing.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use expect_test::{Expect, expect};
use teetotal::model::{Builder, Report};
use teetotal::parts::live::Place;
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{self, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicUsize, fence};
use teetotal::{Coverage, ModelId, Monitoring, StopReason, cell, monitor, thread};

mod lock;

/// A cell that threads share by agreement.
struct Shared<T>(cell::UnsafeCell<T>);

// SAFETY: the search finds every access that nothing orders.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn new(value: T) -> Self {
        Shared(cell::UnsafeCell::new(value))
    }

    #[track_caller]
    fn get(&self) -> T {
        // SAFETY: no thread writes meanwhile, or the search reports it.
        self.0.with(|value| unsafe { *value })
    }

    #[track_caller]
    fn set(&self, new: T) {
        // SAFETY: no thread accesses it meanwhile, or the search reports it.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

fn explore(model: ModelId, f: impl Fn() + Send + Sync + 'static) -> Report {
    let mut builder = Builder::new();
    (builder.model, builder.robustness) = (model, true);
    let report = builder.explore(f);
    assert!(report.coverage.is_complete() || report.failure.is_some());
    report
}

/// The line of `lock.rs` at a place.
fn line(place: Option<&Place>) -> String {
    let text = include_str!("lock.rs");
    let line = place.and_then(|place| text.lines().nth(place.line as usize - 1));
    line.unwrap_or("(none)").trim().to_owned()
}

#[test]
fn a_lock_with_the_one_fence_that_it_needs_is_robust() {
    let report = explore(ModelId::Tso, lock::fenced);
    assert_eq!(report.failure, None);
    assert!(report.not_robust.is_empty() && report.coverage.is_complete());
}

#[test]
fn the_place_of_a_fence_that_is_missing_is_named() {
    let report = explore(ModelId::Tso, lock::unfenced);
    let missing = include_str!("lock.rs").lines().position(|line| line.contains("The fence is missing here"));
    let after = missing.expect("it is there") as u32 + 2;
    assert!(!report.not_robust.is_empty());
    for pair in &report.not_robust {
        assert_eq!(pair.fence_before.as_ref().map(|place| place.line), Some(after), "{}", line(Some(&pair.store)));
        assert_eq!(pair.fence_helps, Some(true));
    }
    let failure = report.failure.expect("it is not robust");
    assert!(failure.contains(&format!("or put `fence(SeqCst)` before line {after} (confirmed")), "{failure}");
    assert!(failure.contains("With this fence it is robust under tso"), "{failure}");
}

/// What is said, without what changes from run to run.
fn check(model: ModelId, f: impl Fn() + Send + Sync + 'static, expected: Expect) {
    let text = explore(model, f).failure.expect("it is not robust");
    let lines = text.lines().map(|line| if line.contains("TEETOTAL_REPLAY=") { "    TEETOTAL_REPLAY=…" } else { line });
    expected.assert_eq(&(lines.collect::<Vec<_>>().join("\n") + "\n"));
}

#[test]
fn the_report_has_places_suggestions_and_an_execution() {
    check(
        ModelId::Tso,
        lock::unfenced,
        expect![[r#"
            not robust under tso: a store can still be in its buffer at an access that happens after it
               --> crates/teetotal/tests/robust/lock.rs:31:24
                |
             31 |         self.wants[me].store(true, Release);
                |                        ^^^^^^^^^^^^^^^^^^^^ (1) main stores here, which happens before (2)
               --> crates/teetotal/tests/robust/lock.rs:34:34
                |
             34 |         while self.wants[1 - me].load(Acquire) && self.turn.load(Acquire) == 1 - me {
                |                                  ^^^^^^^^^^^^^ (2) T1 loads here, and may read the value before (1)
            help: make the store at crates/teetotal/tests/robust/lock.rs:31 `SeqCst` (confirmed: this prevents it)
                  or put `fence(SeqCst)` before line 34 (confirmed: this prevents it)

            An execution under tso that is not sequentially consistent:

             step │ main                                     │ T1                                       │ memory
            ──────┼──────────────────────────────────────────┼──────────────────────────────────────────┼─────────────────
            start │                                          │                                          │ wants[me]=0
                  │                                          │                                          │ wants[me]#2=0
                  │                                          │                                          │ turn=0
              (1) │ spawn T1 :53                             │                                          │
              (2) │ self.wants[me].store(true, Release) :31  │                                          │
                  │   buffer [wants[me]#2=1]                 │                                          │
              (3) │ self.turn.store(1 - me, Release) :32     │                                          │
                  │   buffer [wants[me]#2=1 turn=1]          │                                          │
              (4) │ self.wants[1 - me].load(Acquire) :34     │                                          │
                  │   reads 0 (initial)                      │                                          │
                  │ shared.1.set(shared.1.get() + 1) :49     │                                          │
              (5) │                                          │ self.wants[me].store(true, Release) :31  │
                  │                                          │   buffer [wants[me]=1]                   │
              (6) │                                          │ self.turn.store(1 - me, Release) :32     │
                  │                                          │   buffer [wants[me]=1 turn=0]            │
              (7) │                                          │ self.wants[1 - me].load(Acquire) :34     │
                  │                                          │   reads 0 (initial)                      │
                  │                                          │ shared.1.get() :49, at the same time     │
              (8) │ wants[me]#2=1 leaves the buffer ─────────┼──────────────────────────────────────────▶ wants[me]#2=1
                  │   buffer [turn=1]                        │                                          │
              (9) │ turn=1 leaves the buffer ────────────────┼──────────────────────────────────────────▶ turn=1
             (10) │                                          │ wants[me]=1 leaves the buffer ───────────▶ wants[me]=1
                  │                                          │   buffer [turn=0]                        │
             (11) │                                          │ turn=0 leaves the buffer ────────────────▶ turn=0
              end │                                          │                                          │ wants[me]=1
                  │                                          │                                          │ wants[me]#2=1
                  │                                          │                                          │ turn=0

            Nothing orders the two: T1 has read nothing by then that main wrote with `Release` after it.

            T1 read wants[me]#2 = 0 at step 7 although main had stored wants[me]#2 = 1 at step 2: that store was still in
              main's buffer (it left at step 8).

            Sequential consistency forbids it: each must come before the next, in a cycle:
              (2) self.wants[me].store(true, Release) :31 ── before in main ─▶ (3) self.turn.store(1 - me, Release) :32
              (3) self.turn.store(1 - me, Release) :32 ── overwritten by ─▶ (6) self.turn.store(1 - me, Release) :32
              (6) self.turn.store(1 - me, Release) :32 ── before in T1 ─▶ (7) self.wants[1 - me].load(Acquire) :34
              (7) self.wants[1 - me].load(Acquire) :34 ── read 0, then overwritten by
                ─▶ (2) self.wants[me].store(true, Release) :31

            It fails: data race: nothing orders these two accesses

            To run this execution again:
                TEETOTAL_REPLAY=…

            not robust under tso: a store can still be in its buffer at an access that happens after it
               --> crates/teetotal/tests/robust/lock.rs:32:19
                |
             32 |         self.turn.store(1 - me, Release);
                |                   ^^^^^^^^^^^^^^^^^^^^^^ (1) main stores here, which happens before (2)
               --> crates/teetotal/tests/robust/lock.rs:32:19
                |
             32 |         self.turn.store(1 - me, Release);
                |                   ^^^^^^^^^^^^^^^^^^^^^^ (2) T1 stores here, so that the older store overwrites it
            help: make the store at crates/teetotal/tests/robust/lock.rs:32 `SeqCst` (confirmed: this prevents it)
                  or put `fence(SeqCst)` before line 34 (confirmed: this prevents it)

            2 pairs of places in 12 executions of sc.
            With this fence it is robust under tso: before crates/teetotal/tests/robust/lock.rs:34.
        "#]],
    );
}

/// Each thread stores to its own variable and loads the other.
fn store_buffering(order: Ordering, fenced: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let go = move |shared: &[AtomicUsize; 2], me: usize| {
            shared[me].store(1, order);
            if fenced {
                fence(SeqCst);
            }
            shared[1 - me].load(Relaxed)
        };
        let others = Arc::clone(&shared);
        let other = thread::spawn(move || go(&others, 1));
        go(&shared, 0);
        other.join().expect("it ends");
    }
}

/// A message and a flag.
fn message_passing(order: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let others = Arc::clone(&shared);
        let other = thread::spawn(move || {
            others[0].store(1, Relaxed);
            others[1].store(1, order);
        });
        if shared[1].load(Relaxed) == 1 {
            shared[0].load(Relaxed);
        }
        other.join().expect("it ends");
    }
}

#[test]
fn verdicts_are_those_of_the_models() {
    let is_robust = |model, f: &dyn Fn() -> Report| {
        let report = f();
        assert!(report.coverage.is_complete());
        let found = report.not_robust.len();
        assert_eq!(found == 0, report.failure.is_none(), "{model:?}");
        found == 0
    };
    use ModelId::{Pso, Sc, Tso};
    let sb = |model, order, fenced| is_robust(model, &|| explore(model, store_buffering(order, fenced)));
    assert!([sb(Sc, Relaxed, false), sb(Tso, SeqCst, false), sb(Pso, SeqCst, false)].iter().all(|robust| *robust));
    assert!([sb(Tso, Relaxed, true), sb(Pso, Relaxed, true)].iter().all(|robust| *robust));
    assert!(![sb(Tso, Relaxed, false), sb(Tso, Release, false), sb(Pso, Release, false)].iter().any(|robust| *robust));
    let mp = |model, order| is_robust(model, &|| explore(model, message_passing(order)));
    assert!([mp(Tso, Relaxed), mp(Pso, Release)].iter().all(|robust| *robust));
    assert!(!mp(Pso, Relaxed));
}

#[test]
fn what_is_wrong_under_sequential_consistency_is_told_first() {
    let failure = explore(ModelId::Tso, || {
        let n = Arc::new(AtomicUsize::new(0));
        let other = n.clone();
        let thread = thread::spawn(move || other.store(1, Relaxed));
        assert_eq!(n.load(Relaxed), 0, "too late");
        thread.join().expect("it ends");
    })
    .failure
    .expect("it is wrong");
    assert!(failure.starts_with("main panicked: ") && failure.contains("under sc"), "{failure}");
}

#[test]
#[should_panic = "not robust under tso"]
fn a_check_fails_where_a_model_is_not_robust() {
    let mut builder = Builder::new();
    builder.model = ModelId::Tso;
    builder.check_robustness(store_buffering(Relaxed, false));
}

#[test]
fn executions_are_recorded_and_monitored() {
    let folder = std::env::temp_dir().join(format!("teetotal-record-{}", std::process::id()));
    let mut builder = Builder::new();
    (builder.model, builder.record) = (ModelId::Tso, Some(folder.clone()));
    let report = builder.explore(store_buffering(Relaxed, false));
    assert_eq!(report.failure, None);
    let path: PathBuf = folder.join("executions_are_recorded_and_monitored.trace");
    let text = fs::read_to_string(&path).expect("it was written");
    fs::remove_dir_all(&folder).expect("it was made");
    let options = Monitoring { name: "trace".to_owned(), model: ModelId::Tso, window: None };
    let (found, error) = monitor(text.as_bytes(), &options, &|| false);
    assert!(error.is_none(), "{error:?}\n{text}");
    assert_eq!((found.executions, found.pairs.len()), (3, 2), "{text}");
    assert!(text.contains("store shared[me] 1 relaxed @ ") || text.contains("store me 1"), "{text}");
}

/// For the next test, which runs it in a process of its own.
#[test]
fn asked_by_the_environment() {
    if std::env::var_os("TEETOTAL_CHECK").is_some() {
        teetotal::model(store_buffering(Relaxed, false));
    }
}

/// Runs the test above so.
fn run_with(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test runs"));
    command.args(["--exact", "asked_by_the_environment"]).envs(variables.iter().copied());
    String::from_utf8(command.output().expect("it can be run").stdout).expect("text is UTF-8")
}

#[test]
fn the_environment_may_ask_and_an_execution_is_run_again_by_its_token() {
    let asked = [("TEETOTAL_CHECK", "robustness"), ("TEETOTAL_MODEL", "tso")];
    let text = run_with(&asked);
    assert!(text.contains("not robust under tso: "), "{text}");
    let (_, rest) = text.split_once("TEETOTAL_CHECK=robustness TEETOTAL_REPLAY=").expect("there is a token");
    let token = rest.split(' ').next().expect("it ends");
    let again = run_with(&[asked[0], ("TEETOTAL_REPLAY", token)]);
    assert!(again.contains("this execution of tso is not sequentially consistent"), "{again}");
}

#[test]
fn a_loop_that_is_held_back_makes_the_search_incomplete() {
    let mut builder = Builder::new();
    (builder.model, builder.robustness) = (ModelId::Pso, true);
    let report = builder.explore(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.1.store(1, Release));
        while shared.1.load(Ordering::Acquire) == 0 {
            shared.0.fetch_add(1, SeqCst);
            thread::yield_now();
        }
        thread.join().expect("it ends");
    });
    assert_eq!((report.failure, report.coverage), (None, Coverage::Stopped(StopReason::Turns)));
}
