//! Generated programs with weak compare-exchanges mean in Rust what they mean in a litmus test of C.

#![allow(clippy::print_stdout, reason = "what was compared is told")]

use super::common;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use common::{MODELS, Rng, seeds};
use teetotal::model::{Builder, SearchId};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicU32, fence};
use teetotal::{ModelId, thread};
use teetotal_check::{Options, check};
use teetotal_frontends::litmus;

const CELLS: [&str; 3] = ["x", "y", "z"];

/// An operation of a thread, on a cell.
#[derive(Clone, Copy, Debug)]
enum Op {
    Store(usize, u32, Ordering),
    Load(usize, Ordering),
    Swap(usize, u32, Ordering),
    Add(usize, Ordering),
    Exchange { is_weak: bool, cell: usize, expected: u32, new: u32, success: Ordering, failure: Ordering },
    Fence(Ordering),
}

type Program = [Vec<Op>; 2];

/// What the operations of each thread return, and what the cells hold in the end.
type Outcome = Vec<u32>;

fn generate(seed: u64) -> Program {
    let rng = &mut Rng::new(seed);
    [0, 1].map(|_| {
        let n_ops = 2 + rng.below(3);
        let mut ops: Vec<Op> = (0..n_ops).map(|_| operation(rng)).collect();
        let at = rng.below(n_ops);
        ops[at] = exchange(rng, true);
        ops
    })
}

fn exchange(rng: &mut Rng, is_weak: bool) -> Op {
    let (success, failure) = rng.of(&[
        (Relaxed, Relaxed),
        (Acquire, Acquire),
        (Release, Relaxed),
        (AcqRel, Acquire),
        (SeqCst, SeqCst),
        (SeqCst, Relaxed),
    ]);
    let (expected, new) = (rng.below(2) as u32, 2 + rng.below(2) as u32);
    Op::Exchange { is_weak, cell: rng.below(CELLS.len()), expected, new, success, failure }
}

fn operation(rng: &mut Rng) -> Op {
    let cell = rng.below(CELLS.len());
    match rng.below(10) {
        0..=3 => Op::Store(cell, 1 + rng.below(2) as u32, rng.of(&[Relaxed, Relaxed, Release, SeqCst])),
        4..=6 => Op::Load(cell, rng.of(&[Relaxed, Acquire, SeqCst])),
        7 => match rng.below(2) {
            0 => Op::Swap(cell, 1, rng.of(&[Relaxed, AcqRel, SeqCst])),
            _ => Op::Add(cell, rng.of(&[Relaxed, Release, SeqCst])),
        },
        8 => exchange(rng, false),
        _ => Op::Fence(rng.of(&[Acquire, Release, AcqRel, SeqCst])),
    }
}

fn in_c(order: Ordering) -> &'static str {
    match order {
        Relaxed => "memory_order_relaxed",
        Acquire => "memory_order_acquire",
        Release => "memory_order_release",
        AcqRel => "memory_order_acq_rel",
        _ => "memory_order_seq_cst",
    }
}

/// The test, and the names of what it observes.
fn as_litmus(program: &Program) -> (String, Vec<String>) {
    let parameters = CELLS.map(|cell| format!("atomic_int* {cell}")).join(", ");
    let (mut text, mut observed) = ("C generated\n{}\n".to_owned(), Vec::new());
    for (thread, ops) in program.iter().enumerate() {
        writeln!(text, "P{thread}({parameters}) {{").expect("it is a string");
        for (at, op) in ops.iter().enumerate() {
            let line = match *op {
                Op::Store(cell, value, order) => {
                    format!("atomic_store_explicit({}, {value}, {});", CELLS[cell], in_c(order))
                }
                Op::Load(cell, order) => format!("int r{at} = atomic_load_explicit({}, {});", CELLS[cell], in_c(order)),
                Op::Swap(cell, value, order) => {
                    format!("int r{at} = atomic_exchange_explicit({}, {value}, {});", CELLS[cell], in_c(order))
                }
                Op::Add(cell, order) => {
                    format!("int r{at} = atomic_fetch_add_explicit({}, 1, {});", CELLS[cell], in_c(order))
                }
                Op::Exchange { is_weak, cell, expected, new, success, failure } => {
                    let (kind, cell) = (if is_weak { "weak" } else { "strong" }, CELLS[cell]);
                    let (success, failure) = (in_c(success), in_c(failure));
                    observed.push(format!("{thread}:e{at}"));
                    format!(
                        "int e{at} = {expected};\n  int r{at} = atomic_compare_exchange_{kind}_explicit({cell}, &e{at}, \
                         {new}, {success}, {failure});"
                    )
                }
                Op::Fence(order) => format!("atomic_thread_fence({});", in_c(order)),
            };
            writeln!(text, "  {line}").expect("it is a string");
            if !matches!(op, Op::Store(..) | Op::Fence(_)) {
                observed.push(format!("{thread}:r{at}"));
            }
        }
        text.push_str("}\n");
    }
    observed.extend(CELLS.map(str::to_owned));
    writeln!(text, "locations [{};]\nexists (true)", observed.join("; ")).expect("it is a string");
    (text, observed)
}

