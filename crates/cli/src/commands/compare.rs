//! `teetotal compare`: models side by side.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use teetotal::{CheckError, Detail, Options, Outcome, Program, Report, SideBySide, exit};

use crate::batch;
use crate::effort::Effort;
use crate::fault::Fault;
use crate::limits::AllLimits;
use crate::output::Output;
use crate::reading::ReadingArgs;
use crate::screen::Screen;
use crate::values::{self, Models};
use crate::watch::Watch;

/// What to compare and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareArgs {
    /// Litmus or Promela files, folders of them, @LIST with one path per line, or bundled programs
    #[arg(value_name = "PATH|PROGRAM", required = true)]
    programs: Vec<String>,

    /// Models to compare: a list such as tso,pso
    #[arg(short, long, value_name = "MODEL", default_value = "all", value_parser = values::models)]
    model: Models,

    #[command(flatten)]
    effort: Effort,

    /// Output: human or json (one line each)
    #[arg(short, long, value_name = "KIND", default_value = "human", hide_possible_values = true)]
    format: Format,

    /// Show the execution behind each state that a weaker model adds
    #[arg(short, long)]
    witness: bool,

    /// Print only the first line
    #[arg(short, long, conflicts_with = "witness")]
    quiet: bool,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    screen: Screen,
}

/// How a comparison is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One object per line
    Json,
}

const AFTER_HELP: &str = "\
A state marked with * is the one that the program asks for, or one that violates
its condition. One execution explains each state that a model adds.

Exit codes: 0 if the searches were complete, 2 for an error, 3 if a search was
stopped, 4 if there is nothing to check. No state counts as a violation.

Examples:
  teetotal compare SB
  teetotal compare MP n6 --model tso,pso --witness
  teetotal compare tests/ --quiet
  teetotal compare @tests/list --format json";

pub(crate) fn run(args: &CompareArgs, out: &mut Output) -> Result<u8, Fault> {
    let limits = args.effort.limits()?;
    let mut is_first = true;
    let settings = args.reading.settings();
    batch::each(&args.programs, &settings, out, |loaded, out| match compare(&loaded.program, &limits, args) {
        Ok((text, code)) => {
            let apart = args.format == Format::Human && !args.quiet && !is_first;
            is_first = false;
            out.write(if apart { "\n" } else { "" })?;
            out.write(&text)?;
            out.flush()?;
            Ok(vec![code])
        }
        Err(error) => Ok(vec![batch::tell(&batch::fault_of(&error), out)?]),
    })
}

fn compare(program: &Arc<Program>, limits: &AllLimits, args: &CompareArgs) -> Result<(String, u8), CheckError> {
    let mut found: Vec<(Options, Outcome)> = Vec::new();
    for model in args.model.of(program) {
        let options = args.effort.options(model, limits);
        let what = format!("{} under {}", program.name, model.info().name);
        match teetotal::check_until(program, &options, &Watch::new(what, limits.time, args.quiet)) {
            Err(error) if args.model.leaves_out(model, &error) => {}
            outcome => found.push((options, outcome?)),
        }
    }
    let reports: Vec<Report<'_>> =
        found.iter().map(|(options, outcome)| Report { program, options, outcome }).collect();
    let comparison = SideBySide { program, reports: &reports };
    comparison.confirm()?;
    let detail = match (args.quiet, args.witness) {
        (true, _) => Detail::Verdict,
        (_, true) => Detail::Witness,
        _ => Detail::Brief,
    };
    let text = match args.format {
        Format::Human => comparison.render(detail, args.screen.drawing()),
        Format::Json => comparison.json(),
    };
    let nothing = found.iter().all(|(_, outcome)| outcome.is_vacuous());
    let code = match comparison.is_complete() {
        true if nothing => exit::NOTHING_TO_CHECK,
        true => exit::HOLDS,
        false => exit::INCOMPLETE,
    };
    Ok((text, args.effort.code(code)))
}
