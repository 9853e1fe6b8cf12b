//! The laws that judge every engine: on random programs, on exact counts, and on cycles of edges.
//!
//! A law is a function from a program to what it finds wrong; a new one is a file here and a row in [`LAWS`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{MODELS, Model};
use teetotal_program::ir::Program;
use teetotal_program::testing::{Coverage, Shape, generate, shrink};

use crate::Task;
use crate::laws::everything::Everything;

mod annotations;
mod arithmetic;
mod bounded;
mod candidates;
mod code;
mod corpus;
mod cycles;
mod dependence;
mod dpor;
mod everything;
mod exact;
mod fences;
mod inclusion;
mod mcr;
mod minimal;
mod permutation;
mod races;
mod rc11;
mod replay;
mod robustness;
mod states;
mod swaps;
mod symbolic;
mod twin;

/// Holds every engine to the laws, on random programs, on cycles of edges and on the counts that are known exactly.
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
    /// Which part to run: the random programs, the exact counts, the cycles of edges, the corpus, or all
    #[arg(long, value_name = "PART", default_value = "all", value_parser = ["random", "exact", "cycles", "corpus", "all"])]
    part: String,
    /// Only the laws whose name contains this
    #[arg(long, value_name = "TEXT")]
    law: Option<String>,
    /// Stop at the first random program that breaks a law, and do not make it smaller
    #[arg(long)]
    quick: bool,
}

/// What a law finds wrong with a program.
pub(crate) type Verdict = Result<(), String>;

/// A program, and every execution of it where there are finitely many.
pub(crate) struct Case {
    program: Arc<Program>,
    everything: Vec<Everything>,
}

impl Case {
    fn new(program: Program, ends: bool) -> Self {
        let program = Arc::new(program);
        let everything = if ends {
            vec![Everything::of::<Sc>(&program), Everything::of::<Tso>(&program), Everything::of::<Pso>(&program)]
        } else {
            Vec::new()
        };
        Case { program, everything }
    }

    /// Every execution under `M`; only for laws that need an end.
    fn everything<M: Model>(&self) -> &Everything {
        let index = MODELS.iter().position(|info| info.id == M::ID).expect("every model has a row");
        &self.everything[index]
    }
}

/// Whether the program has a stretch without a switch to another thread.
fn has_exclusive(program: &Program) -> bool {
    program.threads.iter().any(|thread| thread.places.iter().any(|place| place.exclusive))
}

/// A law and the kinds of programs that it is about.
struct Law {
    name: &'static str,
    /// Whether it runs every interleaving, so that the program must have finitely many.
    needs_end: bool,
    /// It takes so long that it is tried on one program of so many, unless it is asked for by name.
    every: u64,
    holds: fn(&Case) -> Verdict,
}

