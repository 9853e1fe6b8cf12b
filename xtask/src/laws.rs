//! The laws that judge every engine, on random programs and on exact counts.
//!
//! A law is a function from a program to what it finds wrong; a new one is a file here and a row in [`LAWS`].

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use teetotal_program::ir::Program;
use teetotal_program::testing::{Coverage, Shape, generate, shrink};

use crate::Task;

mod dependence;
mod everything;
mod exact;
mod fences;
mod inclusion;
mod permutation;
mod replay;
mod states;
mod twin;

/// Holds every engine to the laws, on random programs and on the counts that are known exactly.
#[derive(Args, Debug)]
pub(crate) struct Laws {
    /// How many random programs
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    programs: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many processor cores to use
    #[arg(long, value_name = "N", default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Which part to run: the random programs, the exact counts, or all
    #[arg(long, value_name = "PART", default_value = "all", value_parser = ["random", "exact", "all"])]
    part: String,
}

/// What a law finds wrong with a program.
pub(crate) type Verdict = Result<(), String>;

/// A law and the kinds of programs that it is about.
struct Law {
    name: &'static str,
    /// Whether it runs every interleaving, so that the program must have finitely many.
    needs_end: bool,
    holds: fn(&Arc<Program>) -> Verdict,
}

/// All laws.
const LAWS: &[Law] = &[
    Law { name: "machine ≡ axiomatic twin", needs_end: true, holds: twin::agrees },
    Law { name: "stateful search ≡ brute force", needs_end: true, holds: states::agree_with_brute_force },
    Law { name: "reduction loses nothing", needs_end: false, holds: states::survive_reduction },
    Law { name: "SC ⊆ TSO ⊆ PSO", needs_end: true, holds: inclusion::holds },
    Law { name: "a fence after each operation gives SC", needs_end: false, holds: fences::give_sc },
    Law { name: "a token replays its execution", needs_end: false, holds: replay::round_trips },
    Law { name: "permuting threads permutes outcomes", needs_end: false, holds: permutation::holds },
    Law { name: "independent steps commute", needs_end: true, holds: dependence::agrees_with_traces },
];

/// A kind of random programs.
struct Kind {
    shape: fn() -> Shape,
    /// Whether all of them have a longest execution.
    ends: bool,
}

/// The kinds of random programs, taken in turn.
const KINDS: &[Kind] = &[
    Kind { shape: Shape::litmus, ends: true },
    Kind { shape: Shape::full, ends: true },
    Kind { shape: Shape::litmus, ends: true },
    Kind { shape: Shape::loops, ends: true },
    Kind { shape: Shape::spins, ends: false },
];

fn kind_of(seed: u64) -> &'static Kind {
    &KINDS[seed as usize % KINDS.len()]
}

impl Task for Laws {
    const NAME: &'static str = "laws";

    fn run(self) -> ExitCode {
        let mut broken = 0;
        if self.part != "random" {
            broken += exact::report();
        }
        if self.part != "exact" {
            broken += self.random();
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Laws {
    /// Tries all laws on random programs; gives how many programs break one.
    fn random(&self) -> u64 {
        let started = Instant::now();
        let (next, broken) = (AtomicU64::new(0), AtomicU64::new(0));
        let coverage = std::thread::scope(|scope| {
            let worker = || {
                let mut coverage = Coverage::default();
                while broken.load(Ordering::Relaxed) < 3 {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.programs {
                        break;
                    }
                    let program = Arc::new(program_for(self.seed + number));
                    coverage.add(&program);
                    if let Some(report) = try_all(&program, self.seed + number) {
                        broken.fetch_add(1, Ordering::Relaxed);
                        println!("{report}");
                    }
                }
                coverage
            };
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().fold(Coverage::default(), |mut all, worker| {
                all.merge(&worker.join().expect("a worker does not panic"));
                all
            })
        });
        let broken = broken.into_inner();
        println!("{coverage}");
        println!(
            "{} random programs from seed {}, {} laws: {broken} broken ({:.0} s)",
            coverage.n_programs(),
            self.seed,
            LAWS.len(),
            started.elapsed().as_secs_f64()
        );
        broken
    }
}

/// The random program of a seed.
fn program_for(seed: u64) -> Program {
    generate(seed, &(kind_of(seed).shape)())
}

/// Tries every law that fits; gives a report on the first that is broken, with the smallest program that breaks it.
fn try_all(program: &Arc<Program>, seed: u64) -> Option<String> {
    for law in LAWS.iter().filter(|law| kind_of(seed).ends || !law.needs_end) {
        if let Err(reason) = (law.holds)(program) {
            let small = shrink(program, |smaller| (law.holds)(&Arc::new(smaller.clone())).is_err());
            let small_reason = (law.holds)(&Arc::new(small.clone())).err().unwrap_or(reason);
            return Some(format!("BROKEN {}: {small_reason}\n{small}", law.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laws_hold_on_random_programs() {
        for seed in 0..600 {
            let program = Arc::new(program_for(seed));
            if let Some(report) = try_all(&program, seed) {
                panic!("seed {seed}: {report}");
            }
        }
    }
}
