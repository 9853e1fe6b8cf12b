//! `teetotal explain`: a page on one topic.

use clap::Args;
use teetotal::exit;
use teetotal::parts::frontends::suggest::nearest;

use crate::fault::Fault;
use crate::output::Output;
use crate::pages::{self, Kind};
use crate::table::align;

/// What to explain.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExplainArgs {
    /// A model, a check, a search, a stop reason or more; without one, list all
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal explain
  teetotal explain tso
  teetotal explain exit-codes";

pub(crate) fn run(args: &ExplainArgs, out: &mut Output) -> Result<u8, Fault> {
    match &args.topic {
        None => out.write(&topics())?,
        Some(topic) => out.write(page(topic)?)?,
    }
    Ok(exit::HOLDS)
}

/// Returns the topics with their summaries, under headings.
fn topics() -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last: Option<Kind> = None;
    for page in pages::current() {
        if last != Some(page.kind) {
            rows.extend(last.map(|_| vec![String::new()]));
            rows.push(vec![page.kind.title().to_owned()]);
            last = Some(page.kind);
        }
        rows.push(vec![format!("  {}", page.name), page.summary().to_owned()]);
    }
    align(&rows, 0)
}

fn page(topic: &str) -> Result<&'static str, Fault> {
    let wanted = topic.to_lowercase();
    let found = pages::current().find(|page| page.name == wanted);
    found.map(|page| page.text).ok_or_else(|| {
        let list = "`teetotal explain` lists the topics";
        let fault = Fault::new(format!("there is no page on `{topic}`"));
        match nearest(topic, pages::current().map(|page| page.name)) {
            Some(name) => fault.help(format!("did you mean `{name}`?")).help(list),
            None => fault.help(list),
        }
    })
}
