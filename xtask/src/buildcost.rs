//! What it costs to build: a crate with one test on the drop-in for loom, the command line, and the tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use crate::Task;

use self::cargo::{Cargo, Seconds};
use self::scratch::Scratch;
use self::table::{Row, Unit};

mod cargo;
mod scratch;
mod table;

/// How often a rebuild is measured; the least counts.
const REBUILDS: usize = 3;

/// Measure what it costs to build a test on the drop-in for loom, and the command line
///
/// A crate with one test is built once on loom and once on `compat/loom`, outside of this tree. Times are those of the
/// processor, in user and in kernel mode. It needs loom 0.7.2 from the registry, or a registry that is filled.
#[derive(clap::Args)]
pub(crate) struct BuildCost {
    /// Compare the size of the command line, and the tests, with this revision
    #[arg(long, value_name = "REVISION")]
    against: Option<String>,
    /// Measure `cargo test --workspace` too, from nothing
    #[arg(long)]
    tests: bool,
    /// Leave the command line out
    #[arg(long)]
    library: bool,
}

impl Task for BuildCost {
    const NAME: &'static str = "buildcost";

    fn run(self) -> ExitCode {
        let folder = std::env::temp_dir().join(format!("teetotal-buildcost-{}", std::process::id()));
        let measured = fs::create_dir_all(&folder).map_err(|error| error.to_string());
        let measured = measured.and_then(|()| self.rows(&folder));
        let removed = fs::remove_dir_all(&folder);
        if let Err(error) = removed {
            eprintln!("note: `{}` is left behind: {error}", folder.display());
        }
        match measured {
            Ok(rows) => {
                print!("{}", table::render(&rows));
                if rows.iter().any(Row::is_missed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

impl BuildCost {
    fn rows(&self, folder: &Path) -> Result<Vec<Row>, String> {
        let here = own_tree();
        let mut rows = library(folder, &here)?;
        let before = match &self.against {
            Some(revision) => Some(checked_out(&here, revision, &folder.join("before"))?),
            None => None,
        };
        let both = |measure: &dyn Fn(&Path, &Path) -> Result<f64, String>| {
            let then = before.as_ref().map(|tree| measure(tree, &folder.join("target-before"))).transpose()?;
            Ok::<_, String>((then, measure(&here, &folder.join("target"))?))
        };
        if !self.library {
            let (then, now) = both(&command_line)?;
            rows.push(Row { what: "stripped `teetotal`", unit: Unit::Kibibytes, than: then, now, at_most: 0.5 });
        }
        if self.tests {
            let (then, now) = both(&|tree, target| tests(tree, target, &["--no-run"]))?;
            rows.push(Row { what: "tests, built", unit: Unit::Seconds, than: then, now, at_most: 0.6 });
            let (more_then, more_now) = both(&|tree, target| tests(tree, target, &[]))?;
            let then = then.zip(more_then).map(|(then, more)| then + more);
            let now = now + more_now;
            rows.push(Row { what: "tests, built and run", unit: Unit::Seconds, than: then, now, at_most: 0.6 });
        }
        Ok(rows)
    }
}

/// The root of this workspace.
fn own_tree() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder).to_owned()
}

/// A crate with one test, on loom and on the crate in its place.
fn library(folder: &Path, tree: &Path) -> Result<Vec<Row>, String> {
    let crates = [
        Scratch::make(&folder.join("loom"), "\"=0.7.2\""),
        Scratch::make(&folder.join("drop-in"), &format!("{{ path = {:?} }}", tree.join("compat/loom"))),
    ];
    let [loom, drop_in] = crates.map(|made| made.map_err(|error| format!("the crate to measure: {error}")));
    let (loom, drop_in) = (loom?, drop_in?);
    loom.fetch().map_err(|error| {
        format!(
            "loom 0.7.2 cannot be fetched, and is not in the local registry\nhelp: connect to the network once\n{error}"
        )
    })?;
    drop_in.fetch()?;
    let mut rows = Vec::new();
    for (cold, again, options) in [
        ("debug, from nothing", "debug, test changed", &[][..]),
        ("release, from nothing", "release, test changed", &["--release"][..]),
    ] {
        let than = Some(loom.build(options)?);
        rows.push(Row { what: cold, unit: Unit::Seconds, than, now: drop_in.build(options)?, at_most: 3.0 });
        let (mut than, mut now) = (Seconds::INFINITY, Seconds::INFINITY);
        for _ in 0..REBUILDS {
            than = than.min(loom.build_changed(options)?);
            now = now.min(drop_in.build_changed(options)?);
        }
        rows.push(Row { what: again, unit: Unit::Seconds, than: Some(than), now, at_most: 1.3 });
    }
    Ok(rows)
}

/// The size of the command line without symbols, in KiB.
fn command_line(tree: &Path, target: &Path) -> Result<f64, String> {
    let options = ["--config", "profile.release.strip=true", "build", "--release", "--package", "teetotal-cli"];
    Cargo { folder: tree, target }.run(&options)?;
    let program = target.join("release").join(format!("teetotal{}", std::env::consts::EXE_SUFFIX));
    let size = fs::metadata(&program).map_err(|error| format!("`{}`: {error}", program.display()))?.len();
    Ok(size as f64 / 1024.0)
}

/// The time of the tests of all members, with what of them is not built yet.
fn tests(tree: &Path, target: &Path, options: &[&str]) -> Result<Seconds, String> {
    let test = ["test", "--workspace", "--quiet"];
    Cargo { folder: tree, target }.run(&[&test, options].concat())
}

/// A copy of `tree` at `revision`.
fn checked_out(tree: &Path, revision: &str, folder: &Path) -> Result<PathBuf, String> {
    let folder_text = folder.to_string_lossy().into_owned();
    let script = "git archive --format=tar \"$1\" | tar -x -C \"$2\"";
    let copy = || -> io::Result<bool> {
        fs::create_dir_all(folder)?;
        let mut shell = std::process::Command::new("sh");
        let status = shell.args(["-c", script, "sh", revision, &folder_text]).current_dir(tree).status()?;
        Ok(status.success() && folder.join("Cargo.toml").exists())
    };
    match copy() {
        Ok(true) => Ok(folder.to_owned()),
        Ok(false) => Err(format!("there is no revision `{revision}` to compare with")),
        Err(error) => Err(format!("revision `{revision}` cannot be copied: {error}")),
    }
}
