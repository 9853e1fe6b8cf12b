//! Generated programs whose threads do what they read: no search takes them for nondeterministic.
//!
//! What a store replaces depends on the order in which an execution is run again; what a thread does must not.

#![allow(clippy::print_stdout, reason = "what was compared is told")]

use super::common;

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

use common::{MODELS, Rng, seeds};
use teetotal::model::{Builder, SearchId};
use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicU32;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::{Coverage, ModelId, StopReason, thread};

/// A statement; what is stored is a constant or the register.
#[derive(Clone, Debug)]
enum Statement {
    Store(usize, Option<u32>, Ordering),
    Load(usize, Ordering),
    Swap(usize, Option<u32>, Ordering),
    Add(usize, Ordering),
    Or(usize, Ordering),
    Exchange(usize, u32, u32),
    /// Depends on whether the register is even.
    If(Vec<Statement>, Vec<Statement>),
}

type Program = Vec<Vec<Statement>>;

/// The registers of the threads, and what the cells hold in the end.
type Outcome = Vec<u32>;

const N_CELLS: usize = 2;

fn generate(seed: u64) -> Program {
    let rng = &mut Rng::new(seed);
    let n_threads = 2 + usize::from(rng.percent(35));
    let thread = |_| {
        let n_statements = 2 + rng.below(if n_threads == 2 { 3 } else { 2 });
        (0..n_statements).map(|_| statement(rng, true)).collect()
    };
    (0..n_threads).map(thread).collect()
}

fn statement(rng: &mut Rng, may_branch: bool) -> Statement {
    let (cell, value) = (rng.below(N_CELLS), rng.percent(50).then(|| 1 + rng.below(3) as u32));
    let update = rng.of(&[Relaxed, Relaxed, AcqRel, SeqCst]);
    match rng.below(if may_branch { 12 } else { 9 }) {
        0..=2 => Statement::Store(cell, value, rng.of(&[Relaxed, Relaxed, Release, SeqCst])),
        3 => Statement::Load(cell, rng.of(&[Relaxed, Acquire])),
        4..=5 => Statement::Swap(cell, value, update),
        6 => Statement::Add(cell, update),
        7 => Statement::Or(cell, update),
        8 => Statement::Exchange(cell, rng.below(3) as u32, 1 + rng.below(3) as u32),
        _ => {
            let mut branch = || (0..rng.below(3)).map(|_| statement(rng, false)).collect();
            Statement::If(branch(), branch())
        }
    }
}

fn run(statements: &[Statement], register: &mut u32, cells: &[AtomicU32; N_CELLS]) {
    for statement in statements {
        match statement {
            Statement::Store(cell, value, order) => cells[*cell].store(value.unwrap_or(*register + 1), *order),
            Statement::Load(cell, order) => *register = cells[*cell].load(*order),
            Statement::Swap(cell, value, order) => {
                *register = cells[*cell].swap(value.unwrap_or(*register + 1), *order);
            }
            Statement::Add(cell, order) => *register = cells[*cell].fetch_add(1, *order),
            Statement::Or(cell, order) => *register = cells[*cell].fetch_or(2, *order),
            Statement::Exchange(cell, expected, new) => {
                *register = cells[*cell].compare_exchange(*expected, *new, AcqRel, Acquire).unwrap_or_else(|old| old);
            }
            Statement::If(even, odd) => run(if register.is_multiple_of(2) { even } else { odd }, register, cells),
        }
    }
}

fn outcomes(program: &Program, model: ModelId, search: SearchId, seed: u64) -> Option<BTreeSet<Outcome>> {
    let seen: std::sync::Arc<StdMutex<BTreeSet<Outcome>>> = std::sync::Arc::default();
    let (own, threads) = (std::sync::Arc::clone(&seen), program.clone());
    let mut builder = Builder::new();
    (builder.model, builder.search, builder.max_permutations) = (model, search, Some(2_000));
    let report = builder.explore(move || {
        let cells: Arc<[AtomicU32; N_CELLS]> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
        let start = |statements: &Vec<Statement>| {
            let (statements, cells) = (statements.clone(), Arc::clone(&cells));
            thread::spawn(move || {
                let mut register = 0;
                run(&statements, &mut register, &cells);
                register
            })
        };
        let handles: Vec<_> = threads.iter().map(start).collect();
        let mut outcome: Outcome = handles.into_iter().map(|handle| handle.join().expect("it ends")).collect();
        outcome.extend(cells.iter().map(|cell| cell.load(Relaxed)));
        own.lock().expect("no thread panics").insert(outcome);
    });
    let context = || format!("seed {seed}, {model:?}, {search:?}: {program:#?}");
    assert_eq!(report.failure, None, "{}", context());
    match report.coverage {
        Coverage::Complete => Some(seen.lock().expect("no thread panics").clone()),
        Coverage::Stopped(StopReason::Executions(_)) => None,
        other => panic!("{other:?} in {}", context()),
    }
}

#[test]
fn programs_that_do_what_they_read_are_never_called_nondeterministic() {
    let (mut n_compared, mut n_skipped) = (0, 0);
    for seed in seeds(300) {
        let program = generate(seed);
        for model in MODELS {
            let [dpor, mcr] =
                [SearchId::Dpor, SearchId::ReadsFrom].map(|search| outcomes(&program, model, search, seed));
            if let (Some(dpor), Some(mcr)) = (dpor, mcr) {
                assert_eq!(dpor, mcr, "seed {seed}, {model:?}: {program:#?}");
                n_compared += 1;
            } else {
                n_skipped += 1;
            }
        }
    }
    println!("{n_compared} searches compared, {n_skipped} too long");
    assert!(n_compared > n_skipped);
}
