//! The contract between the driver and a stateless search.

use teetotal_memory::{Step, Trace};

use crate::outcome::StopReason;

/// Chooses the steps of one execution after the other.
///
/// The driver calls `begin`; then `choose` before each step until none is possible or it abandons; then `end`.
pub trait Strategy {
    /// Whether there is another execution to run.
    fn begin(&mut self) -> bool;

    /// Picks the step to take next.
    ///
    /// `enabled` is never empty and is the same each time the same prefix is run. `trace` is the prefix.
    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice;

    /// Whether the execution, now that nothing more is possible, is one that was not shown before.
    fn is_new(&self) -> bool {
        true
    }

    /// The execution is over; `trace` is all of it.
    fn end(&mut self, _trace: &Trace) {}

    /// What the search has left out, now that it has no more executions to run.
    fn left_out(&self) -> Option<StopReason> {
        None
    }
}

/// What a strategy wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The step at this position of `enabled`.
    Take(usize),
    /// Nothing more of this execution.
    Abandon(Abandon),
}

/// Why an execution is not run to its end, or not shown there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abandon {
    /// The schedule that is replayed ends here.
    EndOfSchedule,
    /// The schedule that is replayed wants a step that is not possible.
    NotPossible,
    /// It was run before, and is run again only on the way to others.
    SeenBefore,
}
