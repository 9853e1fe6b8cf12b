//! `teetotal inspect`: prints a program as it is checked.

use clap::Args;
use teetotal::exit;

use crate::fault::Fault;
use crate::output::Output;
use crate::program;

/// What to print.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct InspectArgs {
    /// A litmus file or a bundled program
    #[arg(value_name = "PROGRAM")]
    program: String,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal inspect SB
  teetotal inspect tests/SB.litmus";

pub(crate) fn run(args: &InspectArgs, out: &mut Output) -> Result<u8, Fault> {
    out.write(&program::load(&args.program)?.to_string())?;
    Ok(exit::HOLDS)
}
