//! Whether a test passes: only where the model holds, or holds within bounds that were chosen.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use common::{explore, run};
use teetotal::model::{Builder, Caveat, ViolationKind};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::sync::{Arc, Mutex, Weak};
use teetotal::{Coverage, ModelId, StopReason, thread};

/// What `builder` fails with, if it does.
fn complaint(builder: &Builder, f: impl Fn() + Sync + Send + 'static) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| builder.check(f))).err()?;
    Some(failed.downcast_ref::<String>().expect("it panics with a text").clone())
}

fn only_std() {
    let cell = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let other = std::sync::Arc::clone(&cell);
    let thread = thread::spawn(move || other.store(1, Relaxed));
    thread.join().expect("it ends");
}

/// The references are those of `teetotal`, and no thread observes how many there are.
fn std_behind_arc() {
    let cell = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let other = Arc::clone(&cell);
    let thread = thread::spawn(move || other.store(1, Relaxed));
    thread.join().expect("it ends");
}

#[test]
fn a_model_that_uses_nothing_checked_fails() {
    let mut builder = Builder::new();
    for f in [|| {}, only_std, std_behind_arc] {
        let text = complaint(&builder, f).expect("nothing was checked");
        assert!(text.contains("nothing was checked: the model uses no atomic, lock, cell or channel"), "{text}");
        assert!(text.starts_with("a_model_that_uses_nothing_checked_fails: "), "{text}");
        assert!(text.contains("TEETOTAL_ALLOW_INCOMPLETE=1"), "{text}");
        assert!(!builder.explore(f).has_operations);
    }
    builder.allow_incomplete = true;
    assert_eq!(complaint(&builder, only_std), None);
    assert_eq!(complaint(&Builder::like_loom(), only_std), None);
}

#[test]
fn a_model_with_one_checked_operation_passes() {
    let models: [fn(); 5] = [
        || assert_eq!(AtomicUsize::new(0).load(Relaxed), 0),
        || drop(Mutex::new(0).lock().expect("no thread panics")),
        || assert_eq!(Arc::strong_count(&Arc::new(0)), 1),
        || assert!(Weak::upgrade(&Arc::downgrade(&Arc::new(0))).is_some()),
        || assert_eq!(teetotal::cell::Cell::new(0).get(), 0),
    ];
    for (index, f) in models.into_iter().enumerate() {
        assert_eq!(complaint(&Builder::new(), f), None, "{index}");
    }
}

#[test]
fn the_shim_without_its_cfg_is_told() {
    use teetotal::shim::sync::Arc;
    use teetotal::shim::sync::atomic::AtomicUsize;
    use teetotal::shim::thread;
    let text = complaint(&Builder::new(), || {
        let cell = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&cell);
        thread::spawn(move || other.fetch_add(1, Relaxed)).join().expect("it ends");
    });
    if cfg!(teetotal) {
        assert_eq!(text, None);
    } else {
        assert!(text.expect("it fails").contains("--cfg teetotal"));
    }
}

/// Each thread changes something in each iteration, so that no iteration repeats.
fn count_while_waiting() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || other.0.store(1, Release));
    while shared.0.load(Acquire) == 0 {
        shared.1.fetch_add(1, Relaxed);
        thread::yield_now();
    }
    thread.join().expect("it ends");
}

#[test]
fn a_loop_that_the_fairness_bound_holds_back_is_named() {
    let mut builder = Builder::new();
    let report = builder.explore(count_while_waiting);
    assert_eq!(report.coverage, Coverage::Stopped(StopReason::Turns));
    let [Caveat::Fairness { place, bound: 4 }] = &report.caveats[..] else { panic!("{:?}", report.caveats) };
    assert!(place.file.ends_with("honest.rs"), "{place}");
    let text = complaint(&builder, count_while_waiting).expect("the search is incomplete");
    assert!(text.contains("honest.rs") && text.contains("continued after 4 iterations"), "{text}");
    assert!(text.contains("TEETOTAL_FAIRNESS_BOUND"), "{text}");
    builder.fairness_bound = Some(6);
    assert_eq!(complaint(&builder, count_while_waiting), None);
    let more = builder.explore(count_while_waiting);
    assert!(more.executions > report.executions, "{} and {}", more.executions, report.executions);
    assert!(matches!(more.caveats[..], [Caveat::Fairness { bound: 6, .. }]), "{:?}", more.caveats);
}

