//! What a step did.

use teetotal_program::{Loc, Order, ThreadId, Value};

/// An event of a trace: its position in the order of issue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub u32);

impl EventId {
    /// The position in tables with one entry for each event.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The event at `index` of such a table.
    #[must_use]
    pub fn at(index: usize) -> Self {
        EventId(index as u32)
    }
}

/// One operation as it was performed. [SOBER, §2], [BURNIM, §2.1]
///
/// We differ in two ways:
/// 1. A fence is an event of its own, not an interlocked operation on a private address, which PSO would not drain.
/// 2. An event does not carry its coherence index; [`crate::Trace::coherence`] gives the order of writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    pub thread: ThreadId,
    /// Position among the events of its thread, from 0: the issue index.
    pub index: u32,
    pub kind: EventKind,
    /// The location it accesses, if it does.
    pub loc: Option<Loc>,
    /// The value it read, or the alternative that a choice took.
    pub read: Option<Value>,
    /// The value it wrote.
    pub written: Option<Value>,
    /// Where the value it read came from.
    pub source: Option<Source>,
    /// Whether it read from the buffer of its own thread.
    pub forwarded: bool,
    /// Whether it is a read-modify-write that is a load in its source where it writes nothing.
    pub fails_as_load: bool,
    /// The ordering as written in the source of the program.
    pub order: Order,
    /// How many store-store barriers its thread had passed.
    pub epoch: u32,
    /// Where in the code of its thread it stands; see `Subject::place`.
    pub place: u32,
    /// The step that performed it.
    pub step: u32,
    /// The step at which its write reached memory, if it wrote and if that has happened.
    pub committed: Option<u32>,
}

/// What kind of operation an event was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EventKind {
    Load,
    Store,
    /// A read-modify-write that wrote.
    Rmw,
    /// A read-modify-write that wrote nothing and accessed memory as a locked instruction.
    FailedRmw,
    Fence,
    GlobalFence,
    Lock,
    Unlock,
    Spawn(ThreadId),
    Join(ThreadId),
    Choose,
}

/// Where a value came from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The location held it from the beginning.
    Initial,
    Write(EventId),
}

/// What of an event decides which program order a model keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The location, if it accesses one.
    pub loc: Option<Loc>,
    pub order: Order,
    /// How many store-store barriers its thread had passed.
    pub epoch: u32,
}

impl Access {
    /// Whether every model keeps whatever is after both in the same order with both.
    #[must_use]
    pub fn is_like(self, other: Access) -> bool {
        self.loc == other.loc && self.epoch == other.epoch
    }
}

impl Event {
    /// An event of `thread` that accesses nothing, to be filled in.
    #[inline]
    #[must_use]
    pub fn blank(thread: ThreadId) -> Self {
        Event {
            thread,
            index: 0,
            kind: EventKind::Load,
            loc: None,
            read: None,
            written: None,
            source: None,
            forwarded: false,
            fails_as_load: false,
            order: Order::Plain,
            epoch: 0,
            place: 0,
            step: 0,
            committed: None,
        }
    }

    /// What of it decides which program order a model keeps.
    #[must_use]
    pub fn access(&self) -> Access {
        Access { loc: self.loc, order: self.order, epoch: self.epoch }
    }

    /// Whether it reads memory or a buffer.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.source.is_some()
    }

    /// Whether it writes memory, now or later.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.written.is_some()
    }

    /// Whether it is a join that only acquires, and so waits for no store of its own thread.
    #[must_use]
    pub fn is_acquiring_join(&self) -> bool {
        matches!(self.kind, EventKind::Join(_)) && !self.order.releases()
    }

    /// Whether it is a store that goes through a buffer where the model has one.
    #[must_use]
    pub fn is_store(&self) -> bool {
        self.kind == EventKind::Store
    }
}
