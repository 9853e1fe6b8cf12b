//! Plants faults one at a time and demands that the laws catch each.
//!
//! A law that no fault can break says nothing, and neither does a generator whose programs no fault can reach.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use self::nursery::Nursery;
use self::plant::{Files, Sources, Together};
use crate::Task;

mod annotations;
mod dpor;
mod functions;
mod live;
mod mcr;
mod nursery;
mod plant;
mod rc11;
mod robustness;
mod symbolic;
mod table;

/// All faults, each with what is to catch it.
fn all() -> impl Iterator<Item = (&'static Mutant, Judge)> {
    let engines = annotations::MUTANTS.iter().chain(dpor::MUTANTS).chain(mcr::MUTANTS).chain(symbolic::MUTANTS);
    let engines = table::MUTANTS.iter().chain(engines).chain(rc11::MUTANTS).chain(robustness::MUTANTS);
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

/// All judges.
const JUDGES: [Judge; 2] = [Judge::Laws, Judge::Tests];

/// Plants faults in a copy of the tree and demands that the laws or the tests catch each.
#[derive(Args, Debug)]
pub(crate) struct Mutants {
    /// Only faults whose description or function contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
    /// Only faults that the laws are to catch, which needs a third of the build
    #[arg(long)]
    laws: bool,
    /// Print the faults and plant none
    #[arg(long)]
    list: bool,
    /// Only so many, chosen at random
    #[arg(long, value_name = "N")]
    some: Option<usize>,
    /// What is chosen at random is chosen by this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Begin with no other fault after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// How many faults are tried at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Within how many random programs a fault must be caught
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    programs: u64,
    /// How many seconds one random program may take
    #[arg(long, value_name = "N", default_value_t = 60)]
    patience: u64,
}

/// A fault to plant.
#[derive(Debug)]
struct Mutant {
    /// What is wrong, in words.
    name: &'static str,
    /// The function that has it, after its crate and as much of its path as tells it apart, such as
    /// `memory::StoreBuffer::newest`; wherever in the crate it stands.
    item: &'static str,
    /// Stands exactly once in the function.
    original: &'static str,
    replacement: &'static str,
}

impl Mutant {
    /// The folder of its crate.
    fn krate(&self) -> &'static str {
        self.item.split("::").next().expect("a path is never empty")
    }

    /// Where it is in its crate.
    fn path(&self) -> impl Iterator<Item = &'static str> {
        self.item.split("::").skip(1)
    }
}

/// What became of a fault.
#[derive(Debug)]
enum Fate {
    Caught { law: String, programs: u64 },
    Survived,
    DoesNotCompile(String),
    TimedOut,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Caught { law, programs: 0 } => write!(f, "caught by \"{law}\""),
            Fate::Caught { law, programs } => write!(f, "caught by \"{law}\" after {programs} programs"),
            Fate::Survived => f.write_str("SURVIVED"),
            Fate::DoesNotCompile(errors) => write!(f, "DOES NOT COMPILE\n{errors}"),
            Fate::TimedOut => f.write_str("DID NOT END"),
        }
    }
}

impl Task for Mutants {
    const NAME: &'static str = "mutants";

