//! A part of the walk that can be done on its own, by another worker or another day.

use std::cmp::Ordering;
use std::marker::PhantomData;

use teetotal_memory::Model;

use super::leaf::Path;
use super::walk::{Rewindable, Stand, Walk, WalkStats};
use crate::driver::Flow;
use crate::limits::Limits;
use crate::outcome::StopReason;

/// A part of the walk: below the end of `path`, the alternatives from `from` up to `to`, if there is an end to them.
///
/// Jobs that are made of one job are stretches of it, so that the order of their paths is the order of a single walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Job {
    pub(super) path: Path,
    pub(super) from: u32,
    pub(super) to: Option<u32>,
}

impl Job {
    /// The whole walk.
    pub(super) fn all() -> Self {
        Job { path: Path::default(), from: 0, to: None }
    }

    /// The way to its first execution, as far as it is given.
    pub(super) fn start(&self) -> impl Iterator<Item = u32> + '_ {
        self.path.iter().copied().chain([self.from])
    }

    /// Which of two jobs comes first in a single walk.
    pub(super) fn order(&self, other: &Job) -> Ordering {
        self.start().cmp(other.start())
    }
}

/// Somebody who is shown each maximal graph, and asked after each what to do.
pub(super) trait Visitor<S, M> {
    fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow;

    /// What the rest of the walk is to do.
    fn wish(&mut self, _nodes: u64) -> Wish {
        Wish::GoOn
    }

    /// Takes over a part of the job.
    fn give(&mut self, _job: Job) {}
}

/// What somebody wants of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    GoOn,
    /// Somebody else has nothing to do.
    Share,
    /// The rest is to be given away.
    Yield,
    Stop(StopReason),
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JobEnd {
    /// It is done, or its rest was given away.
    Done,
    Stopped(StopReason),
}

/// A job that is being done; it may have to be taken up again with larger sets of nodes.
struct Progress<'p, V, S, M> {
    job: Job,
    /// Where the walk was when the sets became too small.
    reached: Option<Path>,
    /// What cut an execution short, if something did.
    cut: Option<StopReason>,
    stats: WalkStats,
    limits: &'p Limits,
    visitor: &'p mut V,
    of: PhantomData<(S, M)>,
}

/// A graph has more nodes than fit in the sets.
struct TooLarge(u64);

/// Calls `$function` with sets of nodes of growing size until it gives something.
macro_rules! with_growing_sets {
    ($function:ident::<$s:ty, $m:ty>($($argument:expr),*)) => {
        $function::<$s, $m, 1>($($argument),*)
            .or_else(|_| $function::<$s, $m, 2>($($argument),*))
            .or_else(|_| $function::<$s, $m, 4>($($argument),*))
            .or_else(|_| $function::<$s, $m, 16>($($argument),*))
            .or_else(|_| $function::<$s, $m, 64>($($argument),*))
    };
}

/// What became of a job.
pub(super) struct Done {
    pub(super) end: JobEnd,
    /// What cut an execution short, if something did.
    pub(super) cut: Option<StopReason>,
    pub(super) stats: WalkStats,
}

/// Does `job`.
pub(super) fn run<S: Rewindable + Clone, M: Model>(
    subject: &S,
    job: Job,
    limits: &Limits,
    visitor: &mut impl Visitor<S, M>,
) -> Done {
    let stats = WalkStats::default();
    let mut progress = Progress { job, reached: None, cut: None, stats, limits, visitor, of: PhantomData };
    let walked = with_growing_sets!(run_sized::<S, M>(subject, &mut progress));
    let end = walked.unwrap_or_else(|TooLarge(nodes)| JobEnd::Stopped(StopReason::Steps(nodes)));
    Done { end, cut: progress.cut, stats: progress.stats }
}

fn run_sized<S: Rewindable + Clone, M: Model, const N: usize>(
    subject: &S,
    progress: &mut Progress<'_, impl Visitor<S, M>, S, M>,
) -> Result<JobEnd, TooLarge> {
    let mut walk = Walk::<S, M, N>::new(subject.clone());
    progress.enter(&mut walk)?;
    let result = progress.walk(&mut walk);
    progress.stats.add(&walk.stats);
    result
}

impl<V: Visitor<S, M>, S: Rewindable, M: Model> Progress<'_, V, S, M> {
    fn walk<const N: usize>(&mut self, walk: &mut Walk<S, M, N>) -> Result<JobEnd, TooLarge> {
        let base = self.job.path.len();
        loop {
            match walk.descend() {
                Stand::Deeper => {
                    let depth = walk.graph.len() as u64;
                    if self.limits.steps.is_none_or(|limit| depth <= limit) {
                        continue;
                    }
                    self.cut.get_or_insert(StopReason::Steps(depth - 1));
                }
                Stand::NoRoom => {
                    self.reached = Some(walk.path());
                    // What was given away stays so.
                    self.job.to = walk.levels.get(base).map(|level| level.of);
                    return Err(TooLarge(walk.graph.len() as u64));
                }
                Stand::DeadEnd => {}
                Stand::Maximal => {
                    if let Some(end) = self.maximal(walk, base) {
                        return Ok(end);
                    }
                }
            }
            loop {
                match walk.next(base) {
                    None => return Ok(JobEnd::Done),
                    Some(Stand::Deeper) => break,
                    Some(_) => {}
                }
            }
        }
    }

    /// Brings a walk to the beginning of the job, or to where it was.
    fn enter<const N: usize>(&self, walk: &mut Walk<S, M, N>) -> Result<(), TooLarge> {
        let start = match &self.reached {
            Some(reached) => reached.clone(),
            None if self.job == Job::all() => return Ok(()),
            None => self.job.start().collect(),
        };
        if !walk.follow(&start) {
            return Err(TooLarge(walk.graph.len() as u64));
        }
        let base = self.job.path.len();
        if let (Some(level), Some(to)) = (walk.levels.get_mut(base), self.job.to) {
            level.of = level.of.min(to);
        }
        Ok(())
    }

    /// Nothing can be added to the graph of `walk`.
    fn maximal<const N: usize>(&mut self, walk: &mut Walk<S, M, N>, base: usize) -> Option<JobEnd> {
        if let Some(reason) = walk.endless() {
            self.cut.get_or_insert(reason);
        } else if !walk.waits_in_earnest() {
            walk.stats.dead_ends += 1;
        } else if let Flow::Stop(reason) = self.visitor.graph(walk) {
            return Some(JobEnd::Stopped(reason));
        }
        match self.visitor.wish(walk.stats.nodes) {
            Wish::GoOn => None,
            Wish::Share => {
                if let Some(job) = walk.split(base) {
                    self.visitor.give(job);
                }
                None
            }
            Wish::Yield => {
                while let Some(job) = walk.split(base) {
                    self.visitor.give(job);
                }
                Some(JobEnd::Done)
            }
            Wish::Stop(reason) => Some(JobEnd::Stopped(reason)),
        }
    }
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// Gives away the last stretch of what is left above `base`: the rest of the highest level that has one.
    fn split(&mut self, base: usize) -> Option<Job> {
        let index = (base..self.levels.len()).find(|&index| self.levels[index].taken + 1 < self.levels[index].of)?;
        let path = self.levels[..index].iter().map(|level| level.taken).collect();
        let level = &mut self.levels[index];
        let job = Job { path, from: level.taken + 1, to: Some(level.of) };
        level.of = level.taken + 1;
        Some(job)
    }
}
