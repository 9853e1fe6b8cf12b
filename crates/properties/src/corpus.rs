//! Maximal causality reduction on every text of the corpus: what the search over states finds, with few executions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use teetotal_check::{Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_frontends::{Frontend, Settings};
use teetotal_judge::Finding;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

use crate::Verdict;
use crate::everything::difference;

/// Where one of the other searches takes more states or executions than this it is not waited for.
const MANY: u64 = 20_000;

/// Executions longer than this are not waited for in dpor.
const LONG: u64 = 300;

/// Compares the searches on every text; prints a line and gives how many break the law.
pub fn report() -> u64 {
    let started = Instant::now();
    let (mut n_programs, mut n_broken) = (0, 0);
    for path in texts(&["litmus", "promela"]) {
        n_programs += 1;
        if let Err(reason) = agrees(&path) {
            println!("BROKEN {}: {reason}", path.display());
            n_broken += 1;
        }
    }
    println!("{n_programs} texts of the corpus by mcr: {n_broken} broken ({:.0} s)", started.elapsed().as_secs_f64());
    n_broken
}

/// The texts in these folders of the corpus that a front end claims, in order.
fn texts(folders: &[&str]) -> Vec<PathBuf> {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let mut texts: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(corpus.join(folder)).expect("the corpus is there");
        let paths = entries.map(|entry| entry.expect("readable").path());
        texts.extend(paths.filter(|path| Frontend::claiming(path).is_some()));
    }
    texts.sort();
    texts
}

fn agrees(path: &Path) -> Verdict {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let reading = (Frontend::of(path).read)(&name, &text, &Settings::default());
    let program = Arc::new(reading.map_err(|diagnostics| format!("{diagnostics:?}"))?.program);
    BUFFER_MODELS.iter().try_for_each(|model| {
        agrees_under(&program, model.id).map_err(|reason| format!("under {}: {reason}", model.name))
    })
}

fn agrees_under(program: &Arc<Program>, model: ModelId) -> Verdict {
    let limits = Limits { states: Some(MANY), memory: Some(1 << 30), ..Limits::default() };
    let Some(by_states) = search(program, SearchId::Stateful, model, limits)? else { return Ok(()) };
    let limits = Limits { memory: Some(1 << 30), ..Limits::default() };
    let mcr = search(program, SearchId::Mcr, model, limits)?;
    let mcr = mcr.ok_or("mcr stops before its end, though there are few states")?;
    difference(&mcr.states.keys().collect(), &by_states.states.keys().collect(), ("of mcr", "of stateful"))?;
    difference(&findings(&mcr), &findings(&by_states), ("found by mcr", "found by stateful"))?;
    let (executions, classes) = (mcr.stats.executions, mcr.stats.classes);
    if 10 * executions > 11 * classes {
        return Err(format!("{executions} executions for {classes} classes"));
    }
    let limits = Limits { executions: Some(MANY), steps: Some(LONG), ..Limits::default() };
    match search(program, SearchId::Dpor, model, limits) {
        Ok(Some(dpor)) if dpor.stats.executions < executions => {
            Err(format!("{executions} executions, and dpor has {}", dpor.stats.executions))
        }
        // A program that dpor refuses or does not come to the end of.
        _ => Ok(()),
    }
}

/// What a search finds, unless it meets a limit.
fn search(program: &Arc<Program>, search: SearchId, model: ModelId, limits: Limits) -> Result<Option<Outcome>, String> {
    let options = Options { search, limits, minimize: false, ..Options::new(model) };
    let outcome = check(program, &options, &|| None).map_err(|error| error.to_string())?;
    let is_over = match outcome.coverage {
        Coverage::Complete => true,
        // A loop that stores without end, which neither of the two comes to the end of.
        Coverage::Stopped(StopReason::Buffer(_)) => return Ok(None),
        Coverage::Stopped(_) => false,
    };
    Ok(is_over.then_some(outcome))
}

/// What is wrong, as text.
fn findings(outcome: &Outcome) -> std::collections::BTreeSet<String> {
    let texts = outcome.violations.iter().map(|violation| match &violation.finding {
        Finding::Deadlock { blocked } => format!("deadlock of {blocked:?}"),
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcr_finds_what_the_states_of_each_litmus_test_show() {
        for path in texts(&["litmus"]) {
            assert_eq!(agrees(&path), Ok(()), "{}", path.display());
        }
    }
}