fn of_c(program: &Program, model: ModelId) -> BTreeSet<Outcome> {
    let (text, observed) = as_litmus(program);
    let test = StdArc::new(litmus::read("generated.litmus", &text).expect("it is a litmus test"));
    let position = |name: &String| {
        let mut terms = test.observed.iter();
        let is_it = |shown: &str| shown == name || shown.trim_matches(['[', ']']) == name;
        terms.position(|&term| is_it(&test.term_name(term))).expect("it is observed")
    };
    let wanted: Vec<usize> = observed.iter().map(position).collect();
    let options = Options { search: SearchId::Stateful, ..Options::new(model) };
    let outcome = check(&test, &options, &|| None).expect("it can be checked");
    assert!(outcome.coverage.is_complete());
    outcome.states.keys().map(|state| wanted.iter().map(|&at| state[at] as u32).collect()).collect()
}

fn perform(ops: &[Op], cells: &[AtomicU32; 3]) -> Outcome {
    let mut results = Vec::new();
    for op in ops {
        match *op {
            Op::Store(cell, value, order) => cells[cell].store(value, order),
            Op::Load(cell, order) => results.push(cells[cell].load(order)),
            Op::Swap(cell, value, order) => results.push(cells[cell].swap(value, order)),
            Op::Add(cell, order) => results.push(cells[cell].fetch_add(1, order)),
            Op::Exchange { is_weak, cell, expected, new, success, failure } => {
                let answer = match is_weak {
                    true => cells[cell].compare_exchange_weak(expected, new, success, failure),
                    false => cells[cell].compare_exchange(expected, new, success, failure),
                };
                results.extend(answer.map_or_else(|found| [found, 0], |_| [expected, 1]));
            }
            Op::Fence(order) => fence(order),
        }
    }
    results
}

fn of_rust(program: &Program, model: ModelId, search: SearchId) -> BTreeSet<Outcome> {
    let outcomes = StdArc::new(StdMutex::new(BTreeSet::new()));
    let (seen, threads) = (StdArc::clone(&outcomes), program.clone());
    let is_weak = |op: &&Op| matches!(op, Op::Exchange { is_weak: true, .. });
    let mut builder = Builder::new();
    (builder.model, builder.search) = (model, search);
    builder.spurious = program.iter().flatten().filter(is_weak).count();
    let report = builder.explore(move || {
        let cells: Arc<[AtomicU32; 3]> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
        let handles = threads.clone().map(|ops| {
            let cells = Arc::clone(&cells);
            thread::spawn(move || perform(&ops, &cells))
        });
        let mut outcome = handles.map(|handle| handle.join().expect("it ends")).concat();
        outcome.extend(cells.iter().map(|cell| cell.load(Relaxed)));
        seen.lock().expect("no thread panics").insert(outcome);
    });
    assert_eq!((report.failure, report.coverage.is_complete()), (None, true), "{program:?}");
    outcomes.lock().expect("no thread panics").clone()
}

#[test]
fn weak_exchanges_of_rust_mean_what_those_of_c_mean() {
    let (mut n_programs, mut n_outcomes) = (0, 0);
    for seed in seeds(150) {
        let program = generate(seed);
        for model in MODELS {
            let expected = of_c(&program, model);
            n_outcomes += expected.len();
            for search in [SearchId::Dpor, SearchId::ReadsFrom] {
                let told = || format!("seed {seed}, {model:?}, {search:?}\n{}", as_litmus(&program).0);
                assert_eq!(of_rust(&program, model, search), expected, "{}", told());
            }
        }
        n_programs += 1;
    }
    println!("{n_programs} programs with {n_outcomes} outcomes");
}
