//! Measurements, run as `cargo run --release -p teetotal-bench -- WHAT`.
//!
//! What is compared is measured in one run, so that both sides meet the same machine.

#![allow(clippy::print_stdout, reason = "a benchmark is a command-line program")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod auto;
mod burnim;
mod clock;
mod dpor;
mod estimate;
mod interleavings;
mod linden;
mod litmus;
mod machines;
mod mcr;
mod monitor;
mod robustness;
mod rust;
mod sober;
mod solver;

/// Measurements of teetotal.
#[derive(Parser, Debug)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The search that is chosen when nobody says, beside dpor and mcr, on the corpus
    Auto,
    /// Dynamic partial-order reduction: executions, time and rate beside Nidhugg's and GenMC's
    Dpor,
    /// The estimate of the number of executions: how often its interval holds
    Estimate,
    /// The search over states: time, states and memory on litmus-sized programs, and how they grow
    Machines,
    /// Robustness: cost of monitoring an event, beside plain exploration, and over a family
    Robustness,
    /// Monitoring a recorded execution: events a second and memory
    Monitor {
        /// How many events the trace has
        #[arg(long, default_value_t = 100_000_000)]
        events: u64,
    },
    /// Rust code: executions and time beside loom's and shuttle's, and the rate
    Rust {
        /// Leave loom and shuttle out
        #[arg(long)]
        alone: bool,
    },
    /// Rust code that does not free memory, with the checked allocator and without it
    Allocator {
        /// The side to measure, in a process of its own
        #[arg(hide = true, value_parser = ["system", "checked"])]
        side: Option<String>,
    },
    /// Litmus tests: reading, checking under every model, and telling the result as herd7 does
    Litmus {
        /// The folder of the tests [default: corpus/litmus]
        folder: Option<PathBuf>,
    },
    /// The order solver: time for a question, beside z3 where it is installed
    Solver,
    /// The tables of a paper, beside the published figures
    Tables {
        /// The paper
        #[arg(value_parser = ["sober", "burnim", "linden", "mcr"])]
        paper: String,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().what {
        What::Auto => auto::run(),
        What::Dpor => dpor::run(),
        What::Estimate => estimate::run(),
        What::Machines => machines::run(),
        What::Robustness => robustness::run(),
        What::Monitor { events } => monitor::run(events),
        What::Rust { alone } => rust::run(alone),
        What::Allocator { side } => rust::allocator::run(side.as_deref()),
        What::Litmus { folder } => litmus::run(folder),
        What::Solver => solver::run(),
        What::Tables { paper } => match paper.as_str() {
            "sober" => sober::run(),
            "burnim" => burnim::run(),
            "mcr" => mcr::run(),
            _ => linden::run(),
        },
    }
}
