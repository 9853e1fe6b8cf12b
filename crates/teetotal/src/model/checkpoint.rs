//! The file in which the search of a model is saved, and from which it resumes.
//!
//! ```text
//! teetotal model 3
//! program 0.1.0 5120448 1760000000123456789
//! test queue::two_producers
//! model pso
//! settings 1000 1 1 - false false
//! counts 20000 19990 10 0 0 3 412000 2 0
//! hidden 1a2b0
//! bounded 4 41 9 src/queue.rs
//! assumed 52 15 src/queue.rs
//! spurious
//! checked
//! reached both are 0
//! rest 0.0.1 1..2
//! end 5f3c2d1e4b6a7988
//! ```
//!
//! Abstracted operations are named by addresses, and paths are meaningful only to the program that wrote them, so only
//! that program reads the file.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use teetotal_dpor::Rest;
use teetotal_engine::{Coverage, Stats, StopReason};
use teetotal_live::{Ledger, Place};

use super::Builder;
use super::conclusion::say;

/// The first line of every file.
const TITLE: &str = "teetotal model 3";

/// A checkpoint file, which need not exist yet.
#[derive(Debug)]
pub(super) struct Keeper {
    path: PathBuf,
    /// The lines that must be equal for the search to resume.
    head: String,
}

/// The progress of a search.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) stats: Stats,
    /// The number of operations after which an execution was cut short, if one was.
    pub(super) cut: Option<u64>,
    pub(super) rest: Rest,
}

impl Keeper {
    /// Returns the file that `builder` names, if any.
    pub(super) fn of(builder: &Builder) -> Option<Self> {
        let path = builder.checkpoint_file.clone()?;
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("unnamed").replace('\n', " ");
        let fairness = builder.fairness_bound.map_or("-".to_owned(), |bound| bound.to_string());
        let Builder { max_branches, spurious, reuse, leaks, plain_accesses, passes_like_loom, .. } = builder;
        let memory = format!("{reuse} {leaks} {plain_accesses:?}");
        let settings = format!("{max_branches} {spurious} {fairness} {memory} {passes_like_loom}");
        let (model, program) = (builder.model.info().name, program());
        let head = format!("{TITLE}\nprogram {program}\ntest {test}\nmodel {model}\nsettings {settings}\n");
        Some(Keeper { path, head })
    }

