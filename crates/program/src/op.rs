//! What a thread asks of memory, with the ordering as written in the source.

use crate::names::{Loc, ThreadId, Value};

/// One operation that a thread is about to perform.
///
/// What each means under each model is the table of `docs/theory/semantics.md`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Reads one location.
    Load { loc: Loc, order: Order },
    /// Writes one location.
    Store { loc: Loc, value: Value, order: Order },
    /// Reads one location and, where [`crate::Subject::modify`] gives a value, writes it in the same step.
    Rmw { loc: Loc, order: Order, on_failure: OnFailure },
    /// Orders what comes before with what comes after.
    Fence { order: Order },
    /// Waits until the store buffers of all threads are empty (`sync` of Linden and Wolper).
    GlobalFence,
    /// Waits until the lock is free, which is when [`crate::Subject::modify`] gives a value, then takes it by writing that.
    Lock { loc: Loc, order: Order },
    /// Frees a lock; the subject fails if the thread does not hold it.
    Unlock { loc: Loc, order: Order },
    /// Starts a thread.
    Spawn { thread: ThreadId, order: Order },
    /// Waits until a thread has ended and its stores are in memory.
    Join { thread: ThreadId, order: Order },
    /// Takes one of several alternatives, counted from 0.
    Choose { alternatives: u32 },
    /// Reads the locations named by [`crate::Subject::awaited`] in one step, as soon as [`crate::Subject::accepts`]
    /// holds of what it would read and of one of the alternatives, counted from 0, which it then takes.
    ///
    /// What [`crate::Subject::stores`] gives for that alternative is stored in the same step, plain.
    ///
    /// The ordering is that of its reads under a model of graphs; models of store buffers do not look at it.
    Await { alternatives: u32, order: Order },
}

/// How strongly an access or a fence is ordered, as the source says it.
///
/// The hardware models map several of these to the same behavior; the race monitor needs them all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// A plain access: not atomic in C and Rust, an ordinary `mov` on x86.
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// Whether earlier stores of the thread come first.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// Whether later accesses of the thread come after.
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }
}

/// What a read-modify-write is when it writes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OnFailure {
    /// A load with this ordering, as a failed compare-exchange of C and Rust.
    Load(Order),
    /// A locked instruction all the same, as `lock cmpxchg` of x86.
    Locked,
}

impl OnFailure {
    /// The ordering of the read that is left, of an operation that has ordering `success` when it writes.
    #[must_use]
    pub fn order(self, success: Order) -> Order {
        match self {
            OnFailure::Load(order) => order,
            OnFailure::Locked => success,
        }
    }
}
