//! Cargo, with the processor time that it and its compilers took.

use std::path::Path;
use std::process::{Command, Stdio};

/// Seconds of the processor.
pub(super) type Seconds = f64;

/// Runs the command and says what it and everything that it started took; `times` is the shell's own.
const SCRIPT: &str = "\"$@\" >&2; status=$?; times; exit $status";

/// How many lines of what cargo says are shown where it fails.
const LINES: usize = 20;

/// Where cargo runs and builds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cargo<'c> {
    pub(super) folder: &'c Path,
    pub(super) target: &'c Path,
}

impl Cargo<'_> {
    /// What `cargo` with these arguments took.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Seconds, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh", "cargo"]).args(arguments);
        shell.current_dir(self.folder).env("CARGO_TARGET_DIR", self.target);
        // What is set for this tree is not to change what is measured.
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_INCREMENTAL", "CARGO_BUILD_JOBS"] {
            shell.env_remove(name);
        }
        let output = shell.stdin(Stdio::null()).output().map_err(|error| format!("`sh` cannot be run: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
            return Err(format!("`cargo {}` failed in `{}`\n{last}", arguments.join(" "), self.folder.display()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        children(&text).ok_or_else(|| format!("`times` of the shell said `{}`", text.trim()))
    }
}

/// The second line of `times`: what the children took in user and in kernel mode, each as `1m2.34s`.
fn children(text: &str) -> Option<Seconds> {
    let line = text.lines().nth(1)?;
    let times = line.split_whitespace().map(|time| {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.replace(',', ".").parse::<f64>().ok()?)
    });
    times.sum()
}

#[cfg(test)]
mod tests {
    use super::children;

    #[test]
    fn the_times_of_the_children_are_added() {
        assert_eq!(children("0m0.00s 0m0.01s\n1m2.25s 0m1.50s\n"), Some(63.75));
        assert_eq!(children("0m0.00s 0m0.01s\n"), None);
    }
}
