//! `teetotal generate`: man pages and completions, from the one definition of the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use teetotal::exit;

use crate::args;
use crate::fault::Fault;
use crate::output::Output;

/// What to write.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write the man pages, one for each command
    Man {
        #[command(flatten)]
        to: Destination,
    },
    /// Write completions for a shell
    Completions {
        /// The shell [default: that of $SHELL; with --output, all of them]
        shell: Option<Shell>,

        #[command(flatten)]
        to: Destination,
    },
}

#[derive(Debug, Args)]
struct Destination {
    /// Write files into this folder instead of the standard output
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  teetotal generate man --output ~/.local/share/man/man1
  teetotal generate completions fish > teetotal.fish
  teetotal generate completions --output completions/";

/// A file to write.
struct Page {
    name: String,
    text: Vec<u8>,
}

pub(crate) fn run(args: &GenerateArgs, out: &mut Output) -> Result<u8, Fault> {
    let (pages, to) = match &args.what {
        What::Man { to } => (manual()?, to),
        What::Completions { shell, to } => (completions(&shells(*shell, to)?), to),
    };
    match &to.output {
        Some(folder) => save(&pages, folder, out)?,
        None => pages.iter().try_for_each(|page| out.write(&String::from_utf8_lossy(&page.text)))?,
    }
    Ok(exit::HOLDS)
}

/// Returns one page for the command and one for each subcommand.
fn manual() -> Result<Vec<Page>, Fault> {
    let mut command = args::definition().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    gather(&command, &mut pages).map_err(|error| Fault::new(format!("no man page: {error}")))?;
    Ok(pages)
}

fn gather(command: &clap::Command, pages: &mut Vec<Page>) -> io::Result<()> {
    // A built command has a name such as `teetotal-check`, as `man teetotal-check` looks for it.
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    pages.push(Page { name: format!("{name}.1"), text });
    command.get_subcommands().try_for_each(|inner| gather(inner, pages))
}

/// Returns the shells to write completions for.
fn shells(given: Option<Shell>, to: &Destination) -> Result<Vec<Shell>, Fault> {
    match given {
        Some(shell) => Ok(vec![shell]),
        None if to.output.is_some() => Ok(Shell::value_variants().to_vec()),
        None => Shell::from_env().map(|shell| vec![shell]).ok_or_else(|| {
            let names: Vec<String> = Shell::value_variants().iter().map(Shell::to_string).collect();
            Fault::new("there are no completions for the shell in $SHELL")
                .help(format!("name one of {}", names.join(", ")))
        }),
    }
}

fn completions(shells: &[Shell]) -> Vec<Page> {
    let mut pages = Vec::new();
    for &shell in shells {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut args::definition(), "teetotal", &mut text);
        let name = clap_complete::Generator::file_name(&shell, "teetotal");
        pages.push(Page { name, text });
    }
    pages
}

/// Writes the files and prints their names.
fn save(pages: &[Page], folder: &Path, out: &mut Output) -> Result<(), Fault> {
    let cannot = |path: &Path, error: io::Error| Fault::new(format!("`{}` cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for page in pages {
        let path = folder.join(&page.name);
        fs::write(&path, &page.text).map_err(|error| cannot(&path, error))?;
        out.write(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
