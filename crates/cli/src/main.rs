//! The command `teetotal`.

use std::process::ExitCode;

mod args;
mod batch;
mod commands;
mod effort;
mod fault;
mod interrupt;
mod limits;
mod output;
mod pages;
mod program;
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
