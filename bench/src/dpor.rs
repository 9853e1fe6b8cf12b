//! Dynamic partial-order reduction on the programs of the peers, beside the times that they were measured at.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::Stats;
use teetotal_gallery::{self as gallery, Variant, Waiting};
use teetotal_memory::ModelId;
use teetotal_program::ir::{Builder, Program};

use crate::clock::Clock;

/// Without fences and assertions, and with the executions that would wait discarded, as the peers count.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

/// Executions a second on one core that are to be reached: on store buffering, and on Dekker's try-lock of 4 rounds.
const TARGET_SMALL: f64 = 1e6;
const TARGET_DEKKER: f64 = 3e5;

/// How much faster two cores are to be.
const TARGET_SPEEDUP: f64 = 1.8;

/// A measurement is repeated at least so often, and for so long.
const REPEATS: usize = 3;
const ENOUGH: Duration = Duration::from_millis(200);

/// A program, what it is under which model, the executions that the peers count, and the CPU seconds of the better one.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) model: ModelId,
    /// Those that completed.
    executions: u64,
    peer: Option<f64>,
    /// How much faster than the peer we are to be.
    times: f64,
}

/// The programs of the peers that take long enough to be measured.
pub(crate) fn rows() -> Vec<Row> {
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
    missed += rates();
    missed += two_cores();
    curve();
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

/// Executions a second on one core; gives how many targets are missed.
fn rates() -> u32 {
    println!(
        "\nrate on one core; small programs come after a choice of {CHOICE}, so that there is something to measure"
    );
    let mut missed = 0;
    for n in 2..=4 {
        let measured = measure(&Arc::new(store_buffering_after_choice(n)), ModelId::Tso, 1);
        print(&format!("store buffering, {n} threads"), ModelId::Tso, &measured, None, None);
        missed += u32::from(rate(&measured) < TARGET_SMALL);
    }
    let small = measure(&Arc::new(gallery::store_buffering_ring(2)), ModelId::Tso, 1);
    println!("a whole search of store buffering takes {:.1} µs", small.time.as_secs_f64() * 1e6);
    let ring = measure(&Arc::new(gallery::store_buffering_ring(10)), ModelId::Tso, 1);
    print("store buffering, 10 threads", ModelId::Tso, &ring, None, None);
    let large = measure(&Arc::new(gallery::dekker_try(4, ALL)), ModelId::Tso, 1);
    print("Dekker try-lock, 4 rounds", ModelId::Tso, &large, None, None);
    missed + u32::from(rate(&ring) < TARGET_SMALL) + u32::from(rate(&large) < TARGET_DEKKER)
}

/// So many alternatives has the choice before a small program.
const CHOICE: u32 = 10_000;

/// Store buffering in a ring of `n` threads, again and again.
fn store_buffering_after_choice(n: u32) -> Program {
    let mut p = Builder::new("store buffering");
    let x = p.array("x", n);
    for i in 0..n {
        p.thread(&format!("P{i}"), |t| {
            if i == 0 {
                let again = t.choose("again", CHOICE);
                t.set(again, 0);
            }
            t.store(x.element(i), 1);
            t.load("r", x.element((i + 1) % n));
        });
    }
    p.build().expect("stores and loads are well formed")
}

/// How much faster two cores are, by the time that passes.
fn two_cores() -> u32 {
    println!("\ntwo cores, by the time that passes");
    let program = Arc::new(gallery::dekker_try(4, ALL));
    let [one, two] = [1, 2].map(|jobs| measure(&program, ModelId::Tso, jobs).passed.as_secs_f64());
    let speedup = one / two;
    println!("Dekker try-lock, 4 rounds: {:.0} ms and {:.0} ms, {speedup:.2} times", one * 1e3, two * 1e3);
    u32::from(speedup < TARGET_SPEEDUP)
}

/// Time for each event as executions grow, where nothing conflicts and where everything does.
fn curve() {
    println!("\ntime for each event added, sc; the difference is what conflicts cost: sources, closures and revisits");
    println!("{:>8} {:>16} {:>16} {:>12}", "events", "no conflict", "conflicts", "executions");
    for n in [8, 16, 32, 64, 128, 256] {
        let apart = measure(&Arc::new(stores(n, false)), ModelId::Sc, 1);
        let conflicting = measure(&Arc::new(stores(n, true)), ModelId::Sc, 1);
        let each = |m: &Measured| m.time.as_secs_f64() * 1e9 / m.stats.steps as f64;
        println!(
            "{:>8} {:>13.0} ns {:>13.0} ns {:>12}",
            2 * n + 2,
            each(&apart),
            each(&conflicting),
            conflicting.stats.executions
        );
    }
}

/// Two threads that store `n` times each to a location of their own and then read that of the other, or their own.
fn stores(n: u64, conflicting: bool) -> Program {
    let mut p = Builder::new("stores");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    for (name, own, other) in [("P0", x, y), ("P1", y, x)] {
        p.thread(name, |t| {
            (1..=n).for_each(|value| t.store(own, value));
            t.load("r", if conflicting { other } else { own });
        });
    }
    p.build().expect("stores and loads are well formed")
}

/// How many executions there are, complete or not.
pub(crate) fn executions(program: &Arc<Program>, model: ModelId) -> u64 {
    once(program, model, 1).stats.executions
}

struct Measured {
    stats: Stats,
    /// On the core.
    time: Duration,
    /// On the wall.
    passed: Duration,
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

/// The mean of several runs, or with several workers the best.
fn measure(program: &Arc<Program>, model: ModelId, jobs: usize) -> Measured {
    let once = || once(program, model, jobs);
    if jobs > 1 {
        return (0..REPEATS).map(|_| once()).min_by_key(|m| m.passed).expect("there are several runs");
    }
    let (mut runs, clock) = (0, Clock::start());
    loop {
        let Measured { stats, .. } = once();
        runs += 1;
        // The clock of the core ticks slowly.
        if runs >= REPEATS as u32 && clock.on_core() >= ENOUGH {
            return Measured { stats, time: clock.on_core() / runs, passed: clock.elapsed() / runs };
        }
    }
}

fn once(program: &Arc<Program>, model: ModelId, jobs: usize) -> Measured {
    let options =
        Options { search: SearchId::Dpor, monitors: Vec::new(), jobs, minimize: false, ..Options::new(model) };
    let clock = Clock::start();
    let outcome = check(program, &options, &|| None).expect("the search takes the programs");
    assert!(outcome.coverage.is_complete(), "the programs end");
    Measured { stats: outcome.stats, time: clock.on_core(), passed: clock.elapsed() }
}
