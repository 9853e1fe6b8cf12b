//! Figure 4 of Sober: falsifying programs and verifying them with fences, beside the published figures.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal_explore::{Options, SearchId, check};
use teetotal_judge::MonitorId;
use teetotal_memory::ModelId;
use teetotal_program::gallery::{self, Deque, Variant};
use teetotal_program::ir::Program;

use crate::interleavings::{Looking, fenced, run as interleave};

/// A row as it was published: the bound, interleavings, borderline ones, seconds to falsify, seconds to verify with the
/// monitor and without; 0 where it says less than 0.1 to 0.3.
type Published = (Option<u64>, u64, u64, f64, f64, f64);

/// A program, in what it differs from theirs, and their rows.
struct Row {
    name: &'static str,
    differs: &'static str,
    program: fn() -> Program,
    published: &'static [Published],
}

const UNCHECKED: Variant = Variant { asserts: false, ..Variant::PLAIN };

const TABLE: &[Row] = &[
    Row {
        name: "Fig. 1(b)",
        differs: "the same; only accesses are steps, so that there are fewer interleavings",
        program: gallery::store_buffering,
        published: &[(None, 10, 4, 0.0, 0.0, 0.0)],
    },
    Row {
        name: "dekker",
        differs: "two threads with two critical sections each, from the algorithm; a thread that spins waits instead",
        program: || gallery::dekker_loop(2, UNCHECKED),
        published: &[
            (Some(1), 5, 4, 0.0, 0.0, 0.0),
            (Some(2), 36, 23, 0.0, 0.39, 0.37),
            (Some(3), 183, 50, 0.0, 1.9, 1.8),
            (Some(4), 1_219, 124, 0.0, 13.2, 13.0),
            (Some(5), 8_472, 349, 0.0, 106.0, 100.6),
        ],
    },
    Row {
        name: "bakery",
        differs: "two threads with one critical section each, where theirs have three; a thread that spins waits",
        program: || gallery::bakery_loop(2, UNCHECKED),
        published: &[
            (Some(0), 1, 1, 0.0, 0.0, 0.0),
            (Some(1), 25, 20, 0.0, 0.47, 0.43),
            (Some(2), 742, 533, 0.0, 10.3, 9.8),
            (Some(3), 12_436, 8_599, 0.0, 189.0, 181.0),
        ],
    },
    Row {
        name: "takequeue",
        differs: "their source is not public: the deque of Chase and Lev, with three pushes, two takes and a steal",
        program: || gallery::chase_lev(Deque { pushes: 3, takes: 2, thieves: 1 }, UNCHECKED),
        published: &[
            (Some(0), 3, 0, 0.0, 0.0, 0.0),
            (Some(1), 47, 14, 0.34, 0.72, 0.69),
            (Some(2), 402, 189, 0.43, 5.2, 4.9),
            (Some(3), 2_318, 1_197, 0.74, 28.9, 27.8),
            (Some(4), 9_147, 5_321, 0.84, 125.5, 118.9),
            (Some(5), 29_821, 17_922, 0.86, 481.5, 461.6),
        ],
    },
];

/// How many times faster the rows with the bound 5 are to be verified.
const TARGET_RATIO: f64 = 500.0;

/// Prints the table and compares with the targets.
pub(crate) fn run() -> ExitCode {
    println!("[SOBER, Fig. 4] each cell ours / published; interleavings and borderline ones of the original program,");
    println!("verified is the program with fences; all without a bound is robustness by dpor, complete\n");
    println!(
        "{:<10} {:>5} {:>18} {:>18} {:>18} {:>21} {:>21} {:>7}",
        "program", "bound", "interleavings", "borderline", "falsified", "verified, monitor", "without", "times"
    );
    let missed: u32 = TABLE.iter().map(rows).sum();
    println!();
    for row in TABLE {
        println!("{}: {}", row.name, row.differs);
    }
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

fn rows(row: &Row) -> u32 {
    let program = Arc::new((row.program)());
    let deepest = row.published.last().and_then(|published| published.0);
    let (mended, n_fences) = fenced(&program, deepest, ModelId::Tso);
    let mut missed = 0;
    for &(bound, interleavings, borderline, falsify, with, without) in row.published {
        let all = interleave(&program, bound, Looking { models: &[ModelId::Tso], stop_at_first: false });
        let first = interleave(&program, bound, Looking { models: &[ModelId::Tso], stop_at_first: true });
        let monitored = interleave(&mended, bound, Looking { models: &[ModelId::Tso], stop_at_first: false });
        let plain = interleave(&mended, bound, Looking { models: &[], stop_at_first: false });
        assert!(monitored.pairs[0].is_empty(), "{} is not mended", row.name);
        let falsified = if all.borderline[0] > 0 { ms(first.time) } else { "not found".to_owned() };
        let their_falsify = if borderline == 0 { "n.a.".to_owned() } else { seconds(falsify) };
        let times = with / monitored.time.as_secs_f64();
        println!(
            "{:<10} {:>5} {:>18} {:>18} {:>18} {:>21} {:>21} {:>7}",
            row.name,
            bound.map_or("none".to_owned(), |bound| bound.to_string()),
            format!("{}{} / {interleavings}", all.interleavings, if all.is_all { "" } else { "+" }),
            format!("{} / {borderline}", all.borderline[0]),
            format!("{falsified} / {their_falsify}"),
            format!("{} / {}", ms(monitored.time), seconds(with)),
            format!("{} / {}", ms(plain.time), seconds(without)),
            if with > 0.0 { format!("{times:.0}") } else { String::new() },
        );
        let has_target = bound == Some(5);
        missed += u32::from(has_target && (times < TARGET_RATIO || !monitored.is_all));
        missed += u32::from((borderline > 0) != (all.borderline[0] > 0) && bound != Some(0));
    }
    let (time, executions, is_robust) = complete(&mended);
    println!(
        "{:<10} {:>5} with {n_fences} fences {} under tso, {executions} executions in {}",
        row.name,
        "all",
        if is_robust { "robust" } else { "not robust" },
        ms(time)
    );
    missed
}

/// Robustness without a bound: one execution for every trace.
fn complete(program: &Arc<Program>) -> (Duration, u64, bool) {
    let monitors = vec![MonitorId::Robustness];
    let options = Options { search: SearchId::Dpor, monitors, minimize: false, ..Options::new(ModelId::Tso) };
    let begin = Instant::now();
    let signal = || (begin.elapsed() > Duration::from_secs(20)).then_some(teetotal_explore::StopReason::Time);
    let outcome = check(program, &options, &signal).expect("it can be checked");
    let is_robust = outcome.violations.is_empty() && outcome.coverage.is_complete();
    (begin.elapsed(), outcome.stats.executions, is_robust)
}

pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 100.0 { format!("{ms:.2} ms") } else { format!("{:.2} s", ms / 1e3) }
}

fn seconds(seconds: f64) -> String {
    if seconds == 0.0 { "<0.3 s".to_owned() } else { format!("{seconds} s") }
}