#[test]
fn a_chosen_bound_passes_in_these_words() {
    let (passes, text) = run("bounded_victim", &[]);
    assert!(passes, "{text}");
    let said = "teetotal: bounded_victim: holds within the bound: at most 2 executions (2 executions)\n";
    assert!(text.contains(said), "{text}");
    let (passes, text) = run("waiting_victim", &[]);
    assert!(!passes && text.contains("waiting_victim: no violation found, but the search is incomplete"), "{text}");
    let (passes, text) = run("waiting_victim", &[("TEETOTAL_ALLOW_INCOMPLETE", "1")]);
    let said = "teetotal: waiting_victim: no violation found, but the search is incomplete: the loop at ";
    assert!(passes && text.contains(said), "{text}");
}

#[test]
fn the_habits_of_loom_pass_with_one_line() {
    let why = ["the loop at ", "nothing was checked", "at most 2 executions"];
    for (which, why) in why.into_iter().enumerate() {
        let (passes, text) = run("loom_victim", &[("TEETOTAL_TEST_WHICH", &which.to_string())]);
        let said: Vec<&str> = text.lines().filter(|line| line.starts_with("teetotal: ")).collect();
        let [line] = said[..] else { panic!("{text}") };
        assert!(passes && line.starts_with("teetotal: loom_victim: ") && line.contains(why), "{text}");
    }
}

#[test]
fn loom_victim() {
    let which = std::env::var("TEETOTAL_TEST_WHICH").unwrap_or_default();
    let mut builder = Builder::like_loom();
    match which.as_str() {
        "0" => drop(builder.check(count_while_waiting)),
        "1" => drop(builder.check(only_std)),
        "2" => {
            builder.max_permutations = Some(2);
            builder.check(exchange);
        }
        _ => {}
    }
}

#[test]
fn bounded_victim() {
    if common::is_wanted() {
        let mut builder = Builder::new();
        builder.max_permutations = Some(2);
        builder.check(exchange);
    }
}

#[test]
fn waiting_victim() {
    if common::is_wanted() {
        teetotal::model(count_while_waiting);
    }
}

/// Has weak compare-exchanges.
fn exchange() {
    let cell = Arc::new(AtomicUsize::new(0));
    let add = |cell: &AtomicUsize| {
        let mut old = cell.load(Relaxed);
        while let Err(now) = cell.compare_exchange_weak(old, old + 1, Relaxed, Relaxed) {
            old = now;
        }
    };
    let other = Arc::clone(&cell);
    let thread = thread::spawn(move || add(&other));
    add(&cell);
    thread.join().expect("it ends");
    assert_eq!(cell.load(Relaxed), 2);
}

#[test]
fn the_bound_on_spurious_failures_is_named() {
    let report = explore(ModelId::Sc, exchange);
    assert!(report.coverage.is_complete());
    assert!(report.caveats.contains(&Caveat::Spurious(1)), "{:?}", report.caveats);
    assert_eq!(Caveat::Spurious(1).to_string(), "at most 1 spurious failure or wake-up in an execution");
    let report = explore(ModelId::Sc, || assert_eq!(AtomicUsize::new(0).load(Relaxed), 0));
    assert_eq!(report.caveats, []);
}

/// Does something else in every other run.
fn divergent() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let cell = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&cell);
    let thread = thread::spawn(move || other.store(1, Relaxed));
    if RUNS.fetch_add(1, Relaxed).is_multiple_of(2) {
        teetotal::sync::atomic::fence(Release);
    }
    cell.load(Relaxed);
    thread.join().expect("it ends");
}

fn long() {
    let cell = Arc::new(AtomicUsize::new(0));
    let thread = thread::spawn(move || (0..20).for_each(|_| _ = cell.fetch_add(1, Relaxed)));
    thread.join().expect("it ends");
}

#[test]
fn what_is_wrong_with_the_test_names_it_and_can_be_allowed() {
    let name = "what_is_wrong_with_the_test_names_it_and_can_be_allowed: ";
    let cases = [
        (divergent as fn(), "nondeterministic replay: the model diverged from its previous run"),
        (long, "an execution has more than 10 operations"),
    ];
    for (f, why) in cases {
        let mut builder = Builder::new();
        builder.max_branches = 10;
        let text = complaint(&builder, f).expect("the search is incomplete");
        let expected = format!("{name}no violation found, but the search is incomplete: {why}\n");
        assert!(text.starts_with(&expected) && text.contains("TEETOTAL_ALLOW_INCOMPLETE=1"), "{text}");
        builder.allow_incomplete = true;
        assert_eq!(complaint(&builder, f), None);
    }
    // Loom has it fail too.
    let mut builder = Builder::like_loom();
    builder.max_branches = 10;
    assert!(complaint(&builder, long).is_some());
}

