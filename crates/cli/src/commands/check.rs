//! `teetotal check`: searches the executions of programs.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use teetotal::{
    CheckError, Detail, Drawing, ModelId, MonitorId, Options, Outcome, Program, Report, SearchId, StopSignal, Tally,
    exit,
};

use crate::batch;
use crate::checkpoint::Keeper;
use crate::effort::Effort;
use crate::estimate;
use crate::fault::Fault;
use crate::interrupt;
use crate::limits::AllLimits;
use crate::output::{self, Output};
use crate::program;
use crate::program::Loaded;
use crate::reading::ReadingArgs;
use crate::record::{NotRecorded, RecordFormat, Recorder};
use crate::screen::Screen;
use crate::table::align;
use crate::values::{self, Checks, Models};
use crate::watch::Watch;

/// What to check and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    /// Litmus or Promela files, folders of them, @LIST with one path per line, or bundled programs
    #[arg(value_name = "PATH|PROGRAM", required = true)]
    programs: Vec<String>,

    #[arg(short, long, value_name = "MODEL", default_value = "tso", value_parser = values::models)]
    #[arg(env = "TEETOTAL_MODEL", hide_env = true, help = values::models_help())]
    model: Models,

    #[arg(long, value_name = "LIST", value_parser = values::checks, env = "TEETOTAL_CHECK", hide_env = true)]
    #[arg(help = values::checks_help())]
    check: Option<Checks>,

    #[command(flatten)]
    effort: Effort,

    /// Output: human, herd (as herd7 prints it), json (one line
    /// each) or dot (a graph of the execution)
    #[arg(short, long, value_name = "KIND", default_value = "human", env = "TEETOTAL_FORMAT", hide_env = true)]
    #[arg(hide_possible_values = true)]
    format: Format,

    /// Continue after the first violation and list them all
    #[arg(short, long, env = "TEETOTAL_ALL", hide_env = true, value_parser = values::flag())]
    all: bool,

    /// Show an execution that reaches the state asked for
    #[arg(short, long, env = "TEETOTAL_WITNESS", hide_env = true, value_parser = values::flag())]
    witness: bool,

    /// If a program is not robust, search for a violation of another check
    #[arg(long, env = "TEETOTAL_CONFIRM", hide_env = true, value_parser = values::flag())]
    confirm: bool,

    /// Print only the verdict line
    #[arg(short, long, conflicts_with = "witness", env = "TEETOTAL_QUIET", hide_env = true, value_parser = values::flag())]
    quiet: bool,

    /// Print statistics of the search, and its time
    #[arg(short, long, env = "TEETOTAL_STATS", hide_env = true, value_parser = values::flag())]
    stats: bool,

    /// Save a search by dpor in a file, and resume it if the file exists
    #[arg(long, value_name = "FILE", env = "TEETOTAL_CHECKPOINT", hide_env = true)]
    checkpoint: Option<String>,

    /// Write the explored sc executions to a file or a folder
    #[arg(long, value_name = "PATH", env = "TEETOTAL_RECORD", hide_env = true)]
    record: Option<String>,

    /// Format of --record: teetotal, or std (`thread|operation(location)|place`)
    #[arg(long, value_name = "KIND", default_value = "teetotal", env = "TEETOTAL_RECORD_FORMAT", hide_env = true)]
    #[arg(hide_possible_values = true)]
    record_format: RecordFormat,

    /// First estimate how many executions dpor will run
    #[arg(long, env = "TEETOTAL_ESTIMATE", hide_env = true, value_parser = values::flag())]
    estimate: bool,

    #[command(flatten)]
    reading: ReadingArgs,

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
    /// One object per line
    Json,
    /// A graph for Graphviz
    Dot,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal check SB --model all
  teetotal check tests/ --model tso --format herd
  teetotal check SB MP --model tso,pso --witness
  teetotal check dekker-loop --limit states=100000 --limit time=60
  teetotal check chase-lev --search bounded --limit preemptions=1
  teetotal check chase-lev --search pct --seed 7 --limit executions=1000";

