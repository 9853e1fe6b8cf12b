//! The definition of the command line, and its errors.

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
    /// Search every execution of a program for violations
    Check(CheckArgs),
    /// Compare memory models: which final state each allows, and why
    Compare(CompareArgs),
    /// Replay one execution from the token that a check printed
    Replay(ReplayArgs),
    /// Check a recorded execution for robustness
    Monitor(MonitorArgs),
    /// Explain a model, a check, a search or a stop reason
    Explain(ExplainArgs),
    /// List programs, models, checks, searches and more
    List(ListArgs),
    /// Print a program as it is checked
    Inspect(InspectArgs),
    /// Write man pages or shell completions
    Generate(GenerateArgs),
}

const AFTER_HELP: &str = "\
Exit codes:
  0  no violation or the question is answered; the search was complete
  1  a violation was found
  2  an error in the command or in a file
  3  no violation was found, but the search was incomplete
  4  there is nothing to check

Every option of `check` can also be set in the environment:
TEETOTAL_MODEL=pso is --model pso.

Examples:
  teetotal demo
  teetotal check tests/ --model all
  teetotal compare SB --witness
  teetotal explain tso";

/// Returns the definition of the command line, for man pages and completions.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// Returns the command, or `None` if help was printed.
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

/// Adds the environment variable that an invalid value comes from.
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
