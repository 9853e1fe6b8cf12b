//! The search that is chosen when nobody says, beside `dpor` and `mcr`, on every program of the corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use teetotal::parts::frontends::{Frontend, Settings};
use teetotal_explore::{Limits, Options, SearchId, check};
use teetotal_memory::{MODELS, ModelId};
use teetotal_program::ir::Program;

use crate::clock::Clock;

/// So many times as long as the better of the two it may take at most.
const SLOWER: f64 = 1.5;

/// A measurement is repeated for so long, and what takes this long in one go is not repeated.
const ENOUGH: Duration = Duration::from_millis(10);

/// Less than this is not worth a word.
const NOTHING: f64 = 50e-6;

/// Where the others have more executions, longer ones or more states than this they are not waited for.
const MANY: u64 = 20_000;
const LONG: u64 = 300;

/// Measures and prints every program on which the target is missed.
pub(crate) fn run() -> ExitCode {
    let (mut measured, mut missed) = (0, 0);
    println!(
        "{:<28} {:<5} {:>10} {:>10} {:>10} {:>6}  chosen",
        "program, where the target is missed", "model", "auto", "dpor", "mcr", "ratio"
    );
    for program in programs() {
        for model in MODELS {
            let others = [SearchId::Dpor, SearchId::Mcr].map(|search| measure(&program, model.id, search));
            let Some(best) = others.iter().flatten().map(|other| other.seconds).min_by(f64::total_cmp) else {
                continue;
            };
            let Some(auto) = measure(&program, model.id, SearchId::Auto) else { continue };
            measured += 1;
            let ratio = auto.seconds / best;
            if ratio > SLOWER && auto.seconds > NOTHING {
                missed += 1;
                let of = |other: &Option<Measured>| other.as_ref().map_or_else(String::new, |it| time(it.seconds));
                println!(
                    "{:<35} {:<5} {:>10} {:>10} {:>10} {ratio:>6.2}  {}",
                    program.name,
                    model.name,
                    time(auto.seconds),
                    of(&others[0]),
                    of(&others[1]),
                    auto.search.info().name
                );
            }
        }
    }
    println!("{missed} of {measured} missed: auto at most {SLOWER} times the better of dpor and mcr");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The texts of the corpus that are read, as programs.
fn programs() -> Vec<Arc<Program>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut programs = Vec::new();
    for folder in ["litmus", "promela"] {
        let entries = fs::read_dir(corpus.join(folder)).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        programs.extend(paths.iter().filter_map(|path| read(path)).map(Arc::new));
    }
    programs
}

fn read(path: &Path) -> Option<Program> {
    let frontend = Frontend::claiming(path)?;
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let text = fs::read_to_string(path).ok()?;
    (frontend.read)(&name, &text, &Settings::default()).ok().map(|reading| reading.program)
}

struct Measured {
    search: SearchId,
    /// On a core.
    seconds: f64,
}

/// Nothing if the search does not take the program or does not come to its end.
fn measure(program: &Arc<Program>, model: ModelId, search: SearchId) -> Option<Measured> {
    let few = Limits { executions: Some(MANY), states: Some(MANY), steps: Some(LONG), ..Limits::default() };
    let limits = if search == SearchId::Auto { Limits::default() } else { few };
    let options = Options { search, limits, minimize: false, ..Options::new(model) };
    let clock = Clock::start();
    let mut runs = 0;
    loop {
        let outcome = check(program, &options, &|| None).ok()?;
        if !outcome.coverage.is_complete() {
            return None;
        }
        runs += 1;
        if clock.on_core() >= ENOUGH {
            return Some(Measured { search: outcome.search, seconds: clock.on_core().as_secs_f64() / f64::from(runs) });
        }
    }
}

fn time(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.0} µs", seconds * 1e6) } else { format!("{:.1} ms", seconds * 1e3) }
}