    /// Reads the file, if it exists, and adds to `ledger` what the search had observed.
    ///
    /// # Panics
    /// If the file cannot be read or belongs to another search.
    pub(super) fn read(&self, ledger: &Ledger) -> Option<Kept> {
        let path = self.path.display();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => panic!("the checkpoint `{path}` cannot be read: {error}"),
        };
        match self.parse(&text, ledger) {
            Ok(kept) => Some(kept),
            Err(why) => panic!(
                "the search cannot resume from the checkpoint `{path}`: {why}\n\
                 help: remove the file to start over; with `TEETOTAL_CHECKPOINT` run one test, as in \
                 `cargo test NAME`, without rebuilding it"
            ),
        }
    }

    fn parse(&self, text: &str, ledger: &Ledger) -> Result<Kept, String> {
        if !text.starts_with(TITLE) {
            return Err(format!("it does not begin with `{TITLE}`"));
        }
        let mut lines = text.lines();
        for expected in self.head.lines() {
            let found = lines.next().unwrap_or("");
            if found != expected {
                return Err(format!("it has `{found}` where this search has `{expected}`"));
            }
        }
        let (mut stats, mut cut, mut rest, mut is_whole) = (None, None, String::new(), false);
        let (mut bounded, mut assumed, mut trusted) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            let (word, what) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "counts" => stats = counts(what),
                "cut" => cut = Some(what.parse().map_err(|_| damaged(line))?),
                "hidden" => ledger.open_at(u64::from_str_radix(what, 16).map_err(|_| damaged(line))? as i64),
                "reached" => ledger.reach(what),
                "bounded" => bounded.push(bounded_loop(what).ok_or_else(|| damaged(line))?),
                "assumed" => assumed.push(place(what).ok_or_else(|| damaged(line))?),
                "trusted" => trusted.push(place(what).ok_or_else(|| damaged(line))?),
                "spurious" => ledger.note_spurious_bound(),
                "reuse" => ledger.note_reuse_bound(),
                "unchecked" => ledger.note_unchecked_memory(),
                "sampled" => ledger.note_sampled_accesses(),
                "checked" => ledger.note_operation(),
                "depth" => ledger.note_depth(what.parse().map_err(|_| damaged(line))?),
                "rest" => rest.push_str(&format!("{what}\n")),
                "end" => is_whole = text.strip_suffix(&format!("{line}\n")).is_some_and(|rest| what == checksum(rest)),
                _ => return Err(damaged(line)),
            }
        }
        match (stats, rest.parse()) {
            (Some(stats), Ok(rest)) if is_whole => {
                ledger.take_over(&bounded, &assumed, &trusted);
                Ok(Kept { stats, cut, rest })
            }
            _ => Err("it is damaged".to_owned()),
        }
    }

    /// Saves a search.
    pub(super) fn write(&self, Kept { stats, cut, rest }: &Kept, ledger: &Ledger) {
        let mut text = self.head.clone();
        let Stats { executions, completed, blocked, discarded, failed, abandoned, steps, pending, divergences, .. } =
            stats;
        let counts = [executions, completed, blocked, discarded, failed, abandoned, steps, pending, divergences];
        text.push_str(&format!("counts {}\n", counts.map(u64::to_string).join(" ")));
        cut.iter().for_each(|steps| text.push_str(&format!("cut {steps}\n")));
        ledger.open_from_here().iter().for_each(|name| text.push_str(&format!("hidden {name:x}\n")));
        let reached = ledger.marked().into_iter().filter(|mark| mark.is_reached && !mark.name.contains('\n'));
        reached.for_each(|mark| text.push_str(&format!("reached {}\n", mark.name)));
        let at = |place: &Place| format!("{} {} {}", place.line, place.column, place.file);
        for (place, bound) in ledger.bounded_loops() {
            text.push_str(&format!("bounded {bound} {}\n", at(&place)));
        }
        ledger.assumed_loops().iter().for_each(|place| text.push_str(&format!("assumed {}\n", at(place))));
        ledger.trusted_accesses().iter().for_each(|place| text.push_str(&format!("trusted {}\n", at(place))));
        let known = [
            ("spurious", ledger.is_spurious_bound_met()),
            ("reuse", ledger.is_reuse_bound_met()),
            ("unchecked", ledger.has_unchecked_memory()),
            ("sampled", ledger.has_sampled_accesses()),
            ("checked", ledger.has_operations()),
        ];
        known.iter().filter(|(_, holds)| *holds).for_each(|(word, _)| text.push_str(&format!("{word}\n")));
        text.push_str(&format!("depth {}\n", ledger.depth()));
        rest.to_string().lines().for_each(|line| text.push_str(&format!("rest {line}\n")));
        text.push_str(&format!("end {}\n", checksum(&text)));
        if let Err(error) = replace(&self.path, &text) {
            say(&format!("the checkpoint `{}` cannot be written: {error}", self.path.display()));
        }
    }

    /// Reports whether the file was saved or removed: it stays only while the search is unfinished.
    pub(super) fn finish(&self, coverage: &Coverage) {
        match coverage {
            Coverage::Stopped(StopReason::Time | StopReason::Interrupted | StopReason::Executions(_)) => {
                if !self.path.exists() {
                    // That it cannot be written was reported.
                    return;
                }
                say(&format!("the search is saved in `{}`; run the same test again to resume it", self.path.display()));
            }
            Coverage::Complete | Coverage::Stopped(_) => {
                // If it cannot be removed, the next search reports that.
                let _ = fs::remove_file(&self.path);
            }
        }
    }
}

