//! Plants faults one at a time and demands that the laws catch each.
//!
//! A law that no fault can break says nothing, and neither does a generator whose programs no fault can reach.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

use crate::Task;
use crate::laws::AFTER;

mod annotations;
mod dpor;
mod live;
mod mcr;
mod robustness;
mod symbolic;
mod table;

/// All faults, each with what is to catch it.
fn all() -> impl Iterator<Item = (&'static Mutant, Judge)> {
    let engines = annotations::MUTANTS.iter().chain(dpor::MUTANTS).chain(mcr::MUTANTS).chain(symbolic::MUTANTS);
    let engines = table::MUTANTS.iter().chain(engines).chain(robustness::MUTANTS);
    engines.map(|mutant| (mutant, Judge::Laws)).chain(live::MUTANTS.iter().map(|mutant| (mutant, Judge::Tests)))
}

/// What catches a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Judge {
    /// The laws, on random programs.
    Laws,
    /// The tests of Rust code under the checker.
    Tests,
}

/// Plants faults one at a time and demands that the laws catch each.
#[derive(Args, Debug)]
pub(crate) struct Mutants {
    /// Only faults whose description or file contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
    /// Print the faults and plant none
    #[arg(long)]
    list: bool,
    /// Within how many random programs a fault must be caught
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    programs: u64,
    /// How long the laws may take with a fault planted
    #[arg(long, value_name = "N", default_value_t = 900)]
    seconds: u64,
}

/// A fault to plant.
struct Mutant {
    /// What is wrong, in words.
    name: &'static str,
    /// From the root of the workspace.
    file: &'static str,
    /// Stands exactly once in the file.
    original: &'static str,
    replacement: &'static str,
}

/// What became of a fault.
enum Fate {
    Caught { law: String, programs: u64 },
    Survived,
    DoesNotCompile(String),
    NotFound,
    TimedOut,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Caught { law, programs } => write!(f, "caught by \"{law}\" after {programs} programs"),
            Fate::Survived => f.write_str("SURVIVED"),
            Fate::DoesNotCompile(errors) => write!(f, "DOES NOT COMPILE\n{errors}"),
            Fate::NotFound => f.write_str("ORIGINAL TEXT NOT FOUND"),
            Fate::TimedOut => f.write_str("DID NOT END"),
        }
    }
}

impl Task for Mutants {
    const NAME: &'static str = "mutants";

    fn run(self) -> ExitCode {
        let chosen: Vec<(&Mutant, Judge)> =
            all().filter(|(m, _)| m.name.contains(&self.only) || m.file.contains(&self.only)).collect();
        if self.list {
            chosen.iter().for_each(|(mutant, _)| println!("{}: {}", mutant.file, mutant.name));
            return ExitCode::SUCCESS;
        }
        match self.plant_all(&chosen) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: the faults could not be planted: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

impl Mutants {
    /// Plants every one of `chosen`; gives whether all are caught and the code without faults breaks no law.
    fn plant_all(&self, chosen: &[(&Mutant, Judge)]) -> io::Result<bool> {
        let started = Instant::now();
        let nursery = Nursery::new(workspace(), Duration::from_secs(self.seconds))?;
        let (mut uncaught, mut most) = (0, 0);
        let has = |judge| chosen.iter().any(|(_, own)| *own == judge);
        // Otherwise everything would be caught, since something fails without a fault.
        if has(Judge::Tests) {
            let fate = nursery.by_tests()?;
            if !matches!(fate, Fate::Survived) {
                println!("BROKEN WITHOUT A FAULT: {fate}");
                return Ok(false);
            }
        }
        for (mutant, judge) in chosen {
            let since = Instant::now();
            let fate = nursery.plant(mutant, *judge, self.programs)?;
            match fate {
                Fate::Caught { programs, .. } => most = most.max(programs),
                _ => uncaught += 1,
            }
            println!("{}: {fate} ({:.0} s)", mutant.name, since.elapsed().as_secs_f64());
        }
        // The same, within as many programs as it took to catch them.
        let sound = !has(Judge::Laws) || matches!(nursery.by_laws(most)?, Fate::Survived);
        if !sound {
            println!("BROKEN WITHOUT A FAULT within {most} programs");
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("{} faults, {uncaught} not caught, the last after {most} programs ({seconds:.0} s)", chosen.len());
        Ok(sound && uncaught == 0)
    }
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in the workspace")
}

/// A copy of the workspace in which faults are planted, and where it is built.
struct Nursery {
    tree: PathBuf,
    build: PathBuf,
    patience: Duration,
}

impl Nursery {
    /// Copies what git knows or would add; files that are the same stay as they are, so that little is built again.
    fn new(root: &Path, patience: Duration) -> io::Result<Self> {
        let home = root.join("target/mutants");
        let nursery = Nursery { tree: home.join("tree"), build: home.join("build"), patience };
        let mut list = Command::new("git");
        list.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let names = list.output()?.stdout;
        for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            let (from, to) = (root.join(&*name), nursery.tree.join(&*name));
            // What is deleted but not yet committed is still listed.
            let Ok(content) = fs::read(from) else { continue };
            write_if_new(&to, &content)?;
        }
        Ok(nursery)
    }

    /// Plants a fault, tries the laws, and takes the fault out again.
    fn plant(&self, mutant: &Mutant, judge: Judge, programs: u64) -> io::Result<Fate> {
        let file = self.tree.join(mutant.file);
        let sound = fs::read_to_string(&file)?;
        if sound.matches(mutant.original).count() != 1 {
            return Ok(Fate::NotFound);
        }
        fs::write(&file, sound.replace(mutant.original, mutant.replacement))?;
        let fate = self.judge(judge, programs);
        fs::write(&file, sound)?;
        fate
    }

    /// Builds the tree as it is and tries the laws or the tests on it.
    fn judge(&self, judge: Judge, programs: u64) -> io::Result<Fate> {
        match judge {
            Judge::Laws => self.by_laws(programs),
            Judge::Tests => self.by_tests(),
        }
    }

    /// Builds and runs the tests of Rust code.
    fn by_tests(&self) -> io::Result<Fate> {
        let cargo = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO"));
            command.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.build).env("RUST_BACKTRACE", "0");
            command.args(["test", "--quiet", "--offline", "--package", "teetotal", "--profile", "mutant"]);
            command.arg("--lib").args(live::TESTS.iter().flat_map(|test| ["--test", test])).args(more);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        };
        let built = cargo(&["--no-run"]).output()?;
        if !built.status.success() {
            return Ok(Fate::DoesNotCompile(String::from_utf8_lossy(&built.stderr).into_owned()));
        }
        let log = self.build.join("tests.log");
        let mut child = cargo(&[]).stdout(fs::File::create(&log)?).stderr(Stdio::null()).spawn()?;
        if !ends_within(&mut child, self.patience)? {
            return Ok(Fate::TimedOut);
        }
        if child.wait()?.success() {
            return Ok(Fate::Survived);
        }
        let text = fs::read_to_string(&log)?;
        let failed = text.lines().find_map(|line| line.strip_prefix("---- ")?.strip_suffix(" stdout ----"));
        Ok(Fate::Caught { law: failed.unwrap_or("the tests end").to_owned(), programs: 0 })
    }

