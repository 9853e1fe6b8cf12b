//! What the environment says of a model: which execution is run again, and under which model.
//!
//! Each test runs this file's own binary again, with one of its victims and with variables of its own.

mod common;

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::thread;

use common::run;

/// Two stores that may reach memory in the other order under PSO, and a thread that has nothing to do with it.
#[test]
fn victim() {
    if !common::is_wanted() {
        return;
    }
    teetotal::model(|| {
        let shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)]);
        let (writer, bystander) = (Arc::clone(&shared), Arc::clone(&shared));
        let writer = thread::spawn(move || {
            writer[0].store(1, Relaxed);
            writer[1].store(1, Relaxed);
        });
        let bystander = thread::spawn(move || bystander[2].store(7, Relaxed));
        if shared[1].load(Relaxed) == 1 {
            assert_eq!(shared[0].load(Relaxed), 1, "out of order");
        }
        writer.join().expect("it ends");
        bystander.join().expect("it ends");
    });
}

/// Nothing is wrong with it, and it does something else.
#[test]
fn other_victim() {
    if common::is_wanted() {
        teetotal::model(|| drop(thread::spawn(|| ())));
    }
}

/// The token of the victim's failure.
fn token() -> String {
    let (passes, text) = run("victim", &[]);
    assert!(!passes, "{text}");
    let (_, rest) = text.split_once("TEETOTAL_REPLAY=").expect("it says how to run it again");
    let (token, rest) = rest.split_once(' ').expect("then comes the command");
    assert!(rest.starts_with("cargo test victim\n"), "{rest}");
    token.to_owned()
}

#[test]
fn a_failure_shows_what_led_to_it_and_no_more() {
    let (_, text) = run("victim", &[]);
    assert!(text.contains("main panicked: assertion `left == right` failed: out of order"), "{text}");
    assert!(text.contains("writer[1].store(1, Relaxed)"), "{text}");
    assert!(!text.contains("bystander[2].store"), "{text}");
    assert!(text.contains("No execution under sc fails.\nNo execution under tso fails.\n"), "{text}");
}

#[test]
fn a_token_runs_the_execution_again() {
    let (passes, text) = run("victim", &[("TEETOTAL_REPLAY", &token())]);
    assert!(!passes && text.contains("out of order"), "{text}");
    assert!(!text.contains("of the search"), "one execution is no search: {text}");
}

#[test]
fn a_token_of_another_test_or_of_none_is_refused() {
    let (passes, text) = run("other_victim", &[("TEETOTAL_REPLAY", &token())]);
    assert!(!passes && text.contains("the execution of TEETOTAL_REPLAY cannot be run"), "{text}");
    let (passes, text) = run("victim", &[("TEETOTAL_REPLAY", "pso1:nonsense")]);
    assert!(!passes && text.contains("TEETOTAL_REPLAY is not a token"), "{text}");
}

#[test]
fn variables_say_under_which_model_and_how_far() {
    for model in ["sc", "tso"] {
        let (passes, text) = run("victim", &[("TEETOTAL_MODEL", model)]);
        assert!(passes, "{text}");
    }
    let (passes, text) = run("victim", &[("TEETOTAL_MODEL", "arm")]);
    assert!(!passes && text.contains("TEETOTAL_MODEL is `arm`, and must be one of sc, tso, pso, rc11"), "{text}");
    let (passes, text) = run("victim", &[("TEETOTAL_SEARCH", "stateful")]);
    assert!(!passes && text.contains("TEETOTAL_SEARCH is `stateful`, and must be one of auto, dpor, rf"), "{text}");
    let (passes, text) = run("victim", &[("TEETOTAL_SEARCH", "rf"), ("TEETOTAL_MODEL", "pso")]);
    assert!(!passes && text.contains("of the search `rf`, under pso"), "{text}");
    // The name that it had.
    let (passes, text) = run("victim", &[("TEETOTAL_SEARCH", "mcr"), ("TEETOTAL_MODEL", "pso")]);
    assert!(!passes && text.contains("of the search `rf`, under pso"), "{text}");
    let (passes, text) = run("victim", &[("LOOM_MAX_BRANCHES", "many")]);
    assert!(!passes && text.contains("LOOM_MAX_BRANCHES is `many`, and must be a number"), "{text}");
    let (passes, text) = run("victim", &[("LOOM_MAX_BRANCHES", "3")]);
    assert!(!passes && text.contains("an execution has more than 3 operations\n  main is at "), "{text}");
    // Ours comes before loom's.
    let (passes, text) = run("victim", &[("TEETOTAL_MAX_PERMUTATIONS", "1"), ("LOOM_MAX_PERMUTATIONS", "many")]);
    assert!(passes, "{text}");
}
