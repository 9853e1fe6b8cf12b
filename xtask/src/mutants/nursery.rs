//! The copy of the workspace that has the faults, and the programs that are to catch them.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use teetotal_properties::{AFTER, ENDS};

use super::plant::{Files, VARIABLE};
use super::{Fate, Judge, live};

/// More memory than this is taken only by a search that does not end.
const MOST_MEMORY: u64 = 5 << 30;

/// How much longer than without a fault a test program may take, besides a minute.
const SLOWDOWN: u32 = 10;

/// A copy of the workspace in which faults are planted, and where it is built.
pub(super) struct Nursery {
    tree: PathBuf,
    build: PathBuf,
    /// The law on random programs, if it is wanted.
    laws: Option<PathBuf>,
    /// The tests of Rust code with their names, and how long each takes without a fault.
    tests: Vec<(String, PathBuf, Duration)>,
    /// How many random programs there are.
    programs: u64,
    /// How long one random program may take.
    patience: u64,
}

impl Nursery {
    /// Copies what git knows or would add, with `files` in the place of those that are there.
    pub(super) fn new(root: &Path, files: &Files, programs: u64, patience: u64) -> io::Result<Self> {
        let home = root.join("target/mutants");
        let (tree, build) = (home.join("tree"), home.join("build"));
        let nursery = Nursery { tree, build, laws: None, tests: Vec::new(), programs, patience };
        nursery.copy(root, files)?;
        Ok(nursery)
    }

    /// Makes the copy anew; files that are the same stay as they are, so that little is built again.
    pub(super) fn copy(&self, root: &Path, files: &Files) -> io::Result<()> {
        let mut list = Command::new("git");
        list.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let names = list.output()?.stdout;
        for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            let (from, to) = (root.join(&*name), self.tree.join(&*name));
            match (files.get(&*name), fs::read(&from)) {
                (Some(text), _) => write_if_new(&to, text.as_bytes())?,
                (None, Ok(content)) => write_if_new(&to, &content)?,
                // What is deleted but not yet committed is still listed.
                (None, Err(_)) if to.exists() => fs::remove_file(&to)?,
                (None, Err(_)) => {}
            }
        }
        Ok(())
    }

    /// Builds what is to catch faults in the tree as it is; gives the errors if it does not compile.
    pub(super) fn build(&mut self, judge: Judge) -> io::Result<Result<(), String>> {
        let tests = live::TESTS.iter().flat_map(|test| ["--test", test]);
        let options: Vec<&str> = match judge {
            Judge::Laws => vec!["--package", "teetotal-properties", "--test", "random"],
            Judge::Tests => ["--package", "teetotal", "--lib"].into_iter().chain(tests).collect(),
        };
        let found = match self.binaries(&options)? {
            Ok(found) => found,
            Err(errors) => return Ok(Err(errors)),
        };
        match judge {
            Judge::Laws => self.laws = found.into_iter().next().map(|(_, path)| path),
            Judge::Tests => {
                let timed = |name: &str| self.tests.iter().find(|(known, ..)| known == name).map(|(.., time)| *time);
                let with_time = |(name, path): (String, PathBuf)| {
                    let time = timed(&name).unwrap_or(Duration::from_secs(60));
                    (name, path, time)
                };
                self.tests = found.into_iter().map(with_time).collect();
                self.tests.sort_by_key(|(.., time)| *time);
            }
        }
        Ok(Ok(()))
    }

    /// Builds test programs; gives where they are by their names, or what the compiler says.
    fn binaries(&self, options: &[&str]) -> io::Result<Result<Vec<(String, PathBuf)>, String>> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.build).env("RUSTFLAGS", "--cap-lints=allow");
        cargo.args(["test", "--no-run", "--quiet", "--offline", "--profile", "mutant"]);
        let output = cargo.args(["--message-format", "json-render-diagnostics"]).args(options).output()?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Ok(text.lines().filter_map(executable).collect()))
    }

    /// Runs the tests without a fault and notes how long each takes; gives the one that fails.
    pub(super) fn time_tests(&mut self) -> io::Result<Option<String>> {
        let mut tests = std::mem::take(&mut self.tests);
        for (_, path, time) in &mut tests {
            let started = Instant::now();
            if let Some(failed) = self.run_test(path, 0, Duration::from_secs(900))? {
                return Ok(Some(failed));
            }
            *time = started.elapsed();
        }
        tests.sort_by_key(|(.., time)| *time);
        self.tests = tests;
        Ok(None)
    }

    /// Shows the fault with this number, or none if it is 0, to those that are to catch it.
    pub(super) fn judge(&self, judge: Judge, number: usize) -> io::Result<Fate> {
        match judge {
            Judge::Laws => self.by_laws(number, self.programs),
            Judge::Tests => self.by_tests(number),
        }
    }

    fn by_tests(&self, number: usize) -> io::Result<Fate> {
        for (name, path, time) in &self.tests {
            let patience = *time * SLOWDOWN + Duration::from_secs(60);
            if let Some(failed) = self.run_test(path, number, patience)? {
                return Ok(Fate::Caught { law: format!("{name}: {failed}"), programs: 0 });
            }
        }
        Ok(Fate::Survived)
    }

    /// Runs a test program until the first test fails; gives its name.
    fn run_test(&self, path: &Path, number: usize, patience: Duration) -> io::Result<Option<String>> {
        let mut command = Command::new(path);
        command.current_dir(self.tree.join("crates/teetotal")).env(VARIABLE, number.to_string());
        command.env("RUST_BACKTRACE", "0").args(["--test-threads", "1"]);
        let mut failed = None;
        let end = run(command, patience, |line| {
            failed = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")).map(str::to_owned);
            failed.is_some()
        })?;
        Ok(failed.or(match end {
            End::Well => None,
            other => Some(other.to_string()),
        }))
    }

    /// Runs the laws on so many random programs.
    pub(super) fn by_laws(&self, number: usize, programs: u64) -> io::Result<Fate> {
        let fate = self.laws(number, 0, programs, self.patience)?;
        let Fate::Caught { law, programs: late } = &fate else { return Ok(fate) };
        // A machine that has much else to do is late, too.
        let is_late =
            |number| Ok::<_, io::Error>(!matches!(self.laws(number, late - 1, 1, self.patience)?, Fate::Survived));
        if law == ENDS && (!is_late(number)? || is_late(0)?) { Ok(Fate::TimedOut) } else { Ok(fate) }
    }

    /// Runs the laws on so many random programs from a seed on, each of which may take so many seconds.
    fn laws(&self, number: usize, seed: u64, programs: u64, patience: u64) -> io::Result<Fate> {
        let path = self.laws.as_ref().expect("the laws are built before they are run");
        let mut command = Command::new(path);
        command.current_dir(self.tree.join("crates/properties")).env(VARIABLE, number.to_string());
        command.env("RUST_BACKTRACE", "0").arg("--nocapture");
        command.env("TEETOTAL_TEST_SEED", seed.to_string()).env("TEETOTAL_TEST_PROGRAMS", programs.to_string());
        command.env("TEETOTAL_TEST_PATIENCE", patience.to_string());
        command.env("TEETOTAL_TEST_QUICK", "1").env("TEETOTAL_TEST_JOBS", "1");
        let mut broken = None;
        let end = run(command, Duration::from_secs(3600), |line| {
            broken = what_broke(line);
            broken.is_some()
        })?;
        Ok(match (broken, end) {
            (Some(fate), _) => fate,
            (None, End::Well) => Fate::Survived,
            (None, End::Late) => Fate::TimedOut,
            (None, other) => Fate::Caught { law: other.to_string(), programs },
        })
    }
}

