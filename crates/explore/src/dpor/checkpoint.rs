//! Checkpoints: a search as text, from which it goes on another day.
//!
//! A checkpoint has, in the order of the walk, the stretches that are done and the jobs that are open. Of a stretch it
//! has the counts, and the ways to the executions that showed something new: a final state, a witness, a finding. To go
//! on means to walk these ways again, which gives the same as before, and to do the open jobs.

use std::sync::Arc;

use teetotal_judge::MonitorId;
use teetotal_memory::{Model, ModelId};
use teetotal_program::ir::Program;
use thiserror::Error;

use super::job::{Job, MAX_WORDS, TooLarge, with_growing_sets};
use super::leaf::{Found, Show};
use super::ledger::{Ledger, Part};
use super::position::{Lost, Path};
use super::walk::{Rewindable, Stand, Walk};
use crate::collector::Collector;
use crate::outcome::{Stats, StopReason};

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
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CheckpointError {
    #[error("this is no checkpoint: it does not begin with `{}`", text::TITLE)]
    NoCheckpoint,
    #[error("the checkpoint is of format {found}; this version reads format {}", text::FORMAT)]
    Format { found: String },
    #[error("the checkpoint is damaged: its end is missing, or its checksum is not that of its text")]
    Damaged,
    #[error("line {line} of the checkpoint cannot be read: `{found}`")]
    Line { line: usize, found: String },
    #[error("the checkpoint is of another search: its {what} is `{found}`, not `{expected}`")]
    Other { what: &'static str, found: String, expected: String },
    #[error("the checkpoint is of another version of the program `{program}`")]
    OtherProgram { program: String },
    #[error("the checkpoint leads to an execution that there is not; it was made by another version of teetotal")]
    NoSuchPath,
}

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

/// The ways to everything that was found.
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
    pub(super) fn recreate<S: Rewindable + Clone, M: Model>(
        &self,
        subject: &S,
        collector: &dyn Fn() -> Collector<Found>,
    ) -> Result<Ledger, CheckpointError> {
        let walked = with_growing_sets!(recreate_sized::<S, M>(self, subject, collector));
        walked.unwrap_or(Err(CheckpointError::NoSuchPath))
    }
}

fn recreate_sized<S: Rewindable + Clone, M: Model, const N: usize>(
    saved: &Saved,
    subject: &S,
    collector: &dyn Fn() -> Collector<Found>,
) -> Result<Result<Ledger, CheckpointError>, TooLarge> {
    match try_recreate::<S, M, N>(saved, subject, collector) {
        Ok(ledger) => Ok(Ok(ledger)),
        Err(Lost::NoRoom) if N < MAX_WORDS => Err(TooLarge),
        Err(_) => Ok(Err(CheckpointError::NoSuchPath)),
    }
}

fn try_recreate<S: Rewindable + Clone, M: Model, const N: usize>(
    saved: &Saved,
    subject: &S,
    collector: &dyn Fn() -> Collector<Found>,
) -> Result<Ledger, Lost> {
    let mut walk = Walk::<S, M, N>::new(subject.clone());
    let mut parts = Vec::new();
    for Stretch { start, stats, cut, seen } in &saved.done {
        let mut show = Show::<S, M>::new(subject, collector());
        for path in seen {
            if walk.follow(path)? != Stand::Deeper || walk.levels.len() != path.len() {
                return Err(Lost::NoSuchPath);
            }
            match walk.descend() {
                // Whether monitors want to stop here is known.
                Stand::Maximal => show.graph(&walk),
                Stand::NoRoom => return Err(Lost::NoRoom),
                Stand::DeadEnd | Stand::Refused | Stand::Fickle | Stand::Deeper => return Err(Lost::NoSuchPath),
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
