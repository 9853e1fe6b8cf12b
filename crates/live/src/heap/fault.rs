//! What can be wrong with how a model uses its memory.

use teetotal_program::ThreadId;

use crate::complaint::{Access, Place};

/// The allocation or the free of a block.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BlockEvent {
    /// The thread of the model, if it was one.
    pub thread: Option<ThreadId>,
    /// How many operations the thread had performed before.
    pub after: u32,
    /// Where in the source; it is known only where an execution is run again to be shown, and if the program has debug
    /// information.
    pub place: Option<Place>,
}

/// A use of memory that is not allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryFault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The thread that did it.
    pub thread: ThreadId,
    /// Where it did: the access, or the second free.
    pub place: Option<Place>,
    /// How many operations the thread had performed before.
    pub after: u32,
    /// Where the block is; 0 if that is not known.
    pub address: usize,
    /// The size of the block in bytes.
    pub size: usize,
    /// The allocation of the block.
    pub allocated: BlockEvent,
    /// The free of the block, if it is freed.
    pub freed: Option<BlockEvent>,
    /// The access that nothing orders with the free.
    pub access: Option<Access>,
    /// The access without any type of this crate that nothing orders with the free, or with the allocation.
    pub plain: Option<BlockEvent>,
    /// Whether what is wrong comes after what it conflicts with in every order of this execution.
    pub is_ordered: bool,
}

/// What is wrong with a use of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access to a block that was freed.
    UseAfterFree,
    /// An access to what was in a block that was freed and is now allocated for something else.
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
