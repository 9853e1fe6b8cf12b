//! Requests of code under the checker, before addresses become locations.

use std::panic::Location;

use teetotal_program::{OnFailure, Order, ThreadId, Value};

use crate::complaint::Complaint;
use crate::identity::Key;
use crate::sync::{POISONED, WAITING_WRITERS, channel};

/// An operation that a thread is about to perform, and its place in the source.
pub(crate) struct Request {
    pub(crate) what: What,
    pub(crate) place: &'static Location<'static>,
}

/// The operation.
pub(crate) enum What {
    Load {
        at: Cell,
        order: Order,
    },
    Store {
        at: Cell,
        value: Value,
        order: Order,
    },
    /// Reads, and writes the result of `update`.
    Rmw {
        at: Cell,
        update: Update,
        order: Order,
        on_failure: OnFailure,
    },
    /// Waits until the value is not one of the excluded values.
    ///
    /// A wait with a time-out does not block forever.
    Await {
        at: Cell,
        until: Until,
        /// Whether it acquires; the store-buffer models do not distinguish this.
        order: Order,
        timed: bool,
    },
    /// Waits until `update` returns a value, and writes it.
    Lock {
        at: Cell,
        update: Update,
        order: Order,
        timed: bool,
    },
    Unlock {
        at: Cell,
        order: Order,
    },
    Fence {
        order: Order,
    },
    Spawn {
        body: Option<Body>,
    },
    Join {
        thread: ThreadId,
    },
    Choose {
        alternatives: u32,
        matter: Matter,
    },
    /// Ends the thread with an error.
    Fail(Box<Complaint>),
    /// Waits until no other thread can run.
    Rest {
        /// The number of previous such waits in a row.
        before: u32,
    },
}

/// What a choice decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matter {
    /// Whether a weak compare-exchange fails spuriously.
    Failure,
    /// Whether a wait ends spuriously.
    WakeUp,
    /// Whether a wait times out.
    TimeOut,
    /// Which waiting thread is woken.
    Waiter,
    /// Whether an allocation has the address of a freed block.
    Reuse,
    /// Whether a waiting writer blocks a thread that already reads from reading again.
    Reader,
}

impl Matter {
    /// Returns whether the choice is about a spurious event.
    pub(crate) fn is_spurious(self) -> bool {
        matches!(self, Matter::Failure | Matter::WakeUp)
    }
}

/// What a thread waits for, if known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    Lock,
    /// A second read lock of the same thread, which a waiting writer blocks.
    SecondRead,
    Unpark,
    Notification,
    Message,
    /// Room in a channel.
    Room,
    /// Initialization of a value by another thread.
    Value,
}

/// The token of a thread that waits to be unparked.
pub(crate) const PARKED: Value = 1;

impl What {
    /// Returns what the thread waits for, if it waits and that is known.
    pub(crate) fn waits_for(&self) -> Option<WaitsFor> {
        let update = match self {
            What::Lock { update, .. } => update,
            What::Await { until: Until::Sent(_), .. } => return Some(WaitsFor::Message),
            What::Await { until: Until::Taken(_), .. } => return Some(WaitsFor::Room),
            _ => return None,
        };
        Some(match update.function {
            Function::AddUnless { bits: PARKED } => WaitsFor::Unpark,
            Function::AddUnless { bits } if bits & WAITING_WRITERS != 0 => WaitsFor::SecondRead,
            Function::CompareExchange { expected: 1 } => WaitsFor::Notification,
            Function::Take => WaitsFor::Message,
            Function::Send => WaitsFor::Room,
            Function::SwapUnless { .. } => WaitsFor::Value,
            _ => WaitsFor::Lock,
        })
    }
}

/// What a new thread runs.
pub(crate) type Body = Box<dyn FnOnce()>;

impl What {
    /// Returns the cell that is accessed.
    pub(crate) fn cell(&self) -> Option<Cell> {
        match self {
            What::Load { at, .. } | What::Store { at, .. } | What::Rmw { at, .. } => Some(*at),
            What::Await { at, .. } | What::Lock { at, .. } | What::Unlock { at, .. } => Some(*at),
            What::Fence { .. } | What::Spawn { .. } | What::Join { .. } => None,
            What::Choose { .. } | What::Rest { .. } | What::Fail(_) => None,
        }
    }
}

/// A cell of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) key: Key,
    /// The initial value.
    pub(crate) initial: Value,
    /// Whether it may also be accessed non-atomically.
    pub(crate) may_race: bool,
}

/// The condition of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// None of these bits.
    Clear(Value),
    /// This or more.
    AtLeast(Value),
    /// A channel to which more messages than these were sent, or that is disconnected.
    Sent(Value),
    /// A channel from which more messages than these were received, or whose receiver was dropped.
    Taken(Value),
}

