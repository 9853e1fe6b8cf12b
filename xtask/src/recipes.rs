//! Applies the recipes of `CONTRIBUTING.md` to a copy of the tree, and runs what they say.
//!
//! A block of code that follows a sentence which ends with "`PATH`, a new file:", "`PATH`, after `LINE`:" or "`PATH`,
//! in place of `LINE`:" is an edit. A block of `console` after them shows a command and what it prints then.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::Task;
use crate::tidy::root;
use crate::tidy::tree::{self, File};

/// Apply the recipes of CONTRIBUTING.md to a copy of the tree, and run what they say
#[derive(clap::Args, Debug)]
pub(crate) struct Recipes {}

/// The page with the recipes.
const PAGE: &str = "CONTRIBUTING.md";

/// How the command is written in the page.
const COMMAND: &str = "$ teetotal ";

impl Task for Recipes {
    const NAME: &'static str = "recipes";

    fn run(self) -> ExitCode {
        match try_all(&tree::files(root())) {
            Ok(runs) => {
                println!("the recipes of {PAGE} work: {runs} commands print what they say");
                ExitCode::SUCCESS
            }
            Err(reason) => {
                println!("{reason}");
                ExitCode::FAILURE
            }
        }
    }
}

/// Applies all recipes to one copy, builds it, and runs the commands; gives how many there were.
fn try_all(files: &[File]) -> Result<usize, String> {
    let steps = steps_of(page(files)?)?;
    let changed = apply(files, &steps)?;
    let copy = root().join("target/recipes");
    for file in files {
        let text = changed.get(file.path.as_str()).unwrap_or(&file.text);
        write_if_new(&copy.join("tree").join(&file.path), text)?;
    }
    for (path, text) in &changed {
        write_if_new(&copy.join("tree").join(path), text)?;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "teetotal-cli"]).current_dir(copy.join("tree"));
    let status = build.env("CARGO_TARGET_DIR", copy.join("build")).status().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("the tree with the recipes of {PAGE} does not compile"));
    }
    let runs = steps
        .iter()
        .filter_map(|step| if let Step::Run { command, prints } = step { Some((command, prints)) } else { None });
    let mut n_runs = 0;
    for (command, prints) in runs {
        let mut run = Command::new(copy.join("build/debug/teetotal"));
        let output = run.args(command.split(' ')).output().map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if printed != *prints {
            return Err(format!("`teetotal {command}` prints\n{printed}and {PAGE} says\n{prints}"));
        }
        n_runs += 1;
    }
    Ok(n_runs)
}

/// What a recipe says.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    Create {
        path: String,
        text: String,
    },
    /// Puts `text` after the one line that is `line`, or in its place.
    Edit {
        path: String,
        line: String,
        text: String,
        replaces: bool,
    },
    Run {
        command: String,
        prints: String,
    },
}

/// The steps of all recipes in the order of the page.
fn steps_of(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = vec![];
    let mut lines = page.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        let Some(kind) = line.trim_start().strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            before = if line.trim().is_empty() { before } else { line };
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let block = lines.by_ref().take_while(|line| line.trim() != "```");
        let text: String = block.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
        match kind {
            "console" => {
                let (command, prints) = text.split_once('\n').expect("every line of a block ends");
                let command =
                    command.strip_prefix(COMMAND).ok_or(format!("`{command}` does not begin with `{COMMAND}`"))?;
                steps.push(Step::Run { command: command.to_owned(), prints: prints.to_owned() });
            }
            _ => steps.extend(edit_of(before, text)),
        }
        before = "";
    }
    Ok(steps)
}

/// The edit that the sentence `before` makes of a block, if it does.
fn edit_of(before: &str, text: String) -> Option<Step> {
    let quoted: Vec<&str> = before.strip_suffix(':')?.split('`').collect();
    match quoted[..] {
        [.., path, ", a new file"] => Some(Step::Create { path: path.to_owned(), text }),
        [.., path, how, line, ""] if [", after ", ", in place of "].contains(&how) => {
            Some(Step::Edit { path: path.to_owned(), line: line.to_owned(), text, replaces: how != ", after " })
        }
        _ => None,
    }
}