/// Returns the checksum in the last line, by which a changed file is detected.
fn checksum(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

fn damaged(line: &str) -> String {
    format!("it has the invalid line `{line}`")
}

fn counts(text: &str) -> Option<Stats> {
    let counts: Vec<u64> = text.split(' ').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [executions, completed, blocked, discarded, failed, abandoned, steps, pending, divergences] =
        counts.try_into().ok()?;
    let stats = Stats { executions, completed, blocked, discarded, failed, abandoned, ..Stats::default() };
    Some(Stats { steps, pending, divergences, ..stats })
}

/// Reads `LINE COLUMN FILE`.
fn place(text: &str) -> Option<Place> {
    let mut words = text.splitn(3, ' ');
    let (line, column) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Place { file: words.next()?.to_owned(), line, column })
}

/// Reads `BOUND LINE COLUMN FILE`.
fn bounded_loop(text: &str) -> Option<(Place, u32)> {
    let (bound, at) = text.split_once(' ')?;
    Some((place(at)?, bound.parse().ok()?))
}

/// Identifies this program: the version of this crate, and the size and time of the executable.
fn program() -> String {
    let file = std::env::current_exe().and_then(fs::metadata);
    let built = file.as_ref().ok().and_then(|file| file.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let size = file.map_or(0, |file| file.len());
    format!("{} {size} {}", env!("CARGO_PKG_VERSION"), built.map_or(0, |built| built.as_nanos()))
}

/// Replaces the file atomically, so that there is always a complete checkpoint.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.to_path_buf().into_os_string();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> Keeper {
        let path = std::env::temp_dir().join(format!("teetotal-checkpoint-{}", std::process::id()));
        Keeper { path, head: format!("{TITLE}\ntest of checkpoints\n") }
    }

    /// Creates a ledger in which everything is recorded once.
    fn full() -> Ledger {
        let ledger = Ledger::default();
        let place = |line| Place { file: "a file.rs".to_owned(), line, column: 2 };
        ledger.take_over(&[(place(1), 4)], &[place(2)], &[place(3)]);
        [-5, 5, i64::MIN].into_iter().for_each(|name| ledger.open_at(name));
        ledger.note_spurious_bound();
        ledger.note_reuse_bound();
        ledger.note_unchecked_memory();
        ledger.note_sampled_accesses();
        ledger.note_operation();
        ledger.note_depth(7);
        ledger
    }

    /// Everything that a result says of a ledger.
    fn told(ledger: &Ledger) -> String {
        let loops = (ledger.bounded_loops(), ledger.assumed_loops(), ledger.trusted_accesses());
        let bounds = (ledger.is_spurious_bound_met(), ledger.is_reuse_bound_met());
        let memory = (ledger.has_unchecked_memory(), ledger.has_sampled_accesses());
        format!(
            "{loops:?} {bounds:?} {memory:?} {:?} {} {}",
            ledger.open_from_here(),
            ledger.has_operations(),
            ledger.depth()
        )
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let keeper = keeper();
        let stats = Stats { executions: 3, completed: 2, divergences: 1, ..Stats::default() };
        let kept = Kept { stats, cut: Some(9), rest: "0.0.1 1..2\n".parse().expect("it is a path") };
        for ledger in [Ledger::default(), full()] {
            keeper.write(&kept, &ledger);
            let text = fs::read_to_string(&keeper.path).expect("it is there");
            let again = Ledger::default();
            let read = keeper.parse(&text, &again).expect("it is whole");
            assert_eq!(told(&again), told(&ledger));
            assert_eq!((read.stats, read.cut, &read.rest), (kept.stats, kept.cut, &kept.rest));
            for at in 0..text.len() {
                let mut damaged = text.clone().into_bytes();
                damaged[at] ^= 1;
                let damaged = String::from_utf8(damaged).expect("the text is ASCII");
                assert!(keeper.parse(&damaged, &Ledger::default()).is_err(), "byte {at} of {text}");
                assert!(keeper.parse(&text[..at], &Ledger::default()).is_err(), "{at} bytes of {text}");
            }
        }
        fs::remove_file(&keeper.path).expect("it is there");
    }
}
