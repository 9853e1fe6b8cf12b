//! The positions of the threads of a model when a search cannot continue an execution.

use std::fmt;
use std::panic::Location;

use teetotal_program::ThreadId;

/// The position of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    pub thread: ThreadId,
    /// How many operations it has performed.
    pub performed: u32,
    /// The place of the next.
    pub place: &'static Location<'static>,
}

impl Standing {
    /// Returns the name of the thread.
    #[must_use]
    pub fn name(&self) -> String {
        if self.thread.0 == 0 { "main".to_owned() } else { format!("T{}", self.thread) }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is at {}, after {} operations", self.name(), self.place, self.performed)
    }
}
