//! How often the interval of an estimate holds, after probes for a hundredth of the executions.

use std::process::ExitCode;
use std::sync::Arc;

use teetotal_check::estimate;
use teetotal_dpor::Estimate;
use teetotal_engine::Limits;
use teetotal_gallery::{self as gallery, Variant, Waiting};
use teetotal_memory::ModelId;
use teetotal_program::ir::Program;

use crate::dpor;

/// As the peers count.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

/// So many seeds of ten must give an interval that holds.
const TARGET: usize = 9;

/// Further programs of the peers, those that are too quick to be measured by time.
fn more_rows() -> Vec<(&'static str, Program, ModelId)> {
    use ModelId::{Pso, Sc, Tso};
    vec![
        ("store buffering, 6", gallery::store_buffering_sum(6, ALL), Tso),
        ("message passing, 3 rounds", gallery::message_passing_rounds(3, ALL), Sc),
        ("message passing, 3 rounds", gallery::message_passing_rounds(3, ALL), Pso),
        ("Dekker try-lock, 3 rounds", gallery::dekker_try(3, ALL), Sc),
        ("Peterson, 2 sections", gallery::peterson_loop(2, ALL), Tso),
        ("Lamport", gallery::lamport_loop(2, ALL), Pso),
        ("bakery", gallery::bakery_loop(2, ALL), Pso),
        ("fib 4", gallery::fibonacci(4, ALL), Sc),
        ("fib 4", gallery::fibonacci(4, ALL), Tso),
        ("fib 5", gallery::fibonacci(5, ALL), Sc),
    ]
}

/// Prints a line for each program.
pub(crate) fn run() -> ExitCode {
    println!(
        "{:<28} {:<5} {:>10} {:>7} {:>8} {:>9} {:>28}",
        "program", "model", "executions", "probes", "of 10", "of 100", "with the first seed"
    );
    let rows = dpor::rows().into_iter().map(|row| (row.name, row.program, row.model)).chain(more_rows());
    let mut missed = 0;
    for (name, program, model) in rows {
        let program = Arc::new(program);
        let executions = dpor::executions(&program, model);
        let probes = (executions / 100).max(1);
        let of = |seed| estimate(&program, model, &Limits::default(), probes, seed).expect("it can be estimated");
        let holds = |estimate: &Estimate| estimate.low <= executions as f64 && executions as f64 <= estimate.high;
        let hits: Vec<bool> = (0..100).map(|seed| holds(&of(seed))).collect();
        let count = |hits: &[bool]| hits.iter().filter(|hit| **hit).count();
        let first = of(0);
        let shown = format!("{:.0} ({:.0} to {:.0})", first.executions, first.low, first.high);
        let (ten, hundred, model) = (count(&hits[..10]), count(&hits), model.info().name);
        println!("{name:<28} {model:<5} {executions:>10} {probes:>7} {ten:>8} {hundred:>9} {shown:>28}");
        missed += usize::from(ten < TARGET);
    }
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}
