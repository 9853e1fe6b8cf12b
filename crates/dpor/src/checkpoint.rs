//! Checkpoints: a search as text, from which it goes on another day.
//!
//! A checkpoint has, in the order of the walk, the stretches that are done and the jobs that are open. Of a stretch it
//! has the counts, and the paths to the executions that showed something new: a final state, a witness, a finding. To go
//! on means to walk these paths again, which finds the same as before, and to do the open jobs.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use teetotal_engine::{Collector, Stats, StopReason};
use teetotal_judge::MonitorId;
use teetotal_memory::ModelId;
use teetotal_program::ir::Program;

use super::consistency::{Consistency, with_rules};
use super::execution::{Found, Show};
use super::job::{Job, MAX_WORDS, TooLarge, with_growing_sets};
use super::ledger::{Ledger, Part};
use super::position::{Lost, Path};
use super::walk::{Reached, Rewindable, Walk};

mod text;

/// How checkpoints of a search are taken.
#[expect(missing_debug_implementations, reason = "functions are not printable")]
pub struct Checkpoints<'c> {
    /// The checkpoint from which the search goes on, if it does not begin.
    pub from: Option<&'c str>,
    /// How many steps a worker takes between two questions of whether a checkpoint is due.
    pub interval: u64,
    /// Whether a checkpoint is due.
    pub due: &'c (dyn Fn() -> bool + Sync),
    /// Keeps a checkpoint. The last one is given when the search stops before its end.
    pub save: &'c dyn Fn(&str),
}

/// What is searched, and how, as far as the walk depends on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Searched {
    program: String,
    /// Over everything in the program that matters for what it does and what is asked of it.
    hash: u64,
    model: ModelId,
    monitors: Vec<MonitorId>,
    /// The limit on the steps of an execution.
    steps: Option<u64>,
    stop_at_first: bool,
}

/// A checkpoint that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Saved {
    done: Vec<Stretch>,
    open: Vec<Job>,
}

/// A stretch of the walk that is done.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Stretch {
    start: Path,
    stats: Stats,
    cut: Option<StopReason>,
    /// The executions that showed something new.
    seen: Vec<Path>,
}

/// Why a search does not go on from a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckpointError {
    NoCheckpoint,
    Format { found: String },
    Damaged,
    Line { line: usize, found: String },
    Other { what: &'static str, found: String, expected: String },
    OtherProgram { program: String },
    NoSuchPath,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::NoCheckpoint => {
                write!(formatter, "not a checkpoint: it does not begin with `{}`", text::TITLE)
            }
            CheckpointError::Format { found } => {
                write!(formatter, "the checkpoint has format {found}; this version reads format {}", text::FORMAT)
            }
            CheckpointError::Damaged => formatter
                .write_str("the checkpoint is damaged: its end is missing, or its checksum is not that of its text"),
            CheckpointError::Line { line, found } => {
                write!(formatter, "line {line} of the checkpoint cannot be read: `{found}`")
            }
            CheckpointError::Other { what, found, expected } => {
                write!(formatter, "the checkpoint is of another search: its {what} is `{found}`, not `{expected}`")
            }
            CheckpointError::OtherProgram { program } => {
                write!(formatter, "the checkpoint is of another version of the program `{program}`")
            }
            CheckpointError::NoSuchPath => formatter.write_str(
                "the checkpoint leads to an execution that does not exist; it was made by another version of teetotal",
            ),
        }
    }
}

impl Error for CheckpointError {}

impl Searched {
    /// The search of `program` under `model` for what `monitors` look for.
    #[must_use]
    pub fn new(
        program: &Arc<Program>,
        model: ModelId,
        monitors: &[MonitorId],
        steps: Option<u64>,
        stop_at_first: bool,
    ) -> Self {
        let (hash, monitors) = (hash_of(program), monitors.to_vec());
        Searched { program: program.name.clone(), hash, model, monitors, steps, stop_at_first }
    }
}

