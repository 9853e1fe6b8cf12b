//! What there is to see at the end of an execution.

use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Status, ThreadId, Value};

use super::graph::{NONE, Role};
use super::linear;
use super::walk::{Rewindable, Walk};
use crate::collector::Collector;
use crate::driver::Flow;
use crate::outcome::StopReason;

/// The position of a walk: which alternative was taken at each level.
pub type Path = Box<[u32]>;

impl<S: Rewindable, M: Model, const N: usize> FinalState for Walk<S, M, N> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => self.graph.value_of(self.graph.cell(loc.index()).newest, loc.index()),
        }
    }
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    fn all_threads(&self) -> impl Iterator<Item = ThreadId> + use<S, M, N> {
        (0..self.subject.n_threads()).map(ThreadId::at)
    }

    /// Which alternative was taken at each level.
    pub(super) fn path(&self) -> Path {
        self.levels.iter().map(|level| level.taken).collect()
    }

    /// The steps of an execution with this trace.
    pub(super) fn steps(&self) -> Vec<Step> {
        linear::steps_of::<M, N>(&self.graph, self.subject.n_threads())
    }

    /// Whether every thread that waits does so for good: it reads the newest write, and that does not let it go on.
    pub(super) fn waits_in_earnest(&self) -> bool {
        self.all_threads().all(|thread| {
            let last = self.graph.strand(thread).last;
            if last == NONE || self.graph.node(last).role != Role::Blocked {
                return true;
            }
            let node = self.graph.node(last);
            self.graph.cell(node.loc()).newest == node.source
        })
    }

    /// The thread that runs on and on without an operation, if one does.
    pub(super) fn endless(&self) -> Option<StopReason> {
        self.all_threads().find_map(|thread| match self.subject.failure(thread)? {
            Failure::EndlessLoop { instruction } => Some(StopReason::EndlessLoop { thread, instruction }),
            _ => None,
        })
    }

    fn ending(&self) -> Ending {
        let mut discarded = false;
        let mut blocked = Vec::new();
        for thread in self.all_threads() {
            match self.subject.status(thread) {
                Status::Failed(_) => return Ending::Failed,
                Status::Discarded => discarded = true,
                Status::Ready(_) => blocked.push(thread),
                Status::NotStarted | Status::Finished => {}
            }
        }
        match (discarded, blocked.is_empty()) {
            (true, _) => Ending::Discarded,
            (false, true) => Ending::Completed,
            (false, false) => Ending::Blocked(blocked),
        }
    }

    /// Shows the execution to monitors that look at states only.
    pub(super) fn show(&self, collector: &mut Collector<Path>, nothing: &Trace) -> Flow {
        let view = |failure| View { trace: nothing, events: &[], state: self, failure };
        collector.begin_execution();
        let mut flow = Flow::Continue;
        for thread in self.all_threads() {
            if let Some(failure) = self.subject.failure(thread) {
                let next = collector.watch_step(&view(Some((thread, failure))), || self.path());
                flow = if flow == Flow::Continue { next } else { flow };
            }
        }
        let next = collector.watch_end(&view(None), &self.ending(), || self.path());
        if flow == Flow::Continue { next } else { flow }
    }
}
