//! What is asked, and what is answered.

use teetotal_memory::{EventId, Source, Step};
use teetotal_program::Value;

/// Whether there is an execution in which each thread does so much of what it did in the trace.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// How many of its events each thread performs; a thread that is not mentioned performs none.
    ///
    /// A thread is taken only as far as it could have come: not into the middle of a step, not before it was started,
    /// and not past a join of a thread that has not ended.
    pub events: &'q [u32],
    /// What else holds. Every read that is not mentioned returns what it returned in the trace.
    pub demands: &'q [Demand],
}

/// What an execution is to fulfil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// The read takes its value from there.
    Source { read: EventId, source: Source },
    /// The read returns this value, whoever wrote it.
    ///
    /// What its thread does after it may depend on it, so such a read should be the last of its thread.
    Value { read: EventId, value: Value },
    /// One event happens before the other: a store when it reaches memory, anything else when it is performed.
    Before { earlier: EventId, later: EventId },
}

/// Whether there is such an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is, and these are its steps. Every store has reached memory at its end.
    Possible(Vec<Step>),
    /// There is none.
    Impossible,
    /// It was given up to find out.
    Unknown,
}

impl Answer {
    /// The steps of the execution, if there is one.
    #[must_use]
    pub fn steps(&self) -> Option<&[Step]> {
        match self {
            Answer::Possible(steps) => Some(steps),
            Answer::Impossible | Answer::Unknown => None,
        }
    }
}