/// A hash over what a program does, and what is asked of it.
fn hash_of(program: &Program) -> u64 {
    let registers = program.threads.iter().map(|thread| thread.registers.iter().map(|r| r.initial).collect::<Vec<_>>());
    text::checksum(&format!("{program}{:?}{:?}", program.observed, registers.collect::<Vec<_>>()))
}

impl Ledger {
    /// The checkpoint of a search.
    pub(super) fn to_text(&self, of: &Searched) -> String {
        let stretch = |part: &Part| Stretch {
            start: part.start.clone(),
            stats: part.collector.stats,
            cut: part.cut,
            seen: seen(&part.collector),
        };
        Saved { done: self.parts.iter().map(stretch).collect(), open: self.open.clone() }.to_text(of)
    }
}

/// The paths to everything that was found.
fn seen(collector: &Collector<Found>) -> Vec<Path> {
    let witnesses = [&collector.satisfying, &collector.falsifying].into_iter().flatten();
    let findings = collector.findings.iter().map(|found| &found.place);
    let mut paths: Vec<Path> =
        collector.states.values().chain(witnesses).chain(findings).map(|found| found.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

impl Saved {
    /// The state of the search, with everything that it had found.
    pub(super) fn recreate<S: Rewindable + Clone + 'static>(
        &self,
        model: ModelId,
        subject: &S,
        collector: &dyn Fn() -> Collector<Found>,
    ) -> Result<Ledger, CheckpointError> {
        with_rules!(model, rules => {
            let show = || Show::new(subject, model, rules, collector());
            recreate(self, subject, rules, &show)
        })
    }
}

fn recreate<S: Rewindable + Clone, C: Consistency>(
    saved: &Saved,
    subject: &S,
    rules: C,
    show: &dyn Fn() -> Show,
) -> Result<Ledger, CheckpointError> {
    let walked = with_growing_sets!(recreate_sized::<S, C>(saved, subject, rules, show));
    walked.unwrap_or(Err(CheckpointError::NoSuchPath))
}

fn recreate_sized<S: Rewindable + Clone, C: Consistency, const N: usize>(
    saved: &Saved,
    subject: &S,
    rules: C,
    show: &dyn Fn() -> Show,
) -> Result<Result<Ledger, CheckpointError>, TooLarge> {
    match try_recreate::<S, C, N>(saved, subject, rules, show) {
        Ok(ledger) => Ok(Ok(ledger)),
        Err(Lost::NoRoom) if N < MAX_WORDS => Err(TooLarge),
        Err(_) => Ok(Err(CheckpointError::NoSuchPath)),
    }
}

fn try_recreate<S: Rewindable + Clone, C: Consistency, const N: usize>(
    saved: &Saved,
    subject: &S,
    rules: C,
    show: &dyn Fn() -> Show,
) -> Result<Ledger, Lost> {
    let mut walk = Walk::<S, C, N>::new(subject.clone(), rules);
    let mut parts = Vec::new();
    for Stretch { start, stats, cut, seen } in &saved.done {
        let mut show = show();
        for path in seen {
            if walk.follow(path)? != Reached::Extended || walk.levels.len() != path.len() {
                return Err(Lost::NoSuchPath);
            }
            match walk.descend() {
                // Whether monitors want to stop here is known.
                Reached::Complete => show.graph(&walk),
                Reached::NoRoom => return Err(Lost::NoRoom),
                Reached::DeadEnd | Reached::Inconsistent | Reached::Diverged | Reached::Extended => {
                    return Err(Lost::NoSuchPath);
                }
            };
        }
        let mut collector = show.collector;
        collector.stats = *stats;
        parts.push(Part { start: start.clone(), collector, stopped: None, cut: *cut });
    }
    for job in saved.open.iter().filter(|job| **job != Job::all()) {
        walk.follow(&job.start().collect::<Path>())?;
        if walk.levels[job.path.len()].of < job.to.unwrap_or(0) {
            return Err(Lost::NoSuchPath);
        }
    }
    Ok(Ledger { parts, open: saved.open.clone() })
}
