//! One step of an execution.

use teetotal_program::{Loc, ThreadId};

/// What happens next: a thread performs its operation, or a store leaves its buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// `thread` performs its operation.
    ///
    /// `alternative` decides what the operation leaves open: the branch of a choice, or which of several stores a load
    /// returns. It is 0 where nothing is open.
    Issue { thread: ThreadId, alternative: u32 },
    /// The oldest store of `thread` to `loc` reaches memory.
    Commit { thread: ThreadId, loc: Loc },
}

impl Step {
    /// The thread whose operation or buffer it is.
    #[must_use]
    pub fn thread(self) -> ThreadId {
        match self {
            Step::Issue { thread, .. } | Step::Commit { thread, .. } => thread,
        }
    }

    /// Whether a store leaves its buffer.
    #[must_use]
    pub fn is_commit(self) -> bool {
        matches!(self, Step::Commit { .. })
    }
}
