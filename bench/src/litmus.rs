//! All litmus tests of a folder, under every model, in one process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal::{BUFFER_MODELS, Options, Report, Tally, litmus};

/// What is to be reached on the 1,288 tests of the conformance corpus, and the number of tests that it is for.
const TARGET: Duration = Duration::from_secs(2);
const TARGET_TESTS: u32 = 1_288;
/// What a typical test may take under one model.
const TARGET_TYPICAL: Duration = Duration::from_micros(200);

/// How often everything is repeated; for each stage of each test the best counts.
const REPEATS: usize = 5;

/// What a file takes at its best: to read it as a program, and to check it and to tell it as herd7 does.
#[derive(Clone, Copy, Debug)]
struct Times {
    read: Duration,
    /// For each model.
    check: [Duration; BUFFER_MODELS.len()],
    tell: [Duration; BUFFER_MODELS.len()],
}

/// Measures the tests in `folder` and compares with the targets.
pub(crate) fn run(folder: Option<PathBuf>) -> ExitCode {
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/litmus"));
    let mut paths = Vec::new();
    walk(&folder, &mut paths);
    let texts = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
    let texts: Vec<String> = texts.filter(|text| litmus::read("test", text).is_ok()).collect();
    if texts.is_empty() {
        println!("there is no litmus test in {}", folder.display());
        return ExitCode::FAILURE;
    }
    if texts.len() < paths.len() {
        println!("left out because they are refused: {}", paths.len() - texts.len());
    }
    let before = processor_time();
    let mut best: Vec<Times> = texts.iter().map(|text| measure(text)).collect();
    let spent = before.and_then(|before| Some(processor_time()? - before));
    for _ in 1..REPEATS {
        best = best.iter().zip(&texts).map(|(best, text)| best.or(&measure(text))).collect();
    }
    report(&best, spent)
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            paths.push(path);
        }
    }
}

fn measure(text: &str) -> Times {
    let started = Instant::now();
    let program = Arc::new(litmus::read("test", text).expect("it was read before"));
    let read = started.elapsed();
    let mut times =
        Times { read, check: [Duration::ZERO; BUFFER_MODELS.len()], tell: [Duration::ZERO; BUFFER_MODELS.len()] };
    for (at, model) in BUFFER_MODELS.iter().enumerate() {
        let started = Instant::now();
        let options = Options::new(model.id);
        let outcome = teetotal::check(&program, &options).expect("a test with an operation can be checked");
        times.check[at] = started.elapsed();
        let started = Instant::now();
        let report = Report { program: &program, options: &options, outcome: &outcome };
        assert!(!report.herd(Tally::of(&program, &outcome), 0.0).is_empty());
        times.tell[at] = started.elapsed();
    }
    times
}

impl Times {
    fn or(&self, other: &Times) -> Times {
        let best = |a: [Duration; BUFFER_MODELS.len()], b: [Duration; BUFFER_MODELS.len()]| {
            let mut best = a;
            best.iter_mut().zip(b).for_each(|(best, other)| *best = (*best).min(other));
            best
        };
        Times {
            read: self.read.min(other.read),
            check: best(self.check, other.check),
            tell: best(self.tell, other.tell),
        }
    }
}

/// What the main thread has spent on a processor, where the system tells.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn report(best: &[Times], spent: Option<Duration>) -> ExitCode {
    println!("{:<26} {:>9} {:>9} {:>9} {:>9}", "stage", "total", "median", "95 %", "most");
    row("reading a file", best.iter().map(|times| times.read));
    for (at, model) in BUFFER_MODELS.iter().enumerate() {
        row(&format!("checking under {}", model.name), best.iter().map(|times| times.check[at]));
        row(&format!("telling it as herd, {}", model.name), best.iter().map(|times| times.tell[at]));
    }
    let whole = |times: &Times| {
        let share = times.read / BUFFER_MODELS.len() as u32;
        (0..BUFFER_MODELS.len()).map(move |at| share + times.check[at] + times.tell[at]).collect::<Vec<_>>()
    };
    let (total, median) = row("all of it, for each model", best.iter().flat_map(whole));
    if let Some(spent) = spent {
        println!("processor time of the first run: {:.1} ms", milliseconds(spent));
    }
    let (n, n_models) = (best.len() as u32, BUFFER_MODELS.len());
    let target = TARGET * n / TARGET_TESTS;
    println!(
        "{n} tests under {n_models} models: {:.1} ms of {:.1} ms; a typical one takes {:.3} ms of {:.3} ms",
        milliseconds(total),
        milliseconds(target),
        milliseconds(median),
        milliseconds(TARGET_TYPICAL)
    );
    if spent.unwrap_or(total).max(total) <= target && median <= TARGET_TYPICAL {
        println!("all targets reached");
        return ExitCode::SUCCESS;
    }
    println!("targets missed");
    ExitCode::FAILURE
}

/// Prints a line; gives the sum and the median.
fn row(name: &str, times: impl Iterator<Item = Duration>) -> (Duration, Duration) {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    let total: Duration = times.iter().sum();
    let [sum, median, late, most] = [total, at(50), at(95), at(100)].map(milliseconds);
    println!("{name:<26} {sum:>6.1} ms {median:>6.3} ms {late:>6.3} ms {most:>6.3} ms");
    (total, at(50))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
