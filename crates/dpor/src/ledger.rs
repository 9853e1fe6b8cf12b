//! What is done of a search and what is open, in the order of the walk.

use teetotal_engine::{Collector, Coverage, StopReason};

use super::execution::Found;
use super::job::Job;
use super::position::Path;

/// The state of a search: stretches of the walk that are done, and jobs that are not.
pub(super) struct Ledger {
    /// In the order of the walk.
    pub(super) parts: Vec<Part>,
    /// In the order of the walk.
    pub(super) open: Vec<Job>,
}

/// A stretch of the walk that is done: from `start` to the next open job.
pub(super) struct Part {
    pub(super) start: Path,
    pub(super) collector: Collector<Found>,
    pub(super) stopped: Option<StopReason>,
    /// What cut an execution short, if something did.
    pub(super) cut: Option<StopReason>,
}

impl Ledger {
    /// Nothing is done.
    pub(super) fn new() -> Self {
        Ledger { parts: Vec::new(), open: vec![Job::all()] }
    }

    /// How many executions were seen.
    pub(super) fn executions(&self) -> u64 {
        self.parts.iter().map(|part| part.collector.stats.executions).sum()
    }

    /// Whether somebody wanted to stop; a violation does not keep others from what comes before it.
    pub(super) fn is_stopped(&self) -> bool {
        self.parts.iter().any(|part| part.stopped.is_some_and(|reason| reason != StopReason::Violation))
    }

    /// Adds parts, and joins those with nothing open between them.
    pub(super) fn add(&mut self, mut parts: Vec<Part>) {
        parts.append(&mut self.parts);
        parts.sort_by(|a, b| a.start.cmp(&b.start));
        let mut open = self.open.iter().peekable();
        for part in parts {
            let mut is_next = false;
            while open.next_if(|job| job.start().lt(part.start.iter().copied())).is_some() {
                is_next = true;
            }
            match self.parts.last_mut() {
                Some(before) if !is_next && before.stopped.is_none() => before.append(part),
                _ => self.parts.push(part),
            }
        }
    }

    /// Puts the parts together up to the first that found what ends the search.
    pub(super) fn put_together(self, mut all: Collector<Found>) -> (Collector, Coverage) {
        let (mut stopped, mut cut) = (None, None);
        for part in self.parts {
            all.append(part.collector);
            stopped = stopped.or(part.stopped);
            cut = cut.or(part.cut);
            if part.stopped == Some(StopReason::Violation) {
                stopped = part.stopped;
                break;
            }
        }
        let coverage = stopped.or(cut).map_or(Coverage::Complete, Coverage::Stopped);
        (all.map(|found| found.schedule), coverage)
    }
}

impl Part {
    /// Adds the part that comes directly after it.
    fn append(&mut self, later: Part) {
        self.collector.append(later.collector);
        self.cut = self.cut.or(later.cut);
        self.stopped = later.stopped;
    }
}
