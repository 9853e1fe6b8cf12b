//! `teetotal inspect`: prints a program as it is checked.

use clap::Args;
use teetotal::exit;

use crate::fault::Fault;
use crate::output::Output;
use crate::program;
use crate::reading::ReadingArgs;

/// What to print.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct InspectArgs {
    /// A litmus file, a Promela file or a bundled program
    #[arg(value_name = "PROGRAM")]
    program: String,

    #[command(flatten)]
    reading: ReadingArgs,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal inspect SB
  teetotal inspect tests/SB.litmus";

pub(crate) fn run(args: &InspectArgs, out: &mut Output) -> Result<u8, Fault> {
    out.write(&program::load(&args.program, &args.reading.settings())?.program.to_string())?;
    Ok(exit::HOLDS)
}
