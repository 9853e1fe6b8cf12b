//! Figure 4 of Sober: falsifying programs and verifying them with fences, beside the published figures.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal_check::{Options, Outcome, SearchId, check};
use teetotal_gallery::{self as gallery, Deque, Variant};
use teetotal_judge::{Finding, MonitorId};
use teetotal_memory::ModelId;
use teetotal_program::ThreadId;
use teetotal_program::ir::Program;

use crate::interleavings::{Looking, run as interleave};

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
        differs: "two threads with two critical sections each, from the algorithm; to wait is one step",
        program: || gallery::dekker_sections(2),
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
        differs: "two threads with one critical section each, where theirs have three; to wait is one step",
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
        differs: "not public: the deque of Chase and Lev, two pushes and takes, and two steals by threads of their own",
        program: || gallery::chase_lev(Deque { pushes: 2, takes: 2, thieves: 2 }, UNCHECKED),
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

/// How often a measurement is repeated; the best counts.
const REPEATS: usize = 3;

/// Prints the table and compares with the targets.
pub(crate) fn run() -> ExitCode {
    println!(
        "[SOBER, Fig. 4] under tso, each cell ours / published; counts are of the original program within the bound."
    );
    println!(
        "Verified is the program with fences: within the bound with the monitor and without it, and then without any"
    );
    println!("bound, which says more than each row; times is how much faster that is.\n");
    println!(
        "{:<10} {:>5} {:>16} {:>16} {:>20} {:>20} {:>20} {:>10} {:>7}",
        "program",
        "bound",
        "interleavings",
        "borderline",
        "falsified",
        "monitored",
        "not monitored",
        "no bound",
        "times"
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
    let Mended { program: mended, n_fences, time, size } = mend(&program, deepest);
    let mut missed = 0;
    for &(bound, interleavings, borderline, falsify, with, without) in row.published {
        let all = interleave(&program, bound, Looking { models: &[ModelId::Tso], stop_at_first: false });
        let first = interleave(&program, bound, Looking { models: &[ModelId::Tso], stop_at_first: true });
        let monitored = interleave(&mended, bound, Looking { models: &[ModelId::Tso], stop_at_first: false });
        let plain = interleave(&mended, bound, Looking { models: &[], stop_at_first: false });
        assert!(monitored.pairs[0].is_empty(), "{} is not mended", row.name);
        let falsified = if all.borderline[0] > 0 { ms(first.time) } else { "not found".to_owned() };
        let their_falsify = if borderline == 0 { "n.a.".to_owned() } else { seconds(falsify) };
        let times = with / time.as_secs_f64();
        let more = |is_all: bool| if is_all { "" } else { "+" };
        println!(
            "{:<10} {:>5} {:>16} {:>16} {:>20} {:>20} {:>20} {:>10} {:>7}",
            row.name,
            bound.map_or("none".to_owned(), |bound| bound.to_string()),
            format!("{}{} / {interleavings}", all.interleavings, more(all.is_all)),
            format!("{} / {borderline}", all.borderline[0]),
            format!("{falsified} / {their_falsify}"),
            format!("{}{} / {}", ms(monitored.time), more(monitored.is_all), seconds(with)),
            format!("{}{} / {}", ms(plain.time), more(plain.is_all), seconds(without)),
            ms(time),
            if with > 0.0 { format!("{times:.0}") } else { String::new() },
        );
        missed += u32::from(bound == Some(5) && times < TARGET_RATIO);
        if (borderline > 0) != (all.borderline[0] > 0) {
            println!("{:<10} within that bound the verdicts differ: the programs are not the same", row.name);
        }
    }
    println!("{:<10} with {n_fences} fences robust without any bound: {size}", row.name);
    missed
}

/// A program with the fences that it needs.
struct Mended {
    program: Arc<Program>,
    n_fences: usize,
    /// How long it takes to decide that it is robust, without a bound.
    time: Duration,
    /// How much was searched for that.
    size: String,
}

/// Adds fences after the stores that the search names, and the monitor within the bound, until nobody names one.
///
/// The monitor alone does not know whether a thread that waits could go on with an older value, so it may name more.
fn mend(program: &Arc<Program>, bound: Option<u64>) -> Mended {
    let (mut program, mut n_fences) = (Arc::clone(program), 0);
    loop {
        let outcome = decide(&program);
        let delays = outcome.violations.iter().filter_map(|violation| match &violation.finding {
            Finding::NotRobust(delay) => Some((delay.store_at.thread, delay.store_at.place)),
            _ => None,
        });
        let mut stores: BTreeSet<(ThreadId, u32)> = delays.collect();
        if stores.is_empty() {
            let seen = interleave(&program, bound, Looking { models: &[ModelId::Tso], stop_at_first: false });
            stores = seen.pairs[0].iter().map(|pair| pair[0]).collect();
        }
        if stores.is_empty() {
            assert!(outcome.coverage.is_complete(), "{} is too large", program.name);
            let times = (0..REPEATS).map(|_| {
                let begin = Instant::now();
                decide(&program);
                begin.elapsed()
            });
            let time = times.min().expect("it is repeated");
            let (stats, search) = (outcome.stats, outcome.search.info().name);
            let size = format!("{} executions, {} states by `{search}`", stats.executions, stats.states);
            return Mended { program, n_fences, time, size };
        }
        n_fences += stores.len();
        program = Arc::new(program.with_fences_after(&stores));
    }
}

/// Robustness without a bound.
fn decide(program: &Arc<Program>) -> Outcome {
    let monitors = vec![MonitorId::Robustness];
    let options = Options { search: SearchId::Auto, monitors, minimize: false, ..Options::new(ModelId::Tso) };
    check(program, &options, &|| None).expect("it can be checked")
}

pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 100.0 { format!("{ms:.2} ms") } else { format!("{:.2} s", ms / 1e3) }
}

fn seconds(seconds: f64) -> String {
    if seconds == 0.0 { "<0.3 s".to_owned() } else { format!("{seconds} s") }
}