    fn run(self) -> ExitCode {
        let chosen = self.chosen();
        if self.list {
            chosen.iter().for_each(|(mutant, _)| println!("{}: {}", mutant.item, mutant.name));
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

/// What is found out about the faults that are planted.
#[derive(Default)]
struct Tally {
    planted: usize,
    uncaught: usize,
    /// How many programs it took at most to catch one.
    most: u64,
}

impl Tally {
    fn add(&mut self, mutant: &Mutant, fate: &Fate, since: Instant) {
        self.planted += 1;
        match fate {
            Fate::Caught { programs, .. } => self.most = self.most.max(*programs),
            _ => self.uncaught += 1,
        }
        println!("{}: {fate} ({:.0} s)", mutant.name, since.elapsed().as_secs_f64());
    }
}

impl Mutants {
    /// The faults that are asked for, in the order in which they are tried.
    fn chosen(&self) -> Vec<(&'static Mutant, Judge)> {
        let is_wanted = |m: &Mutant| m.name.contains(&self.only) || m.item.contains(&self.only);
        let mut chosen: Vec<(&Mutant, Judge)> = all().filter(|(m, _)| is_wanted(m)).collect();
        chosen.retain(|(_, judge)| !self.laws || *judge == Judge::Laws);
        if let Some(n) = self.some {
            shuffle(&mut chosen, self.seed);
            chosen.truncate(n);
            println!("{} faults by seed {}", chosen.len(), self.seed);
        }
        chosen
    }

    /// Plants every one of `chosen`; gives whether all are caught and the code without faults breaks no law.
    fn plant_all(&self, chosen: &[(&'static Mutant, Judge)]) -> io::Result<bool> {
        let started = Instant::now();
        let mutants: Vec<&Mutant> = chosen.iter().map(|(mutant, _)| *mutant).collect();
        let sources = Sources::read(workspace(), &mutants)?;
        let Together { files, alone } = plant::together(&sources, &mutants).map_err(io::Error::other)?;
        let mut nursery = Nursery::new(workspace(), &files, self.programs, self.patience)?;
        let tally = Mutex::new(Tally::default());
        let judges: Vec<Judge> =
            JUDGES.into_iter().filter(|own| chosen.iter().any(|(_, judge)| judge == own)).collect();
        for (index, &judge) in judges.iter().enumerate() {
            if let Err(errors) = nursery.build(judge)? {
                println!("{}", Fate::DoesNotCompile(errors));
                return Ok(false);
            }
            println!("{judge:?} are built ({:.0} s)", started.elapsed().as_secs_f64());
            // Otherwise everything would be caught, since something fails without a fault.
            if judge == Judge::Tests
                && let Some(failed) = nursery.time_tests()?
            {
                println!("BROKEN WITHOUT A FAULT: {failed}");
                return Ok(false);
            }
            let is_own = |n: &usize| chosen[n - 1].1 == judge && !alone.iter().any(|(other, _)| other == n);
            let shared: Vec<usize> = (1..=chosen.len()).filter(is_own).collect();
            // Each judge has an equal part of the time.
            let end = self.seconds.map(|seconds| seconds * (index as u64 + 1) / judges.len() as u64);
            let is_time = || end.is_none_or(|seconds| started.elapsed() < Duration::from_secs(seconds));
            self.try_shared(&nursery, chosen, &shared, &tally, &is_time)?;
        }
        let mut tally = tally.into_inner().expect("no worker panics");
        // The same, within as many programs as it took to catch them.
        let has_laws = judges.contains(&Judge::Laws);
        let sound = !has_laws || matches!(nursery.by_laws(0, tally.most)?, Fate::Survived);
        if !sound {
            println!("BROKEN WITHOUT A FAULT within {} programs", tally.most);
        }
        for (number, mutant) in alone.into_iter().filter(|_| self.some.is_none()) {
            let since = Instant::now();
            let (file, text) = plant::alone(&sources, mutant).map_err(io::Error::other)?;
            nursery.copy(workspace(), &Files::from([(file, text)]))?;
            let judge = chosen[number - 1].1;
            let fate = match nursery.build(judge)? {
                Ok(()) => nursery.judge(judge, 0)?,
                Err(errors) => Fate::DoesNotCompile(errors),
            };
            tally.add(mutant, &fate, since);
        }
        let seconds = started.elapsed().as_secs_f64();
        let Tally { planted, uncaught, most } = tally;
        println!("{planted} faults, {uncaught} not caught, the last after {most} programs ({seconds:.0} s)");
        // Of a sample a few may need more programs; a run of all of them demands every one.
        let is_enough = uncaught == 0 || self.some.is_some() && 4 * uncaught <= planted;
        Ok(sound && is_enough)
    }

    /// Tries the faults with these numbers, several at a time.
    fn try_shared(
        &self,
        nursery: &Nursery,
        chosen: &[(&'static Mutant, Judge)],
        numbers: &[usize],
        tally: &Mutex<Tally>,
        is_time: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                // However long it took to build, one is tried.
                let Some(&number) = numbers.get(index).filter(|_| index == 0 || is_time()) else { return Ok(()) };
                let since = Instant::now();
                let (mutant, judge) = chosen[number - 1];
                let fate = nursery.judge(judge, number)?;
                tally.lock().expect("no worker panics").add(mutant, &fate, since);
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
        })
    }
}

/// Brings things into an order that looks random.
fn shuffle<T>(things: &mut [T], seed: u64) {
    let mut state = seed;
    for index in (1..things.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        things.swap(index, ((z ^ (z >> 31)) % (index as u64 + 1)) as usize);
    }
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in the workspace")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_has_its_place_in_the_code() {
        let mutants: Vec<&Mutant> = all().map(|(mutant, _)| mutant).collect();
        let sources = Sources::read(workspace(), &mutants).expect("the crates are there");
        let wrong = |mutant: &&Mutant| Some(format!("\"{}\": {}", mutant.name, sources.place(mutant).err()?));
        let wrong: Vec<String> = mutants.iter().filter_map(wrong).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(mutants.iter().all(|mutant| mutant.original != mutant.replacement));
    }

    #[test]
    fn few_faults_need_a_build_of_their_own() {
        let mutants: Vec<&Mutant> = all().map(|(mutant, _)| mutant).collect();
        let sources = Sources::read(workspace(), &mutants).expect("the crates are there");
        let Together { alone, .. } = plant::together(&sources, &mutants).expect("every fault has its place");
        let names: Vec<&str> = alone.iter().map(|(_, mutant)| mutant.name).collect();
        assert!(names.len() <= 10, "{names:#?}");
    }

    #[test]
    fn there_are_at_least_thirty_faults_with_different_names() {
        let names: BTreeSet<&str> = all().map(|(mutant, _)| mutant.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 30);
    }

    #[test]
    fn the_tests_of_rust_code_are_there() {
        let folder = workspace().join("crates/teetotal/tests");
        for test in live::TESTS {
            let is_there = folder.join(format!("{test}.rs")).exists() || folder.join(test).join("main.rs").exists();
            assert!(is_there, "there is no test program `{test}`");
        }
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut things: Vec<u32> = (0..50).collect();
        shuffle(&mut things, 7);
        assert_ne!(things, (0..50).collect::<Vec<_>>());
        things.sort();
        assert_eq!(things, (0..50).collect::<Vec<_>>());
    }
}
