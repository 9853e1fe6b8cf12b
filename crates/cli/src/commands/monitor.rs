//! `teetotal monitor`: checks what a recorded execution implies for robustness.

use std::fs::File;
use std::io::{self, Read};

use clap::{Args, ValueEnum};
use teetotal::traces::TraceError;
use teetotal::{Gap, ModelId, Monitored, Monitoring, exit, monitor};

use crate::fault::Fault;
use crate::interrupt;
use crate::output::Output;
use crate::values;

/// Which trace to read, and what to check.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MonitorArgs {
    /// A file with a recorded execution, or `-` for the standard input
    #[arg(value_name = "TRACE")]
    trace: String,

    #[arg(short, long, value_name = "MODEL", default_value = "tso", value_parser = values::weak_model)]
    #[arg(env = "TEETOTAL_MODEL", hide_env = true, help = values::weak_model_help())]
    model: ModelId,

    /// Remember at most N stores besides the newest of each location; the result
    /// is marked incomplete if that was not enough
    #[arg(long, value_name = "N")]
    window: Option<usize>,

    /// Output: human or json (one object)
    #[arg(short, long, value_name = "KIND", default_value = "human", env = "TEETOTAL_FORMAT", hide_env = true)]
    #[arg(hide_possible_values = true)]
    format: Format,

    /// List all pairs of places, not only the first ones
    #[arg(short, long, env = "TEETOTAL_ALL", hide_env = true, value_parser = values::flag())]
    all: bool,

    /// Print only the verdict line
    #[arg(short, long, conflicts_with = "all", env = "TEETOTAL_QUIET", hide_env = true, value_parser = values::flag())]
    quiet: bool,
}

/// How the result is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One object
    Json,
}

const AFTER_HELP: &str = "\
The formats are `thread|operation(location)|place`, as RAPID has it, and the one
that `check --record` writes; docs/guide/traces.md defines both.

Examples:
  teetotal monitor trace.std
  zcat trace.gz | teetotal monitor - --model pso
  teetotal monitor trace.txt --window 1000000 --format json";

/// The number of pairs that are shown by default.
const FEW_PAIRS: usize = 10;

pub(crate) fn run(args: &MonitorArgs, out: &mut Output) -> Result<u8, Fault> {
    let (input, name) = open(&args.trace)?;
    interrupt::listen();
    let options = Monitoring { name, model: args.model, window: args.window };
    let (found, error) = monitor(input, &options, &interrupt::is_requested);
    out.write(&match (args.format, args.quiet) {
        (Format::Json, _) => found.json(),
        (Format::Human, true) => found.verdict_line() + "\n",
        (Format::Human, false) => found.render(if args.all { usize::MAX } else { FEW_PAIRS }),
    })?;
    match error {
        Some(error) => Err(fault_of(&error, &options.name)),
        None => Ok(code(&found)),
    }
}

fn open(trace: &str) -> Result<(Box<dyn Read>, String), Fault> {
    if trace == "-" {
        return Ok((Box::new(io::stdin().lock()), "standard input".to_owned()));
    }
    let file = File::open(trace).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        Fault::new(format!("`{trace}` cannot be read: {reason}"))
    })?;
    Ok((Box::new(file), trace.to_owned()))
}

fn code(found: &Monitored) -> u8 {
    match (&found.gap, found.is_violated()) {
        (_, true) => exit::VIOLATED,
        (Some(Gap::Window | Gap::Limit(_) | Gap::Interrupted | Gap::BadInput), false) => exit::INCOMPLETE,
        (None, false) if found.accesses == 0 => exit::NOTHING_TO_CHECK,
        (None, false) => exit::HOLDS,
    }
}

fn fault_of(error: &TraceError, name: &str) -> Fault {
    match error {
        TraceError::Line { line, what, help } => {
            let fault = Fault::new(format!("{name}:{line}: {what}"));
            help.map_or(fault.clone(), |help| fault.help(help))
        }
        TraceError::Unreadable(error) => Fault::new(format!("`{name}` cannot be read: {error}")),
    }
}
