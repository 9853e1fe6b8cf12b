//! Memory errors of a model.

use teetotal_program::ThreadId;

use crate::complaint::{Access, Place};

/// The allocation or the free of a block.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BlockEvent {
    /// The thread of the model, if it was done by one.
    pub thread: Option<ThreadId>,
    /// How many operations the thread had performed before.
    pub after: u32,
    /// The place in the source; known only in replays, and only if the program has debug information.
    pub place: Option<Place>,
}

/// A memory error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryFault {
    /// The kind of error.
    pub kind: FaultKind,
    /// The thread that caused it.
    pub thread: ThreadId,
    /// The place of the access or of the second free.
    pub place: Option<Place>,
    /// How many operations the thread had performed before.
    pub after: u32,
    /// The address of the block; 0 if it is unknown.
    pub address: usize,
    /// The size of the block in bytes.
    pub size: usize,
    /// The allocation of the block.
    pub allocated: BlockEvent,
    /// The free of the block, if it is freed.
    pub freed: Option<BlockEvent>,
    /// The access that is not ordered with the free.
    pub access: Option<Access>,
    /// The plain access that is not ordered with the free, or with the allocation.
    pub plain: Option<BlockEvent>,
    /// Whether the conflicting events happen in this order in every order of the execution.
    pub is_ordered: bool,
}

/// The kinds of memory errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access to a block that was freed.
    UseAfterFree,
    /// An access to the former contents of a block that was freed and allocated again.
    ReusedBlock,
    /// An access through a pointer that was read from a block that was freed.
    StalePointer,
    /// A free of a block that was freed.
    DoubleFree,
    /// A free of a block that another thread may still access.
    RacingFree,
    /// An access to a block whose allocation is not ordered before it.
    UnpublishedBlock,
}
