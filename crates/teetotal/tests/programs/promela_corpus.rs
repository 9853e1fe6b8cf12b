//! Every model of the corpus has the verdict that its file of expectations gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use teetotal::parts::frontends::{Settings, promela};
use teetotal::{Finding, Limits, ModelId, Options, Outcome, Program, SearchId, replay};

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/promela");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("models are text"))).collect()
}

fn read(path: &Path, text: &str, settings: &Settings) -> Arc<Program> {
    let read = promela::read(&path.display().to_string(), text, settings);
    Arc::new(read.unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0])).program)
}

/// The lines of a file of expectations: a model and a verdict each, and perhaps a limit on buffers.
fn expectations(path: &Path) -> (Vec<(String, String)>, Option<u64>) {
    let text = fs::read_to_string(path.with_extension("expected")).expect("each model has expectations");
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let lines: Vec<(String, String)> =
        lines.map(|(model, verdict)| (model.to_owned(), verdict.trim().to_owned())).collect();
    let limit = lines
        .iter()
        .find(|(word, _)| word == "limit")
        .map(|(_, limit)| limit.strip_prefix("buffer=").and_then(|n| n.parse().ok()).expect("a limit is `buffer=N`"));
    (lines.into_iter().filter(|(word, _)| word != "limit").collect(), limit)
}

fn verdict(outcome: &Outcome) -> String {
    match outcome.violations.first().map(|violation| &violation.finding) {
        Some(Finding::Failure { .. }) => "violated: assertion".to_owned(),
        Some(Finding::Deadlock { .. }) => "violated: deadlock".to_owned(),
        Some(other) => format!("violated: {other:?}"),
        None if outcome.coverage.is_complete() => "holds".to_owned(),
        None => "no violation found".to_owned(),
    }
}

fn options(model: &str, limit: Option<u64>) -> Options {
    let model = ModelId::by_name(model).expect("expectations name models");
    let limits = Limits { buffer: limit, ..Limits::default() };
    Options { stop_at_first: true, limits, ..Options::new(model) }
}

#[test]
fn every_model_has_the_verdict_that_is_expected() {
    let corpus = corpus();
    assert!(corpus.len() >= 35, "the corpus is not there");
    for (path, text) in corpus {
        let program = read(&path, &text, &Settings::default());
        let (expected, limit) = expectations(&path);
        assert_eq!(expected.len(), 3, "{} has a verdict for each model", path.display());
        for (model, expected) in expected {
            let outcome = teetotal::check(&program, &options(&model, limit)).expect("it can be checked");
            let found = verdict(&outcome);
            assert!(found.starts_with(&expected), "{} under {model}: {found}, not {expected}", path.display());
            for violation in outcome.violations {
                let again = replay(&program, &violation.token).expect("a token of this program");
                assert_eq!(again.trace.events(), violation.trace.events(), "{}", path.display());
            }
        }
    }
}

/// A proof for buffers of any length is one for short buffers too, which the search over states can confirm.
#[test]
fn every_proof_stands_with_bounded_buffers() {
    for (path, text) in corpus() {
        let program = read(&path, &text, &Settings::default());
        let (expected, _) = expectations(&path);
        for (model, _) in expected.iter().filter(|(model, verdict)| model != "sc" && verdict == "holds") {
            let limits = Limits { buffer: Some(6), states: Some(20_000), ..Limits::default() };
            let options = Options { search: SearchId::Stateful, limits, ..options(model, None) };
            let outcome = teetotal::check(&program, &options).expect("it can be checked");
            assert!(outcome.violations.is_empty(), "{} under {model}: {}", path.display(), verdict(&outcome));
        }
    }
}

/// With every access a step of its own, mutual exclusion that needs no atomic statement is still there under SC.
#[test]
fn split_statements_keep_what_does_not_rely_on_them() {
    let settings = Settings { split: true, ..Settings::default() };
    for (path, text) in corpus() {
        let program = read(&path, &text, &settings);
        let name = program.name.as_str();
        let outcome = teetotal::check(&program, &options("sc", None)).expect("it can be checked");
        let expected = if name.starts_with("linden-table") || name == "linden-figure-4" { "violated" } else { "holds" };
        assert!(verdict(&outcome).starts_with(expected), "{name}: {}", verdict(&outcome));
    }
}

/// [LINDEN, Table 1]: only where stores are buffered may both processes come to their ends.
#[test]
fn both_processes_of_table_1_may_end_where_stores_are_buffered() {
    let (path, text) =
        corpus().into_iter().find(|(path, _)| path.ends_with("linden-table-1.pml")).expect("it is there");
    let program = read(&path, &text, &Settings::default());
    for (model, ends) in [(ModelId::Sc, false), (ModelId::Tso, true), (ModelId::Pso, true)] {
        let outcome = teetotal::check(&program, &Options::new(model)).expect("it can be checked");
        assert_eq!(outcome.stats.completed > 0, ends, "{model:?}");
    }
}
