//! One event of a graph.

use teetotal_judge::monitors::robustness::Site;
use teetotal_memory::Access;
use teetotal_program::{FailedAwait, Loc, ThreadId, Value};

use super::super::bits::Bits;
use super::super::consistency::Consistency;
use super::{NONE, Slot};

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A read, of whatever operation.
    Read,
    /// A blocked read: it does not let its thread go on.
    Blocked,
    /// A blocked read that is retried: the thread reads again later. It is no event of the execution.
    Retried,
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
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Role::Read | Role::Blocked | Role::UpdateRead)
    }

    pub(crate) fn is_write(self) -> bool {
        matches!(self, Role::Store | Role::UpdateWrite)
    }
}

/// What an operation that reads is if it writes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Idle {
    Load,
    /// A load in its source, and in models that heed that.
    LoadInSource,
    /// It accesses memory at once all the same.
    Update,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<C: Consistency, const N: usize> {
    pub(crate) thread: ThreadId,
    pub(crate) role: Role,
    /// Whether its thread ended a failed await with it.
    pub(crate) failed: Option<FailedAwait>,
    /// Whether its operation is one that waits until it can go on.
    pub(crate) waits: bool,
    pub(crate) access: Access,
    /// Where its thread stands, as `Subject::place` has it.
    pub(crate) place: u32,
    /// Of a read: what it is if it writes nothing.
    pub(crate) idle: Idle,
    pub(crate) read: Value,
    pub(crate) written: Value,
    /// Of a read: the write it reads from.
    pub(crate) source: Slot,
    /// The node before it in its thread.
    pub(crate) before: Slot,
    /// Of a write: its neighbors in coherence.
    pub(crate) co_before: Slot,
    pub(crate) co_after: Slot,
    /// Which operation of its thread it is, counted from 0.
    pub(crate) index: u32,
    /// When it was added; a read that is revisited keeps its stamp.
    pub(crate) stamp: u32,
    /// What the model keeps with it.
    pub(crate) label: C::Label<N>,
    /// Its porf-prefix: what it depends on by program order, reads-from, spawn and join, and itself.
    pub(crate) porf: Bits<N>,
    /// Of a write: the events that read from it.
    pub(crate) readers: Bits<N>,
    /// The view of its thread after it.
    pub(crate) view: C::View<N>,
}

impl<C: Consistency, const N: usize> Node<C, N> {
    /// A node of `thread`, which stands at `place`, without content.
    pub(crate) fn blank(thread: ThreadId, place: u32, role: Role, access: Access) -> Self {
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
            label: C::Label::default(),
            porf: Bits::EMPTY,
            readers: Bits::EMPTY,
            view: C::View::default(),
        }
    }

    /// Where it stands in the program.
    pub(crate) fn site(&self) -> Site {
        Site { thread: self.thread, place: self.place }
    }

    /// The location of a node that accesses one.
    #[inline]
    pub(crate) fn loc(&self) -> usize {
        self.access.loc.map_or(usize::MAX, Loc::index)
    }
}
