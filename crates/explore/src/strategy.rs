//! The contract between the driver and a stateless search.

use teetotal_memory::{Step, Trace};

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

    /// The execution is over; `trace` is all of it.
    fn end(&mut self, _trace: &Trace) {}
}

/// What a strategy wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The step at this position of `enabled`.
    Take(usize),
    /// Nothing more of this execution.
    Abandon(Abandon),
}

/// Why an execution is not run to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abandon {
    /// The schedule that is replayed ends here.
    EndOfSchedule,
    /// The schedule that is replayed wants a step that is not possible.
    NotPossible,
}