/// All laws.
const LAWS: &[Law] = &[
    Law { name: "each thread does what its code says", needs_end: true, every: 1, holds: code::is_obeyed },
    Law { name: "machine ≡ axiomatic twin", needs_end: true, every: 1, holds: twin::agrees },
    Law { name: "the twin accepts nothing else", needs_end: true, every: 1, holds: candidates::are_told_apart },
    Law { name: "stateful search ≡ brute force", needs_end: true, every: 1, holds: states::agree_with_brute_force },
    Law { name: "dpor runs each trace once", needs_end: true, every: 1, holds: dpor::runs_each_trace_once },
    Law {
        name: "mcr finds the values of brute force, each once",
        needs_end: true,
        every: 1,
        holds: mcr::finds_each_class_once,
    },
    Law {
        name: "annotations find who reads from whom as brute force does, each once",
        needs_end: true,
        every: 1,
        holds: annotations::finds_each_class_once,
    },
    Law { name: "mcr predicts the races of brute force", needs_end: true, every: 1, holds: races::are_predicted },
    Law { name: "robustness is decided under SC", needs_end: true, every: 1, holds: robustness::agrees_with_the_model },
    Law {
        name: "executions without a delay are passed over",
        needs_end: true,
        every: 1,
        holds: robustness::passes_over_nothing,
    },
    Law {
        name: "a search of the model finds what SC has not",
        needs_end: true,
        every: 1,
        holds: robustness::is_inclusion,
    },
    Law { name: "bounded search ≡ brute force within the bound", needs_end: true, every: 1, holds: bounded::agrees },
    Law { name: "no execution is simpler than a minimized one", needs_end: true, every: 1, holds: minimal::holds },
    Law { name: "reduction loses nothing", needs_end: false, every: 1, holds: states::survive_reduction },
    Law { name: "SC ⊆ TSO ⊆ PSO", needs_end: true, every: 1, holds: inclusion::holds },
    Law { name: "every execution is allowed by RC11", needs_end: true, every: 1, holds: rc11::allows },
    Law { name: "a fence after each operation gives SC", needs_end: false, every: 1, holds: fences::give_sc },
    Law { name: "a token replays its execution", needs_end: false, every: 1, holds: replay::round_trips },
    Law { name: "permuting threads permutes outcomes", needs_end: false, every: 1, holds: permutation::holds },
    Law { name: "independent steps commute", needs_end: true, every: 1, holds: dependence::agrees_with_traces },
    Law { name: "symbolic search ≡ stateful search", needs_end: false, every: 8, holds: symbolic::agrees },
    Law { name: "independent neighbors can be swapped", needs_end: true, every: 1, holds: swaps::are_possible },
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
        let wanted = |part: &str| self.part == part || self.part == "all";
        if wanted("exact") {
            broken += exact::report(self.jobs);
        }
        if wanted("cycles") {
            broken += cycles::report(self.jobs);
        }
        if wanted("corpus") {
            broken += corpus::report();
        }
        if wanted("random") {
            broken += self.random();
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// What stands between the law and the number of programs in the line that says what `--quick` found.
pub(crate) const AFTER: &str = ", broken after programs: ";

impl Laws {
    /// A report if the random program with this number breaks a law.
    fn try_one(&self, program: &Program, number: u64) -> Option<String> {
        let seed = self.seed + number;
        if self.quick {
            let (law, reason) = first_broken(program, kind_of(seed).ends, seed, self.law.as_deref())?;
            return Some(format!("{law}{AFTER}{}\n{reason}", number + 1));
        }
        try_all(program, seed, self.law.as_deref())
    }

    /// Tries all laws on random programs; gives how many programs break one.
    fn random(&self) -> u64 {
        let started = Instant::now();
        let (next, broken) = (AtomicU64::new(0), AtomicU64::new(0));
        let max_broken = if self.quick { 1 } else { 3 };
        let coverage = std::thread::scope(|scope| {
            let worker = || {
                let mut coverage = Coverage::default();
                while broken.load(Ordering::Relaxed) < max_broken {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.programs {
                        break;
                    }
                    let program = program_for(self.seed + number);
                    coverage.add(&program);
                    if let Some(report) = self.try_one(&program, number) {
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
            LAWS.iter().filter(|law| self.law.as_deref().is_none_or(|text| law.name.contains(text))).count(),
            started.elapsed().as_secs_f64()
        );
        broken
    }
}

/// The random program of a seed. One in fifty is large.
fn program_for(seed: u64) -> Program {
    let shape = (kind_of(seed).shape)();
    let max_interleavings = if seed.is_multiple_of(50) { shape.max_interleavings } else { 10_000 };
    generate(seed, &Shape { max_interleavings, ..shape })
}

/// The law that stands for all of them when an engine panics.
const NO_PANIC: &str = "no engine panics";

/// Tries every law that fits, or only those whose name contains a text; gives the first that is broken and what is wrong.
fn first_broken(program: &Program, ends: bool, seed: u64, only: Option<&str>) -> Option<(&'static str, String)> {
    let try_all = || {
        let is_wanted = |law: &Law| only.map_or(seed.is_multiple_of(law.every), |text| law.name.contains(text));
        let fits = |law: &&Law| (ends || !law.needs_end) && is_wanted(law);
        let case = Case::new(program.clone(), LAWS.iter().filter(fits).any(|law| law.needs_end));
        LAWS.iter().filter(fits).find_map(|law| (law.holds)(&case).err().map(|reason| (law.name, reason)))
    };
    catch_unwind(AssertUnwindSafe(try_all)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Some((NO_PANIC, text.to_owned()))
    })
}

/// Tries every law that fits; gives a report on the first that is broken, with the smallest program that breaks it.
fn try_all(program: &Program, seed: u64, wanted: Option<&str>) -> Option<String> {
    let ends = kind_of(seed).ends;
    let (law, reason) = first_broken(program, ends, seed, wanted)?;
    let only = Some(law).filter(|&law| law != NO_PANIC);
    let breaks = |smaller: &Program| first_broken(smaller, ends, seed, only).filter(|(name, _)| *name == law);
    let small = shrink(program, |smaller| breaks(smaller).is_some());
    let reason = breaks(&small).map_or(reason, |(_, small_reason)| small_reason);
    Some(format!("BROKEN {law}: {reason}\nseed {seed}, made smaller:\n{small}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laws_hold_on_random_programs() {
        for seed in 0..600 {
            if let Some(report) = try_all(&program_for(seed), seed, None) {
                panic!("seed {seed}: {report}");
            }
        }
    }
}
