//! `teetotal demo`: which surprising outcomes appear under which model, and one of them step by step.

use std::sync::Arc;

use clap::Args;
use teetotal::parts::frontends::Settings;
use teetotal::{BUFFER_MODELS, Drawing, ModelId, Options, Program, Timeline, exit};

use crate::fault::Fault;
use crate::output::Output;
use crate::program;
use crate::screen::Screen;

/// Options of `teetotal demo`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    screen: Screen,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal demo
  teetotal demo --ascii --color never";

/// The programs, and the question of each.
const PROGRAMS: [(&str, &str); 4] = [
    ("SB", "Two threads each store, then read the other's location. Can both read 0?"),
    ("MP", "One thread stores data, then a flag. Can the flag be seen first?"),
    ("n6", "A thread reads its own store. Can that store still be the last to arrive?"),
    ("2+2W", "Two threads store x and y in opposite orders. Can both first stores win?"),
];

/// The program and the model of the execution that is shown.
const SHOWN: (&str, ModelId) = ("SB", ModelId::Tso);

pub(crate) fn run(args: &DemoArgs, out: &mut Output) -> Result<u8, Fault> {
    let drawing = args.screen.drawing();
    out.write("Four small programs under three memory models: is the outcome in question\n")?;
    out.write("observed or never, and how many final states are there?\n\n")?;
    out.write(&header())?;
    for (name, question) in PROGRAMS {
        let program = program::load(name, &Settings::default())?.program;
        let cells: Vec<String> =
            BUFFER_MODELS.iter().map(|model| cell(&program, model.id)).collect::<Result<_, _>>()?;
        out.write(&line(name, &cells))?;
        out.write(&format!("      {question}\n"))?;
    }
    out.write(&example(drawing)?)?;
    Ok(exit::HOLDS)
}

fn header() -> String {
    let names: Vec<String> = BUFFER_MODELS.iter().map(|model| model.name.to_owned()).collect();
    line("", &names)
}

fn line(name: &str, cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:<16}")).collect();
    format!("{}\n", format!("{name:<6}{cells}").trim_end())
}

fn cell(program: &Arc<Program>, model: ModelId) -> Result<String, Fault> {
    let outcome = check(program, model)?;
    let answer = if outcome.satisfying.is_some() { "observed" } else { "never" };
    Ok(format!("{answer} ({})", outcome.states.len()))
}

fn check(program: &Arc<Program>, model: ModelId) -> Result<teetotal::Outcome, Fault> {
    teetotal::check(program, &Options::new(model)).map_err(|error| Fault::new(error.to_string()))
}

/// Shows one of the outcomes step by step, and what to try next.
fn example(drawing: Drawing) -> Result<String, Fault> {
    let (name, model) = SHOWN;
    let program = program::load(name, &Settings::default())?.program;
    let outcome = check(&program, model)?;
    let Some(witness) = &outcome.satisfying else {
        return Err(Fault::new(format!("{name} shows nothing under {}; this is a bug in teetotal", model.info().name)));
    };
    let timeline = Timeline { program: &program, trace: &witness.trace, model, outcome: Some(&witness.values) };
    let title = model.info().name;
    Ok(format!(
        "\nHow both threads of {name} read 0 under {title}:\n\n{}\n\
         Try next: teetotal compare {name} MP --witness\n          \
         teetotal check peterson-loop\n          \
         teetotal explain tso\n",
        timeline.render(drawing)
    ))
}
