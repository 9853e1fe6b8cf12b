//! The command `teetotal`.

use std::process::ExitCode;

mod args;
mod batch;
mod checkpoint;
mod commands;
mod effort;
mod estimate;
mod fault;
mod interrupt;
mod limits;
mod output;
mod pages;
mod program;
mod reading;
mod record;
mod screen;
mod table;
mod values;
mod watch;

fn main() -> ExitCode {
    ExitCode::from(output::run(|out| match args::parse(out)? {
        Some(command) => commands::run(command, out),
        None => Ok(teetotal::exit::HOLDS),
    }))
}