#[test]
fn nothing_holds_within_a_bound_that_leaves_no_execution() {
    let mut builder = Builder::new();
    builder.max_permutations = Some(0);
    let text = complaint(&builder, exchange).expect("nothing was run");
    assert!(text.contains("the search is incomplete: at most 0 executions"), "{text}");
    builder.allow_incomplete = true;
    assert_eq!(complaint(&builder, exchange), None);
}

#[test]
fn no_jobs_are_one_job() {
    let mut builder = Builder::new();
    builder.jobs = 0;
    let report = builder.explore(exchange);
    assert!(report.executions > 0 && report.has_operations && report.coverage.is_complete(), "{report:?}");
}

#[test]
fn switches_in_the_environment_are_on_or_off() {
    for value in ["1", "on", "true", "yes"] {
        assert!(run("waiting_victim", &[("TEETOTAL_ALLOW_INCOMPLETE", value)]).0, "{value}");
    }
    for value in ["0", "off", "false", "no", ""] {
        let (passes, text) = run("waiting_victim", &[("TEETOTAL_ALLOW_INCOMPLETE", value)]);
        assert!(!passes && text.contains("the search is incomplete"), "{value}: {text}");
    }
    let (passes, text) = run("waiting_victim", &[("TEETOTAL_ALLOW_INCOMPLETE", "maybe")]);
    let said = "the environment variable TEETOTAL_ALLOW_INCOMPLETE is `maybe`, and must be 1 or 0";
    assert!(!passes && text.contains(said), "{text}");
}

#[test]
fn a_loop_that_is_taken_to_keep_nothing_on_the_heap_is_named() {
    let report = explore(ModelId::Sc, || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(1, Release));
        while flag.load(Acquire) == 0 {}
        thread.join().expect("it ends");
    });
    assert!(report.coverage.is_complete());
    let [caveat @ Caveat::HeapOfLoop { .. }] = &report.caveats[..] else { panic!("{:?}", report.caveats) };
    let text = caveat.to_string();
    assert!(text.starts_with("assuming that the loop at ") && text.ends_with(" keeps no state on the heap"), "{text}");
}

/// What a search says that is interrupted after every few executions, and resumed from its file.
#[test]
fn coverage_and_caveats_survive_checkpoints() {
    let whole = Builder::new().explore(count_while_waiting);
    let exchanges = Builder::new().explore(exchange);
    for interval in [1, 2, 3, 5, 8, 1_000] {
        for (f, expected) in [(count_while_waiting as fn(), &whole), (exchange, &exchanges)] {
            let name = format!("teetotal-honest-{}-{interval}", std::process::id());
            let file: PathBuf = std::env::temp_dir().join(name);
            let mut total = 0;
            let report = loop {
                let mut builder = Builder::new();
                builder.checkpoint_file = Some(file.clone());
                builder.checkpoint_interval = interval;
                total += interval;
                builder.max_permutations = Some(total);
                let report = builder.explore(f);
                if !matches!(report.coverage, Coverage::Stopped(StopReason::Executions(_))) {
                    break report;
                }
            };
            let told = |report: &teetotal::model::Report| {
                (report.coverage.clone(), report.caveats.clone(), report.failure.clone())
            };
            assert_eq!(told(&report), told(expected), "every {interval}");
            let _ = std::fs::remove_file(&file);
        }
    }
}

#[test]
fn nothing_is_checked_by_going_on_with_a_search() {
    let file: PathBuf = std::env::temp_dir().join(format!("teetotal-honest-{}-nothing", std::process::id()));
    for executions in [Some(0), None] {
        let mut builder = Builder::new();
        builder.checkpoint_file = Some(file.clone());
        builder.max_permutations = executions;
        assert_eq!(file.exists(), executions.is_none(), "the search is kept before its first execution");
        let text = complaint(&builder, only_std).expect("nothing was checked");
        assert!(text.contains("nothing was checked"), "{text}");
    }
}

#[test]
fn a_violation_has_its_parts() {
    let report = explore(ModelId::Pso, || {
        let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = Arc::clone(&cells);
        let thread = thread::spawn(move || {
            other[0].store(1, Relaxed);
            other[1].load(Relaxed)
        });
        cells[1].store(1, Relaxed);
        let mine = cells[0].load(Relaxed);
        assert!(mine + thread.join().expect("it ends") > 0, "both read 0");
    });
    let violation = report.failure.expect("store buffering");
    assert_eq!((violation.kind, violation.model), (ViolationKind::Panic, ModelId::Pso));
    assert!(violation.places[0].file.ends_with("honest.rs"));
    let (execution, token) = (violation.execution.as_ref().expect("shown"), violation.token.as_ref().expect("told"));
    assert!(execution.events().len() > 4 && token.starts_with("pso1:"), "{token}");
    assert!(violation.contains("both read 0") && violation.to_string() == *violation);
}