pub(crate) fn run(args: &CheckArgs, out: &mut Output) -> Result<u8, Fault> {
    if !asks_for_robustness(args) {
        // The search does not depend on the program, so a limit that does not fit is reported first.
        args.effort.limits()?;
    }
    let keeper = keeper(args)?;
    let recorder = recorder(args)?;
    let drawing = args.screen.drawing();
    let mut last: Option<bool> = None;
    let settings = args.reading.settings();
    batch::each(&args.programs, &settings, out, |Loaded { program, notice }, out| {
        if let Some(notice) = notice.as_ref().filter(|_| !args.quiet) {
            out.flush()?;
            output::note(notice);
        }
        let mut codes = Vec::new();
        for model in args.model.of(program) {
            // The interrupted search has reported it; those that follow print nothing.
            if interrupt::is_requested() && !codes.is_empty() {
                break;
            }
            let (options, limits) = options(args, program, model)?;
            let Answer { text, notes, code } = match check(program, &options, &limits, args, drawing, keeper.as_ref()) {
                Ok(answer) => answer,
                Err(error) if args.model.leaves_out(model, &error) => continue,
                Err(error @ CheckError::Unfit { .. }) => return Err(batch::fault_of(&error)),
                Err(error) => {
                    codes.push(batch::tell(&batch::fault_of(&error), out)?);
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
            codes.push(args.effort.code(code));
            if let Some(recorder) = &recorder {
                codes.extend(recorded(recorder, program, &options, &limits, args.quiet, out)?);
            }
        }
        Ok(codes)
    })
}

/// Returns the checkpoint file, if one was requested.
fn keeper(args: &CheckArgs) -> Result<Option<Keeper>, Fault> {
    let Some(path) = &args.checkpoint else { return Ok(None) };
    if program::targets(&args.programs)?.len() != 1 || args.model.ids.len() != 1 {
        return Err(Fault::new("a checkpoint is of one program under one model").help("name one of each"));
    }
    Keeper::open(path).map(Some)
}

/// Returns where executions are recorded, if that was requested.
fn recorder(args: &CheckArgs) -> Result<Option<Recorder>, Fault> {
    let Some(path) = &args.record else { return Ok(None) };
    if !asks_for_robustness(args) && args.model.ids != [ModelId::STRONGEST] {
        return Err(Fault::new("only executions of sc can be recorded, and others are explored")
            .help("use `--check robustness` or `--model sc`"));
    }
    if args.model.ids.len() != 1 {
        return Err(Fault::new("executions are recorded for one model").help("name one of them"));
    }
    Recorder::new(path, args.record_format, program::targets(&args.programs)?.len()).map(Some)
}

/// Records the executions of `program`; returns the exit code if that failed.
fn recorded(
    recorder: &Recorder,
    program: &Arc<Program>,
    options: &Options,
    limits: &AllLimits,
    quiet: bool,
    out: &mut Output,
) -> Result<Option<u8>, Fault> {
    let watch = Watch::new(format!("{}, recorded", program.name), limits.time, quiet);
    let result = recorder.record(program, &options.limits, &watch);
    drop(watch);
    match result {
        Ok(note) => {
            if !quiet {
                output::note(&note);
            }
            Ok(None)
        }
        Err(NotRecorded::Refused(error)) => batch::tell(&batch::fault_of(&error), out).map(Some),
        Err(NotRecorded::Unwritable(fault)) => Err(fault),
    }
}

fn asks_for_robustness(args: &CheckArgs) -> bool {
    args.check.as_ref().is_some_and(|checks| checks.0.iter().any(|id| id.is_about_robustness()))
}

fn options(args: &CheckArgs, program: &Program, model: ModelId) -> Result<(Options, AllLimits), Fault> {
    let checks = args.check.as_ref().map_or_else(MonitorId::defaults, |checks| checks.0.clone());
    let (mut options, limits) = args.effort.options_for(program, &checks, model)?;
    // The output of herd7 shows no execution.
    options.minimize = args.format != Format::Herd;
    // Formats that list final states list all of them if the program asks about them, and robustness lists every pair
    // of places.
    let lists_states = matches!(args.format, Format::Herd | Format::Json) && program.condition.is_some();
    let shows_one = !lists_states && !options.question().is_robustness();
    options.stop_at_first = !args.all && shows_one;
    Ok((options, limits))
}

/// The result of one program under one model.
struct Answer {
    text: String,
    /// The text for standard error.
    notes: Vec<String>,
    code: u8,
}

fn check(
    program: &Arc<Program>,
    options: &Options,
    limits: &AllLimits,
    args: &CheckArgs,
    drawing: Drawing,
    keeper: Option<&Keeper>,
) -> Result<Answer, CheckError> {
    if args.estimate {
        output::note(&estimate::estimate(program, options)?);
    }
    let what = format!("{} under {}", program.name, options.model.info().name);
    let watch = Watch::new(what, limits.time, args.quiet);
    let outcome = match keeper {
        Some(keeper) => keeper.check(program, options, &watch)?,
        None => teetotal::check_until(program, options, &watch)?,
    };
    let confirmed = if args.confirm { confirm(program, options, &outcome, &watch)? } else { None };
    let seconds = watch.seconds();
    drop(watch);
    let report = Report { program, options, outcome: &outcome };
    let (text, notes) = match args.format {
        Format::Human => {
            let mut text = human(&report, args, drawing, seconds);
            text.extend(confirmed.map(|line| format!("\n{line}\n")));
            (text, Vec::new())
        }
        Format::Herd => {
            let seconds = if args.stats { seconds } else { 0.0 };
            (report.herd(Tally::of(program, &outcome), seconds), report.beside_herd())
        }
        Format::Json => (report.json(Tally::of(program, &outcome)), Vec::new()),
        Format::Dot => (report.dot(), Vec::new()),
    };
    Ok(Answer { text, notes, code: exit::code(report.verdict(), &outcome.coverage) })
}

/// Searches for an execution of a program that is not robust and violates another check.
fn confirm(
    program: &Arc<Program>,
    options: &Options,
    outcome: &Outcome,
    signal: StopSignal<'_>,
) -> Result<Option<String>, CheckError> {
    if !outcome.violations.iter().any(|violation| violation.monitor.is_about_robustness()) {
        return Ok(None);
    }
    let others: Vec<MonitorId> = options.monitors.iter().copied().filter(|id| !id.is_about_robustness()).collect();
    let monitors = if others.is_empty() { MonitorId::defaults() } else { others };
    let options = Options { search: SearchId::Auto, monitors, stop_at_first: true, ..options.clone() };
    let outcome = teetotal::check_until(program, &options, signal)?;
    Ok(Some(Report { program, options: &options, outcome: &outcome }.confirmation()))
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
