//! `teetotal check`: searches the executions of programs.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use teetotal::{
    CheckError, Detail, Drawing, MONITORS, ModelId, Options, Program, Report, SEARCHES, SearchId, StopReason, Tally,
    exit,
};

use crate::fault::Fault;
use crate::limits::{self, AllLimits, Limit};
use crate::output::{self, Output};
use crate::program;
use crate::screen::Screen;
use crate::table::align;
use crate::values::{self, Checks, Models};

/// What to check and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    /// Litmus files, folders of them, @LIST with a path a line, or bundled programs
    #[arg(value_name = "PATH|PROGRAM", required = true)]
    programs: Vec<String>,

    /// Models: sc, tso, pso, a list, or all
    #[arg(short, long, value_name = "MODEL", default_value = "tso", value_parser = values::models)]
    #[arg(env = "TEETOTAL_MODEL", hide_env = true)]
    model: Models,

    /// Checks: assertion, condition, deadlock, or a list [default: all]
    #[arg(long, value_name = "LIST", value_parser = values::checks, env = "TEETOTAL_CHECK", hide_env = true)]
    check: Option<Checks>,

    /// Search: stateful, brute or symbolic [default: stateful]
    #[arg(long, value_name = "KIND", value_parser = values::search, env = "TEETOTAL_SEARCH", hide_env = true)]
    search: Option<SearchId>,

    /// Stop early; the result is then marked incomplete
    #[arg(short, long, value_name = "WHAT=N", value_parser = limits::limit, value_delimiter = ',')]
    #[arg(env = "TEETOTAL_LIMIT", hide_env = true)]
    limit: Vec<Limit>,

    /// Output: human, herd (as herd7 prints it) or json (a line each)
    #[arg(short, long, value_name = "KIND", default_value = "human", env = "TEETOTAL_FORMAT", hide_env = true)]
    #[arg(hide_possible_values = true)]
    format: Format,

    /// Cores to use; the result is the same [default: all]
    #[arg(short, long, value_name = "N", value_parser = values::jobs, env = "TEETOTAL_JOBS", hide_env = true)]
    jobs: Option<usize>,

    /// Go on after the first violation and list them all
    #[arg(short, long, env = "TEETOTAL_ALL", hide_env = true, value_parser = values::flag())]
    all: bool,

    /// Show an execution that the program asks for
    #[arg(short, long, env = "TEETOTAL_WITNESS", hide_env = true, value_parser = values::flag())]
    witness: bool,

    /// Print the verdict line alone
    #[arg(short, long, conflicts_with = "witness", env = "TEETOTAL_QUIET", hide_env = true, value_parser = values::flag())]
    quiet: bool,

    /// Print what the search did and how long it took
    #[arg(short, long, env = "TEETOTAL_STATS", hide_env = true, value_parser = values::flag())]
    stats: bool,

    /// Exit with 0 instead of 3 where a limit was met
    #[arg(long, env = "TEETOTAL_ALLOW_INCOMPLETE", hide_env = true, value_parser = values::flag())]
    allow_incomplete: bool,

    #[command(flatten)]
    screen: Screen,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// The block that herd7 prints
    Herd,
    /// One object a line
    Json,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal check SB --model all
  teetotal check tests/ --model tso --format herd
  teetotal check SB MP --model tso,pso --witness
  teetotal check dekker-loop --limit states=100000 --limit time=60";

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> Result<u8, Fault> {
    let targets = program::targets(&args.programs)?;
    let search = args.search.unwrap_or(SEARCHES[0].id);
    let limits = limits::gather(&args.limit, search)?;
    let drawing = args.screen.drawing();
    let mut codes = Vec::new();
    let mut last: Option<bool> = None;
    for target in targets {
        let program = match target.load() {
            Ok(program) => program,
            Err(fault) => {
                codes.push(tell(&fault, out)?);
                continue;
            }
        };
        for &model in &args.model.0 {
            let options = options(args, model, search, &limits);
            let Answer { text, notes, code } = match check(&program, &options, limits.time, args, drawing) {
                Ok(answer) => answer,
                Err(error @ CheckError::Unfit { .. }) => return Err(fault_of(&error)),
                Err(error) => {
                    codes.push(tell(&fault_of(&error), out)?);
                    continue;
                }
            };
            let is_long = args.format == Format::Human && text.contains("\n\n");
            if last.is_some_and(|was_long| is_long || was_long) {
                out.write("\n")?;
            }
            last = Some(is_long);
            out.write(&text)?;
            out.flush()?;
            notes.iter().for_each(|note| output::note(note));
            codes.push(if code == exit::INCOMPLETE && args.allow_incomplete { exit::HOLDS } else { code });
        }
    }
    Ok(exit::worst(codes))
}

/// Tells of a mistake after what was written before it, and gives the exit code for it.
fn tell(fault: &Fault, out: &mut Output) -> Result<u8, Fault> {
    out.flush()?;
    output::tell(fault);
    Ok(fault.code())
}

fn options(args: &CheckArgs, model: ModelId, search: SearchId, limits: &AllLimits) -> Options {
    let everything = || MONITORS.iter().map(|info| info.id).collect();
    Options {
        model,
        search,
        monitors: args.check.as_ref().map_or_else(everything, |checks| checks.0.clone()),
        limits: limits.limits,
        jobs: args.jobs.unwrap_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get)),
        // The other formats show every final state.
        stop_at_first: !args.all && args.format == Format::Human,
    }
}

/// What came of one program under one model.
struct Answer {
    text: String,
    /// For the standard error stream.
    notes: Vec<String>,
    code: u8,
}

fn check(
    program: &Arc<Program>,
    options: &Options,
    time: Option<Duration>,
    args: &CheckArgs,
    drawing: Drawing,
) -> Result<Answer, CheckError> {
    let begin = Instant::now();
    let signal = || time.filter(|&time| begin.elapsed() >= time).map(|_| StopReason::Time);
    let outcome = teetotal::check_until(program, options, &signal)?;
    let seconds = begin.elapsed().as_secs_f64();
    let report = Report { program, options, outcome: &outcome };
    let (text, notes) = match args.format {
        Format::Human => (human(&report, args, drawing, seconds), Vec::new()),
        Format::Herd => {
            let seconds = if args.stats { seconds } else { 0.0 };
            (report.herd(Tally::of(program, &outcome), seconds), report.beside_herd())
        }
        Format::Json => (report.json(Tally::of(program, &outcome)), Vec::new()),
    };
    Ok(Answer { text, notes, code: exit::code(report.verdict(), &outcome.coverage) })
}

fn human(report: &Report<'_>, args: &CheckArgs, drawing: Drawing, seconds: f64) -> String {
    let detail = match (args.quiet, args.witness) {
        (true, _) => Detail::Verdict,
        (_, true) => Detail::Witness,
        _ => Detail::Brief,
    };
    let mut text = report.render(detail, drawing);
    if args.stats {
        let mut rows: Vec<Vec<String>> =
            report.stats().into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        rows.push(vec!["time".to_owned(), format!("{seconds:.3} s")]);
        text.push_str(&align(&rows, 2));
    }
    text
}

fn fault_of(error: &CheckError) -> Fault {
    let text = error.to_string();
    match error {
        CheckError::NothingToCheck { .. } => Fault::NothingToCheck(text),
        CheckError::Unfit { .. } => Fault::new(text).help("`teetotal list checks` shows what fits"),
        CheckError::Limit(_) | CheckError::NoJobs | CheckError::Disagreement { .. } => Fault::new(text),
    }
}
