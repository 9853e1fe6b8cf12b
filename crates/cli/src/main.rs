//! The command `teetotal`.

use std::process::ExitCode;

mod args;
mod checkpoint;
mod commands;
mod fault;
mod limits;
mod output;
mod program;
mod screen;
mod table;
mod values;

fn main() -> ExitCode {
    ExitCode::from(output::run(|out| match args::parse(out)? {
        Some(command) => commands::run(command, out),
        None => Ok(teetotal::exit::HOLDS),
    }))
}