/// The law that a quick run says is broken.
fn what_broke(line: &str) -> Option<Fate> {
    let (law, programs) = line.split_once(AFTER)?;
    Some(Fate::Caught { law: law.to_owned(), programs: programs.parse().ok()? })
}

/// The test program that a message of cargo is about, and the name of its test.
fn executable(message: &str) -> Option<(String, PathBuf)> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    let path = PathBuf::from(rest.split_once('"')?.0);
    let name = path.file_stem()?.to_str()?.rsplit_once('-')?.0.to_owned();
    Some((name, path))
}

/// How a test program ended.
enum End {
    Well,
    Badly,
    Late,
    Greedy,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            End::Well => "it passes",
            End::Badly => "the process fails",
            End::Late => "it does not end",
            End::Greedy => "it takes all memory",
        })
    }
}

/// Runs a program until `enough` says so of a line that it prints, or it takes too long or too much memory.
fn run(mut command: Command, patience: Duration, mut enough: impl FnMut(&str) -> bool) -> io::Result<End> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = child.stdout.take().expect("it is piped");
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    let end = loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) if enough(&line) => break End::Badly,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {}
            // It has closed its output, and so it ends.
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(if child.wait()?.success() { End::Well } else { End::Badly });
            }
        }
        if started.elapsed() > patience {
            break End::Late;
        }
        if memory(&child) > MOST_MEMORY {
            break End::Greedy;
        }
    };
    child.kill()?;
    child.wait()?;
    Ok(end)
}

/// How many bytes of memory a process has, where the system says so.
fn memory(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

fn write_if_new(to: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(to).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_quick_run_is_understood() {
        let Some(Fate::Caught { law, programs }) = what_broke(&format!("one law{AFTER}12")) else {
            panic!("nothing was understood")
        };
        assert_eq!((law.as_str(), programs), ("one law", 12));
        assert!(what_broke("random programs, 9 laws: 0 broken").is_none());
    }

    #[test]
    fn test_programs_are_found_in_the_messages_of_cargo() {
        let message = r#"{"reason":"compiler-artifact","executable":"/t/deps/fresh_statics-0a1b","fresh":true}"#;
        assert_eq!(
            executable(message),
            Some(("fresh_statics".to_owned(), PathBuf::from("/t/deps/fresh_statics-0a1b")))
        );
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("100");
        let end = run(command, Duration::from_millis(100), |_| false).expect("it can be run");
        assert!(matches!(end, End::Late));
    }
}
