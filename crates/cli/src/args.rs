//! The command line: what there is to say, and how mistakes in it are told.

use std::env;
use std::error::Error;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    CheckArgs, CompareArgs, DemoArgs, ExplainArgs, GenerateArgs, InspectArgs, ListArgs, MonitorArgs, ReplayArgs,
};
use crate::fault::Fault;
use crate::output::Output;
use crate::screen::color_by_default;

/// Checks concurrent programs under SC, TSO and PSO.
#[derive(Debug, Parser)]
#[command(name = "teetotal", version, max_term_width = 80, after_help = AFTER_HELP)]
#[command(disable_help_subcommand = true, infer_subcommands = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show which surprising outcomes appear under which memory model
    Demo(DemoArgs),
    /// Search every execution of a program for something wrong
    Check(CheckArgs),
    /// Set models side by side: which final state appears under which, and why
    Compare(CompareArgs),
    /// Show one execution again, from the token that a check printed
    Replay(ReplayArgs),
    /// Look for violations of robustness in a recorded execution
    Monitor(MonitorArgs),
    /// Explain a model, a check, a search or why one stopped, in a page
    Explain(ExplainArgs),
    /// List what there is: programs, models, checks, searches and more
    List(ListArgs),
    /// Print a program as it is checked
    Inspect(InspectArgs),
    /// Write man pages or completions for a shell
    Generate(GenerateArgs),
}

const AFTER_HELP: &str = "\
Exit codes:
  0  nothing is wrong or the question is answered; every execution was seen
  1  a violation was found
  2  the command or a file could not be understood or carried out
  3  nothing wrong was found, but not every execution was seen
  4  there is nothing to check

Every option of `check` can be given by the environment too:
TEETOTAL_MODEL=pso is --model pso.

Examples:
  teetotal demo
  teetotal check tests/ --model all
  teetotal compare SB --witness
  teetotal explain tso";

/// The definition of everything that can be said, for man pages and completions.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// The command, or nothing if help was asked for and given.
pub(crate) fn parse(out: &mut Output) -> Result<Option<Command>, Fault> {
    let error = match Cli::try_parse() {
        Ok(cli) => return Ok(Some(cli.command)),
        Err(error) => error,
    };
    if let Some(fault) = Error::source(&error).and_then(|source| source.downcast_ref::<Fault>()) {
        return Err(with_origin(fault.clone(), &error));
    }
    let text = error.render();
    if error.use_stderr() {
        return Err(Fault::Usage(text.to_string()));
    }
    let text = if color_by_default() { text.ansi().to_string() } else { text.to_string() };
    out.write(&text)?;
    Ok(None)
}

/// Says where a bad value comes from, if it was not written on the command line.
fn with_origin(fault: Fault, error: &clap::Error) -> Fault {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return fault };
    let Some(name) = option.split([' ', '=']).next().and_then(|word| word.strip_prefix("--")) else { return fault };
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return fault };
    let command = Cli::command();
    let arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let variable = arguments.filter(|arg| arg.get_long() == Some(name)).find_map(|arg| arg.get_env());
    let Some(variable) = variable.and_then(|variable| variable.to_str()) else { return fault };
    let on_the_line = env::args().any(|arg| arg.contains(value.as_str()));
    match env::var(variable) {
        Ok(set) if !on_the_line && set.contains(value.as_str()) => {
            fault.help(format!("the value comes from the environment variable {variable}"))
        }
        _ => fault,
    }
}
