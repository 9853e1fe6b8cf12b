//! Holds every engine to the laws of the crate `properties`, as long as it is asked to.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use teetotal_properties::{Sample, corpus, cycles, exact};

use crate::Task;

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
    /// How long one random program may take
    #[arg(long, value_name = "SECONDS")]
    patience: Option<u64>,
}

impl Task for Laws {
    const NAME: &'static str = "laws";

    fn run(self) -> ExitCode {
        let mut broken = 0;
        let wanted = |part: &str| self.part == part || self.part == "all";
        if wanted("exact") {
            broken += exact(self.jobs);
        }
        if wanted("cycles") {
            broken += cycles(self.jobs);
        }
        if wanted("corpus") {
            broken += corpus();
        }
        if wanted("random") {
            let Laws { programs, seed, jobs, quick, .. } = self;
            let patience = self.patience.map(Duration::from_secs);
            broken += Sample { seed, programs, jobs, law: self.law, quick, patience }.report();
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
