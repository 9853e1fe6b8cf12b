//! Limits on a search. What they cut off is said in the outcome, never passed over.

use std::error::Error;
use std::fmt;

/// How far a search may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Executions that a stateless search runs.
    pub executions: Option<u64>,
    /// States that the stateful search stores.
    pub states: Option<u64>,
    /// Steps in one execution.
    pub steps: Option<u64>,
    /// Stores in one buffer.
    pub buffer: Option<u64>,
    /// Bytes that the stored states take.
    pub memory: Option<u64>,
    /// Preemptions in one execution of the bounded search; 0 leaves the executions without any.
    pub preemptions: Option<u64>,
    /// Whether executions that do something else when they are run again are left out, however many they are.
    pub leaves_out_unrepeatable: bool,
}

/// A limit that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LimitError {
    Zero { what: &'static str },
}

impl fmt::Display for LimitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::Zero { what } => write!(formatter, "the limit on {what} is 0, which leaves nothing to search"),
        }
    }
}

impl Error for LimitError {}

impl Default for Limits {
    /// Enough for every finite program of reasonable size, and an end for the others.
    fn default() -> Self {
        Limits {
            executions: None,
            states: None,
            steps: Some(1_000_000),
            buffer: None,
            memory: Some(8 << 30),
            preemptions: Some(2),
            leaves_out_unrepeatable: false,
        }
    }
}

impl Limits {
    /// How many executions a search that samples runs where no limit on them is set.
    pub const SAMPLES: u64 = 10_000;

    /// The names of all limits with what is set.
    #[must_use]
    pub fn entries(&self) -> [(&'static str, Option<u64>); 6] {
        [
            ("executions", self.executions),
            ("states", self.states),
            ("steps", self.steps),
            ("buffer", self.buffer),
            ("memory", self.memory),
            ("preemptions", self.preemptions),
        ]
    }

    /// Refuses limits that leave nothing to search.
    pub fn validate(&self) -> Result<(), LimitError> {
        let is_empty = |&(name, value): &(&str, Option<u64>)| value == Some(0) && name != "preemptions";
        match self.entries().into_iter().find(is_empty) {
            Some((what, _)) => Err(LimitError::Zero { what }),
            None => Ok(()),
        }
    }
}
