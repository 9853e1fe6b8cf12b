//! A part of the walk that can be done on its own, by another worker or another day.

use std::cmp::Ordering;

use teetotal_engine::driver::Flow;
use teetotal_engine::{Limits, Stats, StopReason};

use super::consistency::Consistency;
use super::execution::CompleteGraph;
use super::position::{Lost, Path};
use super::walk::{Reached, Rewindable, Walk};

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

    /// The path to its first execution, as far as it is given.
    pub(super) fn start(&self) -> impl Iterator<Item = u32> + '_ {
        self.path.iter().copied().chain([self.from])
    }

    /// Which of two jobs comes first in a single walk.
    pub(super) fn order(&self, other: &Job) -> Ordering {
        self.start().cmp(other.start())
    }
}

/// Somebody who is shown each complete graph, and asked now and then what to do.
pub(super) trait Visitor<S> {
    /// Is shown a complete graph.
    fn graph(&mut self, graph: &dyn CompleteGraph<S>) -> Flow;

    /// What the rest of the walk is to do, after so many steps of this job.
    fn wish(&mut self, _steps: u64) -> Wish {
        Wish::GoOn
    }

    /// How many preemptions an execution may have, if not any number.
    fn bound(&self) -> Option<u64> {
        None
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
    /// It is not done, and what is left was given away.
    Stopped(StopReason),
}

/// What became of a job.
pub(super) struct Done {
    pub(super) end: JobEnd,
    /// What cut an execution short, if something did.
    pub(super) cut: Option<StopReason>,
    pub(super) stats: Stats,
}

/// The largest sets of nodes have so many words.
pub(super) const MAX_WORDS: usize = 64;

/// Calls `$function` with sets of nodes of growing size until it returns something. Each size is another copy of the walk.
macro_rules! with_growing_sets {
    ($function:ident::<$s:ty, $c:ty>($($argument:expr),*)) => {
        $function::<$s, $c, 1>($($argument),*)
            .or_else(|_| $function::<$s, $c, 3>($($argument),*))
            .or_else(|_| $function::<$s, $c, 5>($($argument),*))
            .or_else(|_| $function::<$s, $c, 9>($($argument),*))
            .or_else(|_| $function::<$s, $c, { $crate::job::MAX_WORDS }>($($argument),*))
    };
}
pub(super) use with_growing_sets;

/// So many executions must be performed for each that does something else when it is run again.
const PERFORMED_FOR_EACH_LEFT_OUT: u64 = 100;

/// So many of these are left out before the others are counted.
const LEFT_OUT_AT_FIRST: u64 = 10;

/// A graph has more nodes than fit in the sets.
pub(super) struct TooLarge;

/// Does `job`.
pub(super) fn run<S: Rewindable, C: Consistency>(
    subject: &dyn Fn() -> S,
    rules: C,
    job: Job,
    limits: &Limits,
    visitor: &mut dyn Visitor<S>,
) -> Done {
    let base = job.path.len();
    let stats = Stats::default();
    let (resume_at, cut) = (None, None);
    let mut progress = Progress { job, base, resume_at, cut, stats, shown: 0, limits, visitor };
    let walked = with_growing_sets!(run_sized::<S, C>(subject, rules, &mut progress));
    let end = walked.unwrap_or_else(|TooLarge| unreachable!("what does not fit in the largest sets is cut short"));
    let end = if end == JobEnd::Done && progress.diverges_often() {
        JobEnd::Stopped(StopReason::NotDeterministic)
    } else {
        end
    };
    Done { end, cut: progress.cut, stats: progress.stats }
}

fn run_sized<S: Rewindable, C: Consistency, const N: usize>(
    subject: &dyn Fn() -> S,
    rules: C,
    progress: &mut Progress<'_, S>,
) -> Result<JobEnd, TooLarge> {
    let mut walk = Walk::<S, C, N>::new(subject(), rules);
    walk.bound = progress.visitor.bound();
    let reached = progress.enter(&mut walk)?;
    let result = progress.walk(&mut walk, reached);
    if let (true, Some(bound)) = (walk.left_out, walk.bound) {
        progress.cut.get_or_insert(StopReason::Preemptions(bound));
    }
    progress.stats.pending = progress.stats.pending.max(walk.peak as u64);
    walk.settle();
    result
}

/// A job that is being done; it may have to be taken up again with larger sets of nodes.
struct Progress<'p, S> {
    job: Job,
    /// The level at which the job begins.
    base: usize,
    /// Where the walk was when the sets became too small: at each level the alternative chosen and the end of them.
    resume_at: Option<Vec<(u32, u32)>>,
    /// What cut an execution short, if something did.
    cut: Option<StopReason>,
    stats: Stats,
    /// How many executions were shown.
    shown: u64,
    limits: &'p Limits,
    visitor: &'p mut dyn Visitor<S>,
}

