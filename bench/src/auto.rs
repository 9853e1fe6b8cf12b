//! The search that `auto` takes, beside every search that could have been asked for, on every program of the corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use teetotal::parts::frontends::{Frontend, Settings};
use teetotal_check::{Options, SearchId, check};
use teetotal_engine::{Limits, StopReason};
use teetotal_judge::MonitorId;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

use crate::clock::Clock;

/// `auto` may take this many times as long as the fastest of the others...
const SLOWER: f64 = 1.5;

/// ... and this many seconds more, since a search that is given up costs something.
const ALLOWANCE: f64 = 0.3e-3;

/// A measurement is repeated for this long, and what takes longer is not repeated.
const ENOUGH: Duration = Duration::from_millis(10);

/// A search with more executions, longer ones or more states than this is not waited for.
const MANY: u64 = 20_000;
const LONG: u64 = 300;

/// No search is waited for longer than this.
const TOO_LONG: Duration = Duration::from_millis(300);

/// The searches that could have been asked for.
const OTHERS: [SearchId; 4] = [SearchId::Stateful, SearchId::Symbolic, SearchId::Dpor, SearchId::Mcr];

/// What is asked of each program.
const QUESTIONS: [&str; 2] = ["violations", "robustness"];

/// Measures, and prints every program on which the target is missed.
pub(crate) fn run() -> ExitCode {
    let (mut measured, mut missed, mut worst) = (0, 0, 0.0_f64);
    println!(
        "{:<35} {:<5} {:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>6}  chosen",
        "program, where the target is missed",
        "model",
        "question",
        "auto",
        "stateful",
        "symbolic",
        "dpor",
        "mcr",
        "ratio"
    );
    for program in programs() {
        for (model, question) in BUFFER_MODELS.iter().flat_map(|model| QUESTIONS.map(|question| (model, question))) {
            let monitors = if question == QUESTIONS[0] { MonitorId::defaults() } else { vec![MonitorId::Robustness] };
            let others = OTHERS.map(|search| measure(&program, model.id, search, &monitors));
            let Some(best) = others.iter().flatten().map(|other| other.seconds).min_by(f64::total_cmp) else {
                continue;
            };
            let Some(auto) = measure(&program, model.id, SearchId::Auto, &monitors) else { continue };
            measured += 1;
            let ratio = auto.seconds / best;
            worst = worst.max((auto.seconds - ALLOWANCE) / best);
            if auto.seconds > SLOWER * best + ALLOWANCE {
                missed += 1;
                let [stateful, symbolic, dpor, mcr] =
                    others.map(|other| other.map_or_else(|| "-".to_owned(), |it| time(it.seconds)));
                println!(
                    "{:<35} {:<5} {question:<10} {:>10} {stateful:>10} {symbolic:>10} {dpor:>10} {mcr:>10} {ratio:>6.2}  {}",
                    program.name,
                    model.name,
                    time(auto.seconds),
                    auto.search
                );
            }
        }
    }
    println!(
        "{missed} of {measured} missed: auto at most {SLOWER} times the best of the others and {} more; \
         without that, at worst {worst:.2} times",
        time(ALLOWANCE)
    );
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
fn measure(program: &Arc<Program>, model: ModelId, search: SearchId, monitors: &[MonitorId]) -> Option<Measured> {
    let few = Limits { executions: Some(MANY), states: Some(MANY), steps: Some(LONG), ..Limits::default() };
    let limits = if search == SearchId::Auto { Limits::default() } else { few };
    let options = Options { search, limits, monitors: monitors.to_vec(), minimize: false, ..Options::new(model) };
    let clock = Clock::start();
    let mut runs = 0;
    loop {
        let begun = Clock::start();
        let too_long = || (begun.on_core() > TOO_LONG).then_some(StopReason::Time);
        let outcome = check(program, &options, &too_long).ok()?;
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