impl Until {
    pub(crate) fn accepts(self, value: Value) -> bool {
        match self {
            Until::Clear(bits) => value & bits == 0,
            Until::AtLeast(least) => value >= least,
            Until::Sent(messages) => channel::sent(value) != messages || channel::senders(value) == 0,
            Until::Taken(messages) => channel::taken(value) > messages || channel::is_closed(value),
        }
    }
}

/// The function of a read-modify-write on a type of `bits` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    pub(crate) function: Function,
    pub(crate) operand: Value,
    pub(crate) bits: u32,
}

/// The functions of the standard library's atomics, and those of locks and channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Swap,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    SignedMax,
    SignedMin,
    /// Writes the operand if the old value is this.
    CompareExchange {
        expected: Value,
    },
    /// Writes nothing, as a compare-exchange that fails spuriously.
    Fail,
    /// Adds the operand, unless one of these bits is set.
    AddUnless {
        bits: Value,
    },
    /// Adds the operand, or the other number if one of these bits is set.
    AddOr {
        bits: Value,
        otherwise: Value,
    },
    /// Adds the operand if one of these bits is set.
    AddIf {
        bits: Value,
    },
    /// Subtracts the operand if the bits of `low` are `value`.
    SubIf {
        low: Value,
        value: Value,
    },
    /// Writes the operand if the value is 0 or that of a panic; writes `done` again if it is `done`.
    SwapUnless {
        done: Value,
    },
    /// Sends a message to a channel if it has fewer messages than the operand and is not closed.
    Send,
    /// Sends a message to a rendezvous channel if its receiver waits and it is not closed.
    Hand,
    /// Receives a message from a channel, if there is one; no change if it is disconnected.
    Take,
    /// Receives a message from a rendezvous channel, or begins to wait for one.
    TakeOrWait,
}

impl Update {
    pub(crate) fn new(function: Function, operand: Value, bits: u32) -> Self {
        Update { function, operand, bits }
    }

    /// Returns the new value, or `None` if nothing is written.
    pub(crate) fn apply(self, old: Value) -> Option<Value> {
        let Update { function, operand, bits } = self;
        let signed = |value: Value| (value << (64 - bits)) as i64;
        let new = match function {
            Function::Swap => operand,
            Function::Add => old.wrapping_add(operand),
            Function::Sub => old.wrapping_sub(operand),
            Function::And => old & operand,
            Function::Nand => !(old & operand),
            Function::Or => old | operand,
            Function::Xor => old ^ operand,
            Function::Max => old.max(operand),
            Function::Min => old.min(operand),
            Function::SignedMax => {
                if signed(old) >= signed(operand) {
                    old
                } else {
                    operand
                }
            }
            Function::SignedMin => {
                if signed(old) <= signed(operand) {
                    old
                } else {
                    operand
                }
            }
            Function::CompareExchange { expected } if old == expected => operand,
            Function::CompareExchange { .. } | Function::Fail => return None,
            Function::AddUnless { bits } | Function::AddOr { bits, .. } if old & bits == 0 => old.wrapping_add(operand),
            Function::AddOr { otherwise, .. } => old.wrapping_add(otherwise),
            Function::AddUnless { .. } => return None,
            Function::AddIf { bits } if old & bits != 0 => old.wrapping_add(operand),
            Function::SubIf { low, value } if old & low == value => old.wrapping_sub(operand),
            Function::AddIf { .. } | Function::SubIf { .. } => return None,
            Function::SwapUnless { done } if old == done => done,
            Function::SwapUnless { .. } if old == 0 || old == POISONED => operand,
            Function::SwapUnless { .. } => return None,
            Function::Send => return channel::send(old, operand),
            Function::Hand => return channel::hand(old),
            Function::Take => return channel::take(old),
            Function::TakeOrWait => channel::take_or_wait(old),
        };
        Some(if bits == 64 { new } else { new & ((1 << bits) - 1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_at_their_width() {
        let apply = |function, old, operand, bits| Update::new(function, operand, bits).apply(old);
        assert_eq!(apply(Function::Add, 255, 1, 8), Some(0));
        assert_eq!(apply(Function::Sub, 0, 1, 16), Some(0xffff));
        assert_eq!(apply(Function::Nand, 0b11, 0b01, 8), Some(0xfe));
        assert_eq!(apply(Function::SignedMax, 0xff, 1, 8), Some(1));
        assert_eq!(apply(Function::SignedMin, 0xff, 1, 8), Some(0xff));
        assert_eq!(apply(Function::CompareExchange { expected: 2 }, 1, 5, 64), None);
    }
}
