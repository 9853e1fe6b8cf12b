//! Measurements, run as `cargo run --release -p teetotal-bench -- WHAT`.
//!
//! What is compared is measured in one run, so that both sides meet the same machine.

#![allow(clippy::print_stdout, reason = "a benchmark is a command-line program")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod linden;
mod machines;

/// Measurements of teetotal.
#[derive(Parser, Debug)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The search over states: time, states and memory on litmus-sized programs, and how they grow
    Machines,
    /// The tables of a paper, beside the published figures
    Tables {
        /// The paper
        #[arg(value_parser = ["linden"])]
        paper: String,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().what {
        What::Machines => machines::run(),
        What::Tables { .. } => linden::run(),
    }
}
