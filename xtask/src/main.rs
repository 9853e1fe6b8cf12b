//! Chores of the workspace, run as `cargo xtask TASK`.
//!
//! A task is a file that implements [`Task`], and a row in [`TASKS`].

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the tasks are command-line programs")]

use std::process::ExitCode;

use clap::{ArgMatches, Args, Command};

mod buildcost;
mod laws;
mod mutants;
mod recipes;
mod tidy;

/// All tasks, in the order of the help text.
const TASKS: &[Row] = &[
    row::<tidy::Tidy>(),
    row::<recipes::Recipes>(),
    row::<buildcost::BuildCost>(),
    row::<laws::Laws>(),
    row::<mutants::Mutants>(),
];

/// A chore and its options; the doc comment of the type is its help text.
trait Task: Args {
    /// As on the command line.
    const NAME: &'static str;

    /// Does the chore; failure has been explained on the terminal.
    fn run(self) -> ExitCode;
}

/// A task as the dispatcher sees it.
struct Row {
    name: &'static str,
    with_options: fn(Command) -> Command,
    run: fn(&ArgMatches) -> Result<ExitCode, clap::Error>,
}

const fn row<T: Task>() -> Row {
    Row { name: T::NAME, with_options: T::augment_args, run: |matches| T::from_arg_matches(matches).map(Task::run) }
}

fn main() -> ExitCode {
    let matches = command().get_matches();
    let (name, options) = matches.subcommand().expect("a task is required");
    let task = TASKS.iter().find(|task| task.name == name).expect("every name in the help text has a row");
    (task.run)(options).unwrap_or_else(|error| error.exit())
}

fn command() -> Command {
    let tasks = TASKS.iter().map(|task| (task.with_options)(Command::new(task.name)));
    Command::new("xtask")
        .bin_name("cargo xtask")
        .about("Chores of the workspace")
        .subcommand_required(true)
        .subcommands(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_valid_options_and_a_help_line() {
        command().debug_assert();
        for task in command().get_subcommands() {
            assert!(task.get_about().is_some(), "{} has no doc comment", task.get_name());
        }
    }
}