impl<S: Rewindable> Progress<'_, S> {
    /// Brings a walk to the beginning of the job, or to where it was.
    fn enter<C: Consistency, const N: usize>(&mut self, walk: &mut Walk<S, C, N>) -> Result<Reached, TooLarge> {
        if let Some(levels) = &self.resume_at {
            let path: Path = levels.iter().map(|(chosen, _)| *chosen).collect();
            let reached = follow(walk, &path)?;
            // What was given away stays so.
            walk.levels.iter_mut().zip(levels).for_each(|(level, (_, of))| level.of = level.of.min(*of));
            return Ok(reached);
        }
        if self.job == Job::all() {
            return Ok(Reached::Extended);
        }
        let start: Path = self.job.start().collect();
        let reached = follow(walk, &start)?;
        if let (Some(to), Some(level)) = (self.job.to, walk.levels.get_mut(self.base)) {
            level.of = level.of.min(to);
        }
        self.count(reached);
        Ok(reached)
    }

    fn walk<C: Consistency, const N: usize>(
        &mut self,
        walk: &mut Walk<S, C, N>,
        mut reached: Reached,
    ) -> Result<JobEnd, TooLarge> {
        loop {
            if reached == Reached::Extended && self.is_cut(walk) {
                if let (true, Some(reason)) = (S::RUNS_AGAIN, self.cut) {
                    // Real code that goes on and on is not run to there again and again.
                    return Ok(JobEnd::Stopped(reason));
                }
            } else if reached == Reached::Extended {
                reached = walk.descend();
                self.count(reached);
                if reached == Reached::Extended {
                    continue;
                }
            }
            if let Some(end) = self.stop_here(walk, reached)? {
                return Ok(end);
            }
            match walk.next(self.base) {
                None => return Ok(JobEnd::Done),
                Some(next) => reached = next,
            }
            self.count(reached);
        }
    }

    /// Whether too many executions did something else when they were run again.
    fn diverges_often(&self) -> bool {
        !self.limits.leaves_out_unrepeatable && self.stats.divergences * PERFORMED_FOR_EACH_LEFT_OUT > self.shown
    }

    fn count(&mut self, reached: Reached) {
        match reached {
            Reached::Extended => self.stats.steps += 1,
            Reached::DeadEnd => self.stats.abandoned += 1,
            Reached::Complete | Reached::NoRoom | Reached::Inconsistent | Reached::Diverged => {}
        }
    }

    /// Whether the execution is as long as the limit allows, and longer.
    fn is_cut<C: Consistency, const N: usize>(&mut self, walk: &Walk<S, C, N>) -> bool {
        let depth = walk.graph.n_operations() as u64;
        let is_cut = self.limits.steps.is_some_and(|limit| depth > limit);
        if is_cut && self.cut.is_none_or(|cut| matches!(cut, StopReason::Preemptions(_))) {
            self.cut = Some(StopReason::Steps(depth - 1));
            walk.subject.give_up();
        }
        is_cut
    }

    /// The walk does not go deeper here.
    fn stop_here<C: Consistency, const N: usize>(
        &mut self,
        walk: &mut Walk<S, C, N>,
        reached: Reached,
    ) -> Result<Option<JobEnd>, TooLarge> {
        match reached {
            Reached::NoRoom if N < MAX_WORDS => {
                self.resume_at = Some(walk.levels.iter().map(|level| (level.chosen, level.of)).collect());
                return Err(TooLarge);
            }
            Reached::NoRoom => {
                self.cut.get_or_insert(StopReason::Steps(walk.graph.len() as u64));
            }
            Reached::Complete => {
                if let Some(end) = self.complete(walk) {
                    return Ok(Some(end));
                }
            }
            Reached::Diverged => {
                self.stats.divergences += 1;
                walk.subject.give_up();
                if self.stats.divergences > LEFT_OUT_AT_FIRST && self.diverges_often() {
                    return Ok(Some(JobEnd::Stopped(StopReason::NotDeterministic)));
                }
            }
            Reached::DeadEnd | Reached::Inconsistent | Reached::Extended => {}
        }
        Ok(self.heed(walk))
    }

    /// Nothing can be added to the graph of `walk`.
    fn complete<C: Consistency, const N: usize>(&mut self, walk: &mut Walk<S, C, N>) -> Option<JobEnd> {
        if let Some(reason) = walk.endless() {
            self.cut.get_or_insert(reason);
            return None;
        }
        if !walk.waits_forever() {
            self.stats.abandoned += 1;
            return None;
        }
        self.shown += 1;
        let Flow::Stop(reason) = self.visitor.graph(walk) else { return None };
        if let (StopReason::Executions(_), Some(last)) = (reason, walk.levels.len().checked_sub(1)) {
            // This execution was not counted, and is left like those after it.
            let job = walk.rest_of(last, walk.levels[last].chosen);
            walk.levels[last].of = job.from;
            self.stats.steps -= 1;
            self.visitor.give(job);
        }
        self.stop(walk, reason)
    }

    /// Does what the visitor wants.
    fn heed<C: Consistency, const N: usize>(&mut self, walk: &mut Walk<S, C, N>) -> Option<JobEnd> {
        match self.visitor.wish(self.stats.steps) {
            Wish::GoOn => None,
            Wish::Share => {
                if let Some(job) = walk.split(self.base) {
                    self.visitor.give(job);
                }
                None
            }
            Wish::Yield => {
                self.give_all(walk);
                Some(JobEnd::Done)
            }
            Wish::Stop(reason) => self.stop(walk, reason),
        }
    }

    fn stop<C: Consistency, const N: usize>(&mut self, walk: &mut Walk<S, C, N>, reason: StopReason) -> Option<JobEnd> {
        // Nobody wants to see what comes after a violation that ends the search.
        if reason != StopReason::Violation {
            self.give_all(walk);
        }
        Some(JobEnd::Stopped(reason))
    }

    /// Gives away everything that is left.
    fn give_all<C: Consistency, const N: usize>(&mut self, walk: &mut Walk<S, C, N>) {
        while let Some(job) = walk.split(self.base) {
            self.visitor.give(job);
        }
    }
}

