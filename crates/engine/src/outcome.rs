//! Whether a search looked at everything, and what it did.

use teetotal_program::ThreadId;

/// Whether a search looked at every execution of its model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Coverage {
    Complete,
    Stopped(StopReason),
}

/// Why a search looked at less than everything, with the limit that was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// It was to stop at the first violation, and there was one.
    Violation,
    /// So many executions were run.
    Executions(u64),
    /// So many states were stored.
    States(u64),
    /// An execution took so many steps.
    Steps(u64),
    /// A buffer held so many stores, and another one was held back.
    Buffer(u64),
    /// The stored states took so many bytes.
    Memory(u64),
    /// Executions with more preemptions were left out.
    Preemptions(u64),
    /// A thread ran on and on without an operation on memory.
    EndlessLoop { thread: ThreadId, instruction: u32 },
    /// A loop fills a buffer in a way that acceleration does not reach the end of.
    UnboundedLoop { thread: ThreadId, instruction: u32 },
    /// The program did something else when it was run again, so that nothing can be said about it.
    NotDeterministic,
    /// At so many points the code did something else when it was run again; executions from there on are missing.
    Unrepeatable(u64),
    /// A fairness bound left out executions in which a loop has more iterations.
    Turns,
    /// So many reorderings that may make a program not robust were neither confirmed by an execution nor ruled out.
    Unconfirmed(u64),
    /// The time was over.
    Time,
    /// The user wanted it to stop.
    Interrupted,
    /// It was abandoned for another search, which begins anew or has everything: no result is reported with this.
    Superseded,
    /// Whether an execution of the model satisfies all assumptions was not found out.
    Continuation,
    /// Whether SC has some executions of the model too, in which an atomic section is blocked, was not found out.
    AtomicSection,
    /// Whether events can happen in another order was not found out.
    Undecided,
}

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Executions run by a stateless search, or maximal states found by the stateful one.
    pub executions: u64,
    /// Of these, executions in which every thread ended.
    pub completed: u64,
    /// Of these, executions in which a thread waits forever.
    pub blocked: u64,
    /// Of these, executions that an assumption or the filter rules out.
    pub discarded: u64,
    /// Of these, executions in which a thread went wrong.
    pub failed: u64,
    /// Executions that were begun and not counted, because they turned out to be none or to be run elsewhere.
    pub abandoned: u64,
    /// Points at which the search could not continue because of a nondeterministic replay.
    pub divergences: u64,
    /// Classes of executions that read the same values, where the search tells them apart.
    pub classes: u64,
    /// Questions that the order solver answered.
    pub solver_calls: u64,
    /// What the answers took: frontiers and conflicts. It is the same on every machine.
    pub solver_work: u64,
    /// Different states stored.
    pub states: u64,
    /// Of these, states of an abstract search, which over-approximates the contents of buffers.
    pub coarse: u64,
    /// Steps performed.
    pub steps: u64,
    /// Bytes that the stored states took at the end.
    pub bytes: u64,
    /// The maximum number of graphs that were kept at once to continue from.
    pub pending: u64,
}

impl Stats {
    /// Adds what another part of the search did.
    pub fn add(&mut self, other: &Stats) {
        let Stats { executions, completed, blocked, discarded, failed, abandoned, divergences, .. } = other;
        let Stats { classes, solver_calls, solver_work, states, coarse, steps, bytes, pending, .. } = other;
        self.executions += executions;
        self.completed += completed;
        self.blocked += blocked;
        self.discarded += discarded;
        self.failed += failed;
        self.divergences += divergences;
        self.abandoned += abandoned;
        self.classes += classes;
        self.solver_calls += solver_calls;
        self.solver_work += solver_work;
        self.states += states;
        self.coarse += coarse;
        self.pending = self.pending.max(*pending);
        self.steps += steps;
        self.bytes += bytes;
    }

    /// Adds what an abstract search did; what it found does not count.
    pub fn add_coarse(&mut self, coarse: &Stats) {
        self.states += coarse.states;
        self.coarse += coarse.states;
        self.steps += coarse.steps;
        self.bytes += coarse.bytes;
    }
}

impl Coverage {
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self == Coverage::Complete
    }

    /// Names the divergences of a search that would otherwise be complete, or complete within its bound.
    #[must_use]
    pub fn with_divergences(self, stats: &Stats) -> Self {
        match self {
            Coverage::Complete | Coverage::Stopped(StopReason::Preemptions(_) | StopReason::Turns)
                if stats.divergences > 0 =>
            {
                Coverage::Stopped(StopReason::Unrepeatable(stats.divergences))
            }
            coverage => coverage,
        }
    }
}
