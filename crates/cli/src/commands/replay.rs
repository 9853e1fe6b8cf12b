//! `teetotal replay`: replays one execution.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use teetotal::{Token, TokenError, exit};

use crate::fault::Fault;
use crate::output::Output;
use crate::program;
use crate::reading::ReadingArgs;
use crate::screen::Screen;

/// Which execution to show.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReplayArgs {
    /// The file or the bundled program that the token was made from
    #[arg(value_name = "PROGRAM")]
    program: String,

    /// The token, as `check` printed it
    #[arg(value_name = "TOKEN", required_unless_present = "token_file", conflicts_with = "token_file")]
    token: Option<String>,

    /// Read the token from a file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Output: human or dot (a graph for Graphviz)
    #[arg(short, long, value_name = "KIND", default_value = "human", hide_possible_values = true)]
    format: Format,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    screen: Screen,
}

/// How an execution is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// A graph for Graphviz
    Dot,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal replay SB tso1:6:45f799f4:0.1.0.1w.1.0w
  teetotal replay SB tso1:6:45f799f4:0.1.0.1w.1.0w --format dot | dot -Tsvg
  teetotal replay tests/SB.litmus --token-file token.txt";

/// The maximum size of a token file.
const MAX_BYTES: u64 = 1 << 28;

pub(crate) fn run(args: &ReplayArgs, out: &mut Output) -> Result<u8, Fault> {
    let program = program::load(&args.program, &args.reading.settings())?.program;
    let text = match (&args.token, &args.token_file) {
        (Some(token), _) => token.clone(),
        (None, Some(path)) => read(path)?,
        (None, None) => String::new(),
    };
    let fault = |error: TokenError| Fault::new(error.to_string()).help(help(&error, &args.program));
    let token: Token = text.parse().map_err(fault)?;
    let again = teetotal::replay(&program, &token).map_err(fault)?;
    out.write(&match args.format {
        Format::Human => teetotal::replayed(&program, &again, args.screen.drawing()),
        Format::Dot => {
            let model = again.token.model.info().name;
            let title = format!("{} under {model}\n{}", program.name, program.show_outcome(&again.values));
            teetotal::dot(&program, &again.trace, &title)
        }
    })?;
    Ok(if again.findings.is_empty() { exit::HOLDS } else { exit::VIOLATED })
}

fn read(path: &Path) -> Result<String, Fault> {
    let cannot =
        |error: std::io::Error| Fault::new(format!("the token file `{}` cannot be read: {error}", path.display()));
    let size = fs::metadata(path).map_err(cannot)?.len();
    if size > MAX_BYTES {
        return Err(Fault::new(format!("`{}` has {size} bytes, more than a token has", path.display())));
    }
    fs::read_to_string(path).map_err(cannot)
}

fn help(error: &TokenError, program: &str) -> String {
    match error {
        TokenError::Shape { .. }
        | TokenError::Step { .. }
        | TokenError::Truncated { .. }
        | TokenError::TooLong { .. } => "copy the whole token from the `replay:` line of a check".to_owned(),
        TokenError::Version { .. } => "replay it with the version of teetotal that made it, or check again".to_owned(),
        TokenError::Model { .. } => "`teetotal list models` shows the models".to_owned(),
        TokenError::NotPossible { .. } | TokenError::OtherProgram => {
            format!("`teetotal check {program}` makes a token of the program as it is now")
        }
    }
}