/// Goes to a position that there is, unless the subject does something else than before.
fn follow<S: Rewindable, C: Consistency, const N: usize>(
    walk: &mut Walk<S, C, N>,
    path: &[u32],
) -> Result<Reached, TooLarge> {
    match walk.follow(path) {
        Ok(reached) => Ok(reached),
        Err(Lost::NoRoom) => Err(TooLarge),
        // Real code may do something else when it is run again.
        Err(Lost::NoSuchPath) if S::RUNS_AGAIN => Ok(Reached::Diverged),
        Err(Lost::NoSuchPath) => unreachable!("a job begins on a path that there is"),
    }
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// Gives away the last stretch of what is left from `base` on: the rest of the highest level that has one.
    fn split(&mut self, base: usize) -> Option<Job> {
        let index = (base..self.levels.len()).find(|&index| self.levels[index].chosen + 1 < self.levels[index].of)?;
        let job = self.rest_of(index, self.levels[index].chosen + 1);
        self.levels[index].of = job.from;
        Some(job)
    }

    /// The alternatives of a level from `from` on.
    fn rest_of(&self, index: usize, from: u32) -> Job {
        let path = self.levels[..index].iter().map(|level| level.chosen).collect();
        Job { path, from, to: Some(self.levels[index].of) }
    }
}
