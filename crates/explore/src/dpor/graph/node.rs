//! One event of a graph.

use teetotal_judge::monitors::robustness::Site;
use teetotal_memory::Access;
use teetotal_program::{FailedAwait, Loc, ThreadId, Value};

use super::super::bits::Bits;
use super::{NONE, Slot};

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::dpor) enum Role {
    /// A read, of whatever operation.
    Read,
    /// A read that does not let its thread go on: the thread waits.
    Blocked,
    /// A look at a location that does not let the thread go on, which looks again later. It is no event of the execution.
    Vain,
    /// The read of a read-modify-write or lock that writes.
    UpdateRead,
    /// The write of it.
    UpdateWrite,
    Store,
    /// One of several alternatives.
    Choice(u32),
    Fence,
    Spawn,
    Join(ThreadId),
    /// Any other event that accesses no location.
    Other,
}

impl Role {
    pub(in crate::dpor) fn is_read(self) -> bool {
        matches!(self, Role::Read | Role::Blocked | Role::UpdateRead)
    }

    pub(in crate::dpor) fn is_write(self) -> bool {
        matches!(self, Role::Store | Role::UpdateWrite)
    }
}

/// What an operation that reads is if it writes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::dpor) enum Idle {
    Load,
    /// A load in its source, and in models that heed that.
    LoadInSource,
    /// It accesses memory at once all the same.
    Update,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(in crate::dpor) struct Node<const N: usize> {
    pub(in crate::dpor) thread: ThreadId,
    pub(in crate::dpor) role: Role,
    /// Whether its thread ended a failed await with it.
    pub(in crate::dpor) failed: Option<FailedAwait>,
    /// Whether its operation is one that waits until it can go on.
    pub(in crate::dpor) waits: bool,
    pub(in crate::dpor) access: Access,
    /// Where its thread stands, as `Subject::place` has it.
    pub(in crate::dpor) place: u32,
    /// Of a read: what it is if it writes nothing.
    pub(in crate::dpor) idle: Idle,
    pub(in crate::dpor) read: Value,
    pub(in crate::dpor) written: Value,
    /// Of a read: the write it reads from.
    pub(in crate::dpor) source: Slot,
    /// The node before it in its thread.
    pub(in crate::dpor) before: Slot,
    /// Of a write: its neighbors in coherence.
    pub(in crate::dpor) co_before: Slot,
    pub(in crate::dpor) co_after: Slot,
    /// Which operation of its thread it is, counted from 0.
    pub(in crate::dpor) index: u32,
    /// When it was added; a read that is revisited keeps its stamp.
    pub(in crate::dpor) stamp: u32,
    /// What comes directly before it.
    pub(in crate::dpor) order: Bits<N>,
    /// What comes before it, and itself, as it was when it was added; see `reach.rs`.
    pub(in crate::dpor) reach: Bits<N>,
    /// What it depends on, by program order, reads-from, spawn and join, and itself.
    pub(in crate::dpor) past: Bits<N>,
    /// Of a write: who reads from it.
    pub(in crate::dpor) readers: Bits<N>,
    /// What its thread goes on with.
    pub(in crate::dpor) after: Progress<N>,
}

/// How far a thread has come.
#[derive(Clone, Copy, Debug)]
pub(in crate::dpor) struct Progress<const N: usize> {
    /// Nodes that happen before anything that the thread does later.
    pub(in crate::dpor) floor: Bits<N>,
    /// Stores that may still be in the buffer.
    pub(in crate::dpor) pending: Bits<N>,
    /// How many store-store barriers the thread has passed.
    pub(in crate::dpor) epoch: u32,
}

impl<const N: usize> Progress<N> {
    pub(in crate::dpor) const START: Self = Progress { floor: Bits::EMPTY, pending: Bits::EMPTY, epoch: 0 };
}

impl<const N: usize> Node<N> {
    /// A node of `thread`, which stands at `place`, without content.
    pub(in crate::dpor) fn blank(thread: ThreadId, place: u32, role: Role, access: Access) -> Self {
        Node {
            thread,
            role,
            failed: None,
            waits: false,
            access,
            place,
            idle: Idle::Load,
            read: 0,
            written: 0,
            source: NONE,
            before: NONE,
            co_before: NONE,
            co_after: NONE,
            index: 0,
            stamp: 0,
            order: Bits::EMPTY,
            reach: Bits::EMPTY,
            past: Bits::EMPTY,
            readers: Bits::EMPTY,
            after: Progress::START,
        }
    }

    /// Where it stands in the program.
    pub(in crate::dpor) fn site(&self) -> Site {
        Site { thread: self.thread, place: self.place }
    }

    /// The location of a node that accesses one.
    #[inline]
    pub(in crate::dpor) fn loc(&self) -> usize {
        self.access.loc.map_or(usize::MAX, Loc::index)
    }
}
