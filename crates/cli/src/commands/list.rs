//! `teetotal list`: shows the tables.

use clap::{Args, ValueEnum};
use teetotal::parts::frontends::FRONTENDS;
use teetotal::{Extent, MODELS, MONITORS, MonitorInfo, Preserves, SEARCHES, SearchInfo, Takes, exit, gallery};

use crate::fault::Fault;
use crate::limits::LIMITS;
use crate::output::Output;
use crate::table::align;

/// What to list.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListArgs {
    /// Which table
    #[arg(value_name = "WHAT")]
    what: What,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal list programs
  teetotal list checks";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Programs that can be checked
    Programs,
    /// Memory models
    Models,
    /// Checks, and which searches can answer them
    Checks,
    /// Searches, and what they take
    Searches,
    /// Limits on a search
    Limits,
    /// Supported kinds of files
    Frontends,
}

pub(crate) fn run(args: &ListArgs, out: &mut Output) -> Result<u8, Fault> {
    let rows = match args.what {
        What::Programs => gallery::PROGRAMS.iter().map(|entry| row(&[entry.name, entry.summary])).collect(),
        What::Models => {
            MODELS.iter().flat_map(|info| [row(&[info.name, info.title]), row(&["", info.summary])]).collect()
        }
        What::Checks => checks(),
        What::Searches => searches(),
        What::Limits => limits(),
        What::Frontends => FRONTENDS
            .iter()
            .map(|frontend| row(&[frontend.name, &format!(".{}", frontend.ending), frontend.summary]))
            .collect(),
    };
    out.write(&align(&rows, 0))?;
    if matches!(args.what, What::Checks) {
        out.write(LEGEND)?;
        out.write("\n")?;
        out.write(&align(&demands(), 0))?;
    }
    Ok(exit::HOLDS)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// Returns what each check requires of a search, and how far each search answers it.
fn checks() -> Vec<Vec<String>> {
    let mut header = vec!["check", "needs"];
    header.extend(SearchInfo::of_programs().map(|search| search.name));
    let mut rows = vec![row(&header)];
    for check in MONITORS {
        let mut cells = vec![check.name, check.needs.name()];
        cells.extend(SearchInfo::of_programs().map(|search| fit(search, check)));
        rows.push(row(&cells));
    }
    rows
}

/// Returns how far a search answers a check.
fn fit(search: &SearchInfo, check: &MonitorInfo) -> &'static str {
    match search.preserves.extent {
        _ if !search.fits(check) => "-",
        Extent::All => "all",
        Extent::WithinBound => "bound",
        Extent::Sampled => "sample",
    }
}

/// Returns what each check requires of a program.
fn demands() -> Vec<Vec<String>> {
    let mut rows = vec![row(&["check", "requires that"])];
    rows.extend(MONITORS.iter().map(|check| row(&[check.name, check.summary])));
    rows
}

/// The rows of the table of checks.
const LEGEND: &str = "
all     every execution is covered; the answer is certain unless a limit is reached
bound   every execution within a bound is covered
sample  some executions are covered; finding nothing is no answer
-       the search distinguishes too few executions, and is refused
";

fn searches() -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for info in SEARCHES {
        let Preserves { level, extent } = info.preserves;
        let takes = match (info.programs, info.rust) {
            (Takes::Yes, Takes::Yes) => "programs and Rust code",
            (Takes::Yes, Takes::No(_)) => "programs",
            (Takes::No(_), Takes::Yes) => "Rust code",
            // Selected by a token only.
            (Takes::No(_), Takes::No(_)) => continue,
        };
        rows.push(row(&[info.name, info.summary]));
        rows.push(row(&["", &format!("preserves: {}, {}", level.name(), extent.name())]));
        rows.push(row(&["", &format!("takes: {takes}")]));
    }
    rows
}

fn limits() -> Vec<Vec<String>> {
    let mut rows = vec![row(&["limit", "default", "unit", "of (searches that apply it)"])];
    for info in LIMITS {
        let default = info.default().map_or_else(|| "none".to_owned(), |value| value.to_string());
        let searches: Vec<&str> =
            SearchInfo::of_programs().filter(|search| info.is_heeded_by(search)).map(|search| search.name).collect();
        let searches =
            if searches.len() == SearchInfo::of_programs().count() { "all".to_owned() } else { searches.join(", ") };
        rows.push(row(&[info.name, &default, info.unit, &format!("{} ({searches})", info.summary)]));
    }
    rows
}
