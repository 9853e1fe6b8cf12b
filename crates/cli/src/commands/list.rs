//! `teetotal list`: shows the tables.

use clap::{Args, ValueEnum};
use teetotal::{MODELS, MONITORS, SEARCHES, exit, gallery};

use crate::fault::Fault;
use crate::limits::LIMITS;
use crate::output::Output;
use crate::table::align;

/// What to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Which table
    #[arg(value_name = "WHAT")]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Programs that can be checked
    Programs,
    /// Memory models
    Models,
    /// What is looked for, and which searches can find it
    Checks,
    /// Ways to choose executions
    Searches,
    /// Limits on a search
    Limits,
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
    };
    out.write(&align(&rows, 0))?;
    Ok(exit::HOLDS)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// What each check needs, and whether each search preserves it.
fn checks() -> Vec<Vec<String>> {
    let mut header = vec!["check", "needs"];
    header.extend(SEARCHES.iter().map(|search| search.name));
    header.push("demands that");
    let mut rows = vec![row(&header)];
    for check in MONITORS {
        let mut cells = vec![check.name, check.needs.name()];
        cells.extend(SEARCHES.iter().map(|search| if search.fits(check) { "fits" } else { "-" }));
        cells.push(check.summary);
        rows.push(row(&cells));
    }
    rows
}

fn searches() -> Vec<Vec<String>> {
    SEARCHES
        .iter()
        .flat_map(|info| {
            let preserves = format!("preserves: {}", info.preserves.level.name());
            [row(&[info.name, info.summary]), row(&["", &preserves])]
        })
        .collect()
}

fn limits() -> Vec<Vec<String>> {
    let mut rows = vec![row(&["limit", "unit", "default", "searches", "on"])];
    for info in LIMITS {
        let default = info.default().map_or_else(|| "none".to_owned(), |value| value.to_string());
        let searches: Vec<&str> = info.searches.iter().map(|search| search.info().name).collect();
        rows.push(row(&[info.name, info.unit, &default, &searches.join(", "), info.summary]));
    }
    rows
}
