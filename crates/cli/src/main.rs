//! The command `teetotal`.

use std::process::ExitCode;

mod args;
mod commands;
mod fault;
mod limits;
mod output;
mod program;
mod reading;
mod screen;
mod table;
mod values;

fn main() -> ExitCode {
    ExitCode::from(output::run(|out| match args::parse(out)? {
        Some(command) => commands::run(command, out),
        None => Ok(teetotal::exit::HOLDS),
    }))
}
