//! Tables 1 and 2 of Burnim, Sen and Stergiou: violations within one and two preemptions, beside the published figures.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use teetotal_gallery::{self as gallery, SetThreads, Swap, Variant};
use teetotal_memory::ModelId;
use teetotal_program::ir::{Instruction, Program};
use teetotal_program::{Order, Span, ThreadId};

use crate::interleavings::{Looking, Pair, run as interleave};
use crate::sober::ms;

/// Interleavings, seconds, and distinct violations under TSO and under PSO.
type Published = (u64, f64, usize, usize);

struct Row {
    name: &'static str,
    differs: &'static str,
    program: fn() -> Program,
    /// With at most one preemption, and with two.
    published: [Published; 2],
}

const UNCHECKED: Variant = Variant { asserts: false, ..Variant::PLAIN };

const SET: SetThreads = SetThreads { adders: 1, readers: 1, removers: 1 };

const TABLE: &[Row] = &[
    Row {
        name: "dekker",
        differs: "two threads with two critical sections each; to wait is one step",
        program: || gallery::dekker_sections(2),
        published: [(79, 6.4, 3, 5), (1_714, 180.0, 9, 11)],
    },
    Row {
        name: "bakery",
        differs: "two threads with one critical section each; to wait is one step",
        program: || gallery::bakery_loop(2, UNCHECKED),
        published: [(197, 42.4, 3, 4), (13_632, 3_992.4, 3, 4)],
    },
    Row {
        name: "msn",
        differs: "two threads put a number in and one takes one",
        program: || gallery::michael_scott(2, 1, Swap::Instruction, UNCHECKED),
        published: [(92, 7.5, 0, 3), (2_300, 196.1, 0, 3)],
    },
    Row {
        name: "ms2",
        differs: "two threads put a number in and one takes one",
        program: || gallery::two_lock_queue(2, 1, UNCHECKED),
        published: [(123, 11.0, 0, 2), (3_322, 300.0, 0, 2)],
    },
    Row {
        name: "harris",
        differs: "one thread adds, one looks a key up and one removes",
        program: || gallery::harris(SET, Swap::Instruction, UNCHECKED),
        published: [(161, 18.8, 0, 2), (5_646, 661.7, 0, 2)],
    },
    Row {
        name: "lazylist",
        differs: "one thread adds, one looks a key up and one removes",
        program: || gallery::lazy_list(SET, UNCHECKED),
        published: [(139, 14.0, 0, 4), (4_045, 428.4, 0, 4)],
    },
    Row {
        name: "snark",
        differs: "a thread at each end puts in two numbers and takes two; two locations are swapped under a lock",
        program: || gallery::snark(2, UNCHECKED),
        published: [(172, 15.4, 0, 4), (6_510, 609.9, 0, 10)],
    },
];

/// Prints the tables.
pub(crate) fn run() -> ExitCode {
    println!("[BURNIM, Tables 1 and 2] each cell ours / published; violations are pairs of places in the source;");
    println!("under pso an update or a lock waits for the stores to its own location only, as in the paper");
    let mut missed = 0;
    for (index, bound) in [1, 2].into_iter().enumerate() {
        println!("\nat most {bound} preemptions");
        println!(
            "{:<9} {:>16} {:>20} {:>11} {:>11} {:>20} {:>7}",
            "program", "interleavings", "time", "tso", "pso", "without monitors", "times"
        );
        for row in TABLE {
            missed += print(row, bound, &row.published[index]);
        }
    }
    println!("\nTheir programs call each operation from a test of their own, which is not published; ours:");
    for row in TABLE {
        println!("{}: {}", row.name, row.differs);
    }
    if missed == 0 {
        println!("\nthe same programs are not robust");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} verdicts differ");
    ExitCode::FAILURE
}

fn print(row: &Row, bound: u64, &(interleavings, seconds, tso, pso): &Published) -> u32 {
    let program = Arc::new(as_in_the_paper((row.program)()));
    let models = [ModelId::Tso, ModelId::Pso];
    let seen = interleave(&program, Some(bound), Looking { models: &models, stop_at_first: false });
    let plain = interleave(&program, Some(bound), Looking { models: &[], stop_at_first: false });
    let ours: Vec<usize> = seen.pairs.iter().map(|pairs| distinct(&program, pairs)).collect();
    println!(
        "{:<9} {:>16} {:>20} {:>11} {:>11} {:>20} {:>7.0}",
        row.name,
        format!("{}{} / {interleavings}", seen.interleavings, if seen.is_all { "" } else { "+" }),
        format!("{} / {seconds} s", ms(seen.time)),
        format!("{} / {tso}", ours[0]),
        format!("{} / {pso}", ours[1]),
        ms(plain.time),
        seconds / seen.time.as_secs_f64(),
    );
    u32::from((ours[0] > 0) != (tso > 0)) + u32::from((ours[1] > 0) != (pso > 0))
}

/// The program with updates and locks that wait for their own location only under PSO, as in the paper.
fn as_in_the_paper(mut program: Program) -> Program {
    for instruction in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        match instruction {
            Instruction::Rmw { order, .. } | Instruction::Lock { order, .. } | Instruction::Unlock { order, .. } => {
                *order = Order::Relaxed;
            }
            _ => {}
        }
    }
    program
}

/// Pairs of places in the source, which are the same for all threads that run the same code.
fn distinct(program: &Program, pairs: &BTreeSet<Pair>) -> usize {
    let place = |(thread, instruction): (ThreadId, u32)| {
        let places = &program.threads[thread.index()].places;
        match places.get(instruction as usize).and_then(|place| place.span) {
            Some(Span { line, column, .. }) => (line, column, 0, 0),
            None => (0, 0, 1 + thread.0, instruction),
        }
    };
    pairs.iter().map(|pair| pair.map(place)).collect::<BTreeSet<_>>().len()
}
