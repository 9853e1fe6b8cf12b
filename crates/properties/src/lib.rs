//! The laws that judge every engine: on random programs, on exact counts, on cycles of edges, and on the corpus.
//!
//! A law is a function from a program to what it finds wrong; a new one is a file here and a row in `LAWS`.
//! `cargo test` tries a sample, and `cargo xtask laws` as much as it is asked for.

#![allow(clippy::print_stdout, reason = "what is broken is told while the search for more goes on")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use teetotal_generate::{Shape, generate, shrink};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{BUFFER_MODELS, Model};
use teetotal_program::ir::Program;

use crate::everything::Everything;

pub use crate::corpus::report as corpus;
pub use crate::cycles::report as cycles;
pub use crate::exact::report as exact;
pub use crate::random::{AFTER, ENDS, Sample};

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
mod graphs;
mod inclusion;
mod machine;
mod mcr;
mod minimal;
mod permutation;
mod races;
mod random;
mod rc11;
mod replay;
mod robustness;
mod states;
mod swaps;
mod symbolic;

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
        let index = BUFFER_MODELS.iter().position(|info| info.id == M::ID).expect("every model has a row");
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
    Law { name: "machine ≡ axiomatic model", needs_end: true, every: 1, holds: machine::agrees },
    Law {
        name: "the axiomatic model accepts nothing else",
        needs_end: true,
        every: 1,
        holds: candidates::are_told_apart,
    },
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
    Law {
        name: "rc11: machine ≡ axiomatic model", needs_end: true, every: 1, holds: graphs::are_those_of_the_axioms
    },
    Law { name: "rc11: dpor runs each graph once", needs_end: true, every: 1, holds: graphs::are_run_once },
    Law {
        name: "rc11 is sc where all is SeqCst",
        needs_end: true,
        every: 1,
        holds: graphs::are_those_of_sc_if_all_is_seq_cst,
    },
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
