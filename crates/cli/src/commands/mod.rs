//! The commands, one per file.

mod check;
mod compare;
mod demo;
mod explain;
mod generate;
mod inspect;
mod list;
mod monitor;
mod replay;

pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use generate::GenerateArgs;
pub(crate) use inspect::InspectArgs;
pub(crate) use list::ListArgs;
pub(crate) use monitor::MonitorArgs;
pub(crate) use replay::ReplayArgs;

use crate::args::Command;
use crate::fault::Fault;
use crate::output::Output;

/// Runs a command and returns its exit code.
pub(crate) fn run(command: Command, out: &mut Output) -> Result<u8, Fault> {
    match command {
        Command::Demo(args) => demo::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Compare(args) => compare::run(&args, out),
        Command::Replay(args) => replay::run(&args, out),
        Command::Monitor(args) => monitor::run(&args, out),
        Command::Explain(args) => explain::run(&args, out),
        Command::List(args) => list::run(&args, out),
        Command::Inspect(args) => inspect::run(&args, out),
        Command::Generate(args) => generate::run(&args, out),
    }
}
