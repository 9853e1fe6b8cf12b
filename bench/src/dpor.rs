//! Dynamic partial-order reduction on the programs of the peers, beside the times that they were measured at.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal_explore::dpor::{Settings, search};
use teetotal_explore::{Collector, Limits, Stats};
use teetotal_memory::{Model, ModelId, ModelVisitor};
use teetotal_program::gallery::{self, Variant, Waiting};
use teetotal_program::ir::{Interpreter, Program};

/// Without fences and assertions, and with the executions that would wait discarded, as the peers count.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

/// Executions a second on one core that are to be reached: on store buffering, and on Dekker's try-lock of 4 rounds.
const TARGET_SMALL: f64 = 1e6;
const TARGET_DEKKER: f64 = 3e5;

/// How often a measurement is repeated; the best counts.
const REPEATS: usize = 3;

/// A program, what it is under which model, the executions that the peers count, and the CPU seconds of the better one.
struct Row {
    name: &'static str,
    program: Program,
    model: ModelId,
    executions: u64,
    peer: Option<f64>,
    /// How much faster than the peer we are to be.
    times: f64,
}

fn rows() -> Vec<Row> {
    use ModelId::{Pso, Sc, Tso};
    let row = |name, program, model, executions, peer| Row { name, program, model, executions, peer, times: 10.0 };
    let dekker = |rounds| gallery::dekker_try(rounds, ALL);
    vec![
        row("message passing, 4 rounds", gallery::message_passing_rounds(4, ALL), Sc, 14_545, Some(0.8)),
        Row { times: 5.0, ..row("Dekker try-lock, 3 rounds", dekker(3), Tso, 15_247, Some(0.31)) },
        row("Dekker try-lock, 3 rounds", dekker(3), Pso, 69_141, Some(15.5)),
        row("Dekker, 2 sections", gallery::dekker_loop(2, ALL), Tso, 1_007, Some(0.03)),
        row("Dekker, 2 sections", gallery::dekker_loop(2, ALL), Pso, 9_582, Some(4.8)),
        row("Peterson, 2 sections", gallery::peterson_loop(2, ALL), Pso, 7_020, Some(2.6)),
        row("indexer, 15 threads", gallery::indexer(15), Tso, 4_096, Some(1.9)),
        row("last zero, 9", gallery::last_zero(9), Tso, 1_536, Some(0.15)),
        row("fib 5", gallery::fibonacci(5, ALL), Tso, 19_404, None),
        row("readers 8", gallery::readers(8), Tso, 256, None),
    ]
}

/// Measures and compares with the targets.
pub(crate) fn run() -> ExitCode {
    let mut missed = 0;
    println!(
        "{:<28} {:<5} {:>10} {:>10} {:>12} {:>9} {:>8}",
        "program", "model", "executions", "time", "a second", "peer", "ratio"
    );
    for row in rows() {
        let measured = measure(&Arc::new(row.program), row.model, 1);
        let seconds = measured.time.as_secs_f64();
        let ratio = row.peer.map(|peer| peer / seconds);
        let counts = measured.stats.completed;
        let wrong = counts != row.executions;
        missed += u32::from(wrong || ratio.is_some_and(|ratio| ratio < row.times));
        print(row.name, row.model, &measured, row.peer, ratio);
        if wrong {
            println!("    expected {} executions, not {counts}", row.executions);
        }
    }
    println!("\nrate on one core");
    let small = measure(&Arc::new(gallery::store_buffering_ring(10)), ModelId::Tso, 1);
    print("store buffering, 10 threads", ModelId::Tso, &small, None, None);
    let dekker = Arc::new(gallery::dekker_try(4, ALL));
    let large = measure(&dekker, ModelId::Tso, 1);
    print("Dekker try-lock, 4 rounds", ModelId::Tso, &large, None, None);
    missed += u32::from(rate(&small) < TARGET_SMALL) + u32::from(rate(&large) < TARGET_DEKKER);
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

struct Measured {
    stats: Stats,
    time: Duration,
}

fn rate(m: &Measured) -> f64 {
    m.stats.executions as f64 / m.time.as_secs_f64()
}

fn print(name: &str, model: ModelId, m: &Measured, peer: Option<f64>, ratio: Option<f64>) {
    let ms = m.time.as_secs_f64() * 1e3;
    let peer = peer.map_or(String::new(), |peer| format!("{peer:.2} s"));
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.0}"));
    let model = model.info().name;
    println!("{name:<28} {model:<5} {:>10} {ms:>7.2} ms {:>12.0} {peer:>9} {ratio:>8}", m.stats.executions, rate(m));
}

/// The best of several runs.
fn measure(program: &Arc<Program>, model: ModelId, jobs: usize) -> Measured {
    let runs = (0..REPEATS).map(|_| model.visit(Once { program, jobs }));
    runs.min_by_key(|m| m.time).expect("there are several runs")
}

struct Once<'p> {
    program: &'p Arc<Program>,
    jobs: usize,
}

impl ModelVisitor for Once<'_> {
    type Output = Measured;

    fn visit<M: Model>(self) -> Measured {
        let started = Instant::now();
        let subject = Interpreter::new(Arc::clone(self.program));
        let collector = || Collector::new(self.program, &[], false);
        let settings = Settings { limits: Limits::default(), jobs: self.jobs };
        let (collector, coverage) = search::<_, M>(&subject, &collector, &settings, &|| None);
        assert!(coverage.is_complete(), "the programs end");
        Measured { stats: collector.stats, time: started.elapsed() }
    }
}
