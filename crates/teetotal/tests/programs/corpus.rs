//! The final states of every test in `corpus/litmus`, which stand beside it in a file that ends in `.expected`.
//!
//! They are compared with the search over states, and the search with a second way: the axiomatic model, which
//! enumerates executions without a machine, or brute force for tests with a loop.
//! `UPDATE_EXPECT=1` writes the files anew; only states on which both ways agree are written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::expect_file;
use teetotal::litmus::cycles::Cycle;
use teetotal::parts::engine::driver::values;
use teetotal::parts::judge::axiomatic::enumerate;
use teetotal::{
    CheckError, Limits, MODELS, ModelId, Options, Outcome, Program, Report, SearchId, StopReason, Tally, Value, litmus,
};

/// More steps than an execution of a test with a loop needs to reach any of its final states.
const STEPS_WITH_A_LOOP: u64 = 16;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.sort();
    paths
}

fn is_test(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "litmus")
}

#[test]
fn every_test_has_the_final_states_that_stand_beside_it() {
    for path in corpus().into_iter().filter(|path| is_test(path)) {
        let text = fs::read_to_string(&path).expect("tests are text");
        let program = litmus::read("test", &text).unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        let program = Arc::new(program);
        let mut shown = String::new();
        for model in MODELS {
            // A loop under a model of graphs has executions of any length.
            if model.id == ModelId::Rc11 && !program.is_loop_free() {
                continue;
            }
            let options = Options::new(model.id);
            let outcome = match teetotal::check(&program, &options) {
                Ok(outcome) => outcome,
                Err(CheckError::Undefined { .. }) => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            };
            assert!(outcome.coverage.is_complete(), "{}", path.display());
            confirm(&program, &outcome);
            check_prediction(&program, &text, &outcome);
            let report = Report { program: &program, options: &options, outcome: &outcome };
            let block = report.herd(Tally::of(&program, &outcome), 0.0);
            shown.push_str(&format!("model {}\n{block}", model.name));
        }
        expect_file![path.with_extension("expected")].assert_eq(&shown);
    }
}

#[test]
fn no_expectation_is_without_its_test() {
    for path in corpus().into_iter().filter(|path| !is_test(path)) {
        assert!(path.with_extension("litmus").exists(), "{} belongs to no test", path.display());
    }
}

/// Demands that a second way finds the same final states.
fn confirm(program: &Arc<Program>, outcome: &Outcome) {
    let found: BTreeSet<Vec<Value>> = outcome.states.keys().cloned().collect();
    let again =
        if program.is_loop_free() { by_twin(outcome.model, program) } else { by_brute_force(outcome.model, program) };
    assert_eq!(found, again, "{} under {}", program.name, outcome.model.info().name);
}

fn by_twin(model: ModelId, program: &Program) -> BTreeSet<Vec<Value>> {
    let executions = enumerate(model, program, usize::MAX).expect("there is no loop");
    executions.iter().filter(|e| e.is_completed() && program.admits(*e)).map(|e| values(e, &program.observed)).collect()
}

fn by_brute_force(model: ModelId, program: &Arc<Program>) -> BTreeSet<Vec<Value>> {
    let limits = Limits { steps: Some(STEPS_WITH_A_LOOP), ..Limits::default() };
    let options = Options { search: SearchId::Brute, limits, ..Options::new(model) };
    let outcome = teetotal::check(program, &options).expect("the tests of the corpus can be checked");
    let stopped = teetotal::Coverage::Stopped(StopReason::Steps(STEPS_WITH_A_LOOP));
    assert_eq!(outcome.coverage, stopped, "a loop has no longest execution");
    outcome.states.into_keys().collect()
}

/// A test that is made of a cycle shows what its edges predict.
fn check_prediction(program: &Program, text: &str, outcome: &Outcome) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("Cycle=")) else { return };
    let prediction = line.parse::<Cycle>().expect("the line names a cycle").prediction();
    let predicted = match outcome.model {
        ModelId::Sc => prediction.sc,
        ModelId::Tso => prediction.tso,
        ModelId::Pso => prediction.pso,
        // Cycles are of instructions of x86.
        ModelId::Rc11 => return,
    };
    let name = outcome.model.info().name;
    assert_eq!(outcome.satisfying.is_some(), predicted, "{} under {name}", program.name);
}