    fn by_laws(&self, programs: u64) -> io::Result<Fate> {
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.build);
        build.args(["build", "--quiet", "--offline", "--package", "xtask", "--profile", "mutant"]);
        let built = build.output()?;
        if !built.status.success() {
            return Ok(Fate::DoesNotCompile(String::from_utf8_lossy(&built.stderr).into_owned()));
        }
        let mut laws = Command::new(self.build.join("mutant/xtask"));
        laws.current_dir(&self.tree).args(["laws", "--quick", "--part", "random", "--programs"]);
        laws.arg(programs.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = laws.spawn()?;
        if !ends_within(&mut child, self.patience)? {
            return Ok(Fate::TimedOut);
        }
        let output = child.wait_with_output()?;
        if output.status.success() {
            return Ok(Fate::Survived);
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(what_broke(&text).unwrap_or(Fate::Caught { law: "the laws end".to_owned(), programs }))
    }
}

/// The law that `laws --quick` says is broken; the first program of those that the workers had in hand.
fn what_broke(output: &str) -> Option<Fate> {
    let broken = output.lines().filter_map(|line| line.split_once(AFTER));
    let numbered = broken.filter_map(|(law, programs)| Some((programs.parse().ok()?, law)));
    let (programs, law) = numbered.min()?;
    Some(Fate::Caught { law: law.to_owned(), programs })
}

/// Waits for a process; ends it, and says so, if it takes too long.
fn ends_within(child: &mut Child, patience: Duration) -> io::Result<bool> {
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(true)
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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_has_its_place_in_the_code() {
        for (mutant, _) in all() {
            let text = fs::read_to_string(workspace().join(mutant.file)).expect("the file is there");
            let count = text.matches(mutant.original).count();
            assert_eq!(count, 1, "\"{}\": the original text must stand once in {}", mutant.name, mutant.file);
            assert_ne!(mutant.original, mutant.replacement, "{}", mutant.name);
        }
    }

    #[test]
    fn there_are_at_least_thirty_faults_with_different_names() {
        let names: BTreeSet<&str> = all().map(|(mutant, _)| mutant.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 30);
    }

    #[test]
    fn the_line_of_a_quick_run_is_understood() {
        let output = format!("one law{AFTER}12\nwhy\nanother law{AFTER}9\nwhy");
        let Some(Fate::Caught { law, programs }) = what_broke(&output) else { panic!("nothing was understood") };
        assert_eq!((law.as_str(), programs), ("another law", 9));
        assert!(what_broke("random programs, 9 laws: 0 broken").is_none());
    }
}
