//! The same cases on loom and shuttle, which are built and run as a program of their own.

use std::path::PathBuf;
use std::process::Command;

/// After so many seconds a peer is given up.
const PATIENCE: u32 = 15;

/// The program of the peers, if it could be built.
pub(crate) struct Peers(Option<PathBuf>);

/// What a peer did with a case.
pub(crate) struct Run {
    pub(crate) executions: u64,
    pub(crate) seconds: f64,
    pub(crate) end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Passes,
    Fails,
    Unfinished,
}

impl Peers {
    /// Builds the program, which needs loom and shuttle from the registry, and says so if that is not possible.
    pub(crate) fn build() -> Self {
        let program = build();
        if program.is_none() {
            println!("loom and shuttle are left out: `bench/peers` cannot be built here");
        }
        Peers(program)
    }

    /// No program.
    pub(crate) fn none() -> Self {
        Peers(None)
    }

    /// Runs a case, if the program is there.
    pub(crate) fn run(&self, library: &str, case: &str) -> Option<Run> {
        let output = Command::new(self.0.as_ref()?).args([library, &PATIENCE.to_string(), case]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let mut words = text.split_whitespace();
        let (executions, seconds) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let end = match words.next()? {
            "passes" => End::Passes,
            "fails" => End::Fails,
            _ => End::Unfinished,
        };
        Some(Run { executions, seconds, end })
    }
}

/// Builds the program beside this one.
fn build() -> Option<PathBuf> {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers").join("Cargo.toml");
    let own = std::env::current_exe().ok()?;
    let target = own.parent()?.parent()?.join("peers");
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--release", "--quiet", "--locked", "--manifest-path"]).arg(manifest);
    let status = command.arg("--target-dir").arg(&target).status().ok()?;
    status.success().then(|| target.join("release").join("teetotal-bench-peers"))
}