/// The files that the steps make or change.
fn apply<'s>(files: &[File], steps: &'s [Step]) -> Result<BTreeMap<&'s str, String>, String> {
    let mut changed = BTreeMap::new();
    for step in steps {
        match step {
            Step::Create { path, text } => {
                if changed.insert(path.as_str(), text.clone()).is_some() || files.iter().any(|file| file.path == *path)
                {
                    return Err(format!("{PAGE} makes `{path}`, which is there"));
                }
            }
            Step::Edit { path, line, text, replaces } => {
                let original = files.iter().find(|file| file.path == *path).map(|file| file.text.clone());
                let now = changed.get(path.as_str()).cloned().or(original);
                let now = now.ok_or(format!("{PAGE} changes `{path}`, which is not there"))?;
                changed
                    .insert(path, edited(&now, line, text, *replaces).map_err(|reason| format!("{path}: {reason}"))?);
            }
            Step::Run { .. } => {}
        }
    }
    Ok(changed)
}

/// `now` with `text` after the line that is `line`, apart from its indentation, or in its place.
fn edited(now: &str, line: &str, text: &str, replaces: bool) -> Result<String, String> {
    let n_found = now.lines().filter(|other| other.trim() == line).count();
    if n_found != 1 {
        return Err(format!("the line `{line}` stands there {n_found} times"));
    }
    let lines = now.lines().map(|other| match (other.trim() == line, replaces) {
        (true, true) => text.to_owned(),
        (true, false) => format!("{other}\n{text}"),
        (false, _) => format!("{other}\n"),
    });
    Ok(lines.collect())
}

fn page(files: &[File]) -> Result<&str, String> {
    files.iter().find(|file| file.path == PAGE).map(|file| file.text.as_str()).ok_or(format!("there is no {PAGE}"))
}

/// Leaves the time of a file alone that has this text, so that little is built again.
fn write_if_new(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let written = fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_fits_the_tree_as_it_is() {
        let files = tree::files(root());
        let steps = steps_of(page(&files).expect("it is there")).expect("they can be read");
        assert!(steps.iter().filter(|step| matches!(step, Step::Run { .. })).count() >= 2);
        let changed = apply(&files, &steps).unwrap_or_else(|reason| panic!("{reason}"));
        assert!(changed.len() >= 8);
    }

    #[test]
    fn a_sentence_says_what_a_block_is() {
        let page = "1. In `a.rs`, a new file:\n\n   ```rust\n   mod a;\n     x\n   ```\n\n2. Edit `b.rs`, after `mod z;`:\n\n   ```rust\n   mod a;\n   ```\n\n```text\nno edit\n```\n\n```console\n$ teetotal list models\na\n```\n";
        let edit = |text: &str| text.to_owned();
        let expected = [
            Step::Create { path: edit("a.rs"), text: edit("mod a;\n  x\n") },
            Step::Edit { path: edit("b.rs"), line: edit("mod z;"), text: edit("mod a;\n"), replaces: false },
            Step::Run { command: edit("list models"), prints: edit("a\n") },
        ];
        assert_eq!(steps_of(page).expect("it can be read"), expected);
    }

    #[test]
    fn an_edit_has_one_place() {
        assert_eq!(edited("a\n  b\nc\n", "b", "x\n", false).expect("it fits"), "a\n  b\nx\nc\n");
        assert_eq!(edited("a\n  b\nc\n", "b", "x\n", true).expect("it fits"), "a\nx\nc\n");
        assert!(edited("b\nb\n", "b", "x\n", true).is_err() && edited("a\n", "b", "x\n", true).is_err());
    }
}
