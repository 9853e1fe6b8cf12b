//! The search: the walk, what it shows, and when it stops.

use teetotal_memory::{Model, Step, Trace};

use super::leaf::Path;
use super::walk::{Rewindable, Stand, Walk};
use crate::collector::Collector;
use crate::driver::{Flow, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, Schedule, StopReason};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
}

/// How many nodes are added between two looks at the stop signal.
const SIGNAL_INTERVAL: u64 = 4_096;

/// Shows every trace of `subject` once.
pub fn search<S: Rewindable + Clone, M: Model>(
    subject: &S,
    mut collector: Collector<Path>,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> (Collector, Coverage) {
    let nothing = Trace::default();
    let mut show = Show { collector: &mut collector, nothing: &nothing };
    let coverage = walk_all::<S, M>(subject, &settings.limits, signal, &mut show);
    let collector = collector.map(|path| schedule_of::<S, M>(subject, &path));
    (collector, coverage)
}

/// Calls `each` with one execution for every trace of `subject`.
pub fn visit<S: Rewindable + Clone, M: Model>(
    subject: &S,
    limits: &Limits,
    each: &mut dyn FnMut(Vec<Step>),
) -> Coverage {
    walk_all::<S, M>(subject, limits, &|| None, &mut Each(each))
}

/// Somebody who is shown each maximal graph.
trait Visitor {
    fn graph<S: Rewindable, M: Model, const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow;
}

struct Show<'s> {
    collector: &'s mut Collector<Path>,
    nothing: &'s Trace,
}

impl Visitor for Show<'_> {
    fn graph<S: Rewindable, M: Model, const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        walk.show(self.collector, self.nothing)
    }
}

struct Each<'e>(&'e mut dyn FnMut(Vec<Step>));

impl Visitor for Each<'_> {
    fn graph<S: Rewindable, M: Model, const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        (self.0)(walk.steps());
        Flow::Continue
    }
}

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

/// The execution at the end of `path`.
fn schedule_of<S: Rewindable + Clone, M: Model>(subject: &S, path: &[u32]) -> Schedule {
    let found = with_growing_sets!(schedule_sized::<S, M>(subject, path));
    found.expect("a path that was walked can be walked again")
}

/// The same, if sets of this size suffice.
fn schedule_sized<S: Rewindable + Clone, M: Model, const N: usize>(subject: &S, path: &[u32]) -> Result<Schedule, ()> {
    let mut walk = Walk::<S, M, N>::new(subject.clone());
    if walk.follow(path) { Ok(Schedule::Steps(walk.steps())) } else { Err(()) }
}

/// A walk that may have to go on with larger sets of nodes.
struct Progress<'p, V> {
    path: Path,
    executions: u64,
    stopped: Option<StopReason>,
    limits: &'p Limits,
    signal: StopSignal<'p>,
    visitor: &'p mut V,
}

/// Walks to every maximal graph.
fn walk_all<S: Rewindable + Clone, M: Model>(
    subject: &S,
    limits: &Limits,
    signal: StopSignal<'_>,
    visitor: &mut impl Visitor,
) -> Coverage {
    let mut progress = Progress { path: Path::default(), executions: 0, stopped: None, limits, signal, visitor };
    let walked = with_growing_sets!(walk_sized::<S, M>(subject, &mut progress));
    walked.unwrap_or_else(|TooLarge(nodes)| Coverage::Stopped(StopReason::Steps(nodes)))
}

/// A graph has more nodes than fit in the sets.
struct TooLarge(u64);

fn walk_sized<S: Rewindable + Clone, M: Model, const N: usize>(
    subject: &S,
    progress: &mut Progress<'_, impl Visitor>,
) -> Result<Coverage, TooLarge> {
    let mut walk = Walk::<S, M, N>::new(subject.clone());
    walk.follow(&progress.path);
    let mut looked = 0;
    loop {
        match walk.descend() {
            Stand::Deeper => {
                let depth = walk.graph.len() as u64;
                if progress.limits.steps.is_none_or(|limit| depth <= limit) {
                    continue;
                }
                progress.stopped.get_or_insert(StopReason::Steps(depth - 1));
            }
            Stand::NoRoom => {
                progress.path = walk.path();
                return Err(TooLarge(walk.graph.len() as u64));
            }
            Stand::DeadEnd => {}
            Stand::Maximal => {
                if let Flow::Stop(reason) = progress.maximal(&mut walk) {
                    return Ok(Coverage::Stopped(reason));
                }
                if walk.stats.nodes - looked >= SIGNAL_INTERVAL {
                    looked = walk.stats.nodes;
                    if let Some(reason) = (progress.signal)() {
                        return Ok(Coverage::Stopped(reason));
                    }
                }
            }
        }
        loop {
            match walk.next(0) {
                None => return Ok(progress.stopped.map_or(Coverage::Complete, Coverage::Stopped)),
                Some(Stand::Deeper) => break,
                Some(_) => {}
            }
        }
    }
}

impl<V: Visitor> Progress<'_, V> {
    /// Nothing can be added to the graph of `walk`.
    fn maximal<S: Rewindable, M: Model, const N: usize>(&mut self, walk: &mut Walk<S, M, N>) -> Flow {
        if let Some(reason) = walk.endless() {
            self.stopped.get_or_insert(reason);
            return Flow::Continue;
        }
        if !walk.waits_in_earnest() {
            walk.stats.dead_ends += 1;
            return Flow::Continue;
        }
        if self.limits.executions.is_some_and(|limit| self.executions >= limit) {
            return Flow::Stop(StopReason::Executions(self.executions));
        }
        self.executions += 1;
        self.visitor.graph(walk)
    }
}
