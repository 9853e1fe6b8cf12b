//! What code under the checker asks of the search, before names are given to addresses.

use std::panic::Location;

use teetotal_program::{OnFailure, Order, ThreadId, Value};

use crate::complaint::Complaint;
use crate::identity::Key;
use crate::sync::{POISONED, WAITING_WRITERS, channel};

/// One operation that a thread is about to perform, and where in the source it stands.
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
    /// Reads, and writes what `update` makes of it.
    Rmw {
        at: Cell,
        update: Update,
        order: Order,
        on_failure: OnFailure,
    },
    /// Waits until the value is none of those that it is not to be.
    ///
    /// A wait that is timed is not one that lasts for good.
    Await {
        at: Cell,
        until: Until,
        /// What it synchronizes with is acquired or not; the hardware models make no difference.
        order: Order,
        timed: bool,
    },
    /// Waits until `update` makes something of the value, and writes that.
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
    /// Ends here, since something is wrong.
    Fail(Box<Complaint>),
    /// Waits until nobody else can go on.
    Rest {
        /// How often it has done so before, in a row.
        before: u32,
    },
}

/// What a choice is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matter {
    /// Whether a weak compare-exchange fails for no reason.
    Failure,
    /// Whether a wait ends for no reason.
    WakeUp,
    /// Whether the time of a wait is over.
    TimeOut,
    /// Which of those that wait is woken.
    Waiter,
    /// Whether an allocation has the address of a freed block.
    Reuse,
    /// Whether a thread that already reads is kept from reading once more by a writer that waits.
    Reader,
}

impl Matter {
    /// Whether it is about something that happens for no reason.
    pub(crate) fn is_spurious(self) -> bool {
        matches!(self, Matter::Failure | Matter::WakeUp)
    }
}

/// What a thread waits for, where that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    Lock,
    /// That the thread reads once more what it already reads, which a writer that waits keeps it from.
    SecondRead,
    Unpark,
    Notification,
    Message,
    /// That a channel has room.
    Room,
    /// That another thread has made a value.
    Value,
}

/// A thread that waits to be unparked has this in its token.
pub(crate) const PARKED: Value = 1;

impl What {
    /// What it waits for, if it does and that is known.
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
    /// The cell that is accessed.
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
    /// What it holds as long as nobody has written to it.
    pub(crate) initial: Value,
    /// Whether it may also be accessed in ways that are not atomic.
    pub(crate) may_race: bool,
}

/// What a wait is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// None of these bits.
    Clear(Value),
    /// This or more.
    AtLeast(Value),
    /// A channel that more messages than these were sent to, or that no message will be sent to any more.
    Sent(Value),
    /// A channel that more messages than these were taken from, or that none will be taken from any more.
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

/// What a read-modify-write makes of the old value, in a type of `bits` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    pub(crate) function: Function,
    pub(crate) operand: Value,
    pub(crate) bits: u32,
}

/// The functions of the standard library's atomics, and what locks need.
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
    /// Writes the operand over 0 or what a panic left, and over `done` that again.
    SwapUnless {
        done: Value,
    },
    /// Sends a message to a channel that holds at most as many as the operand, if it does; not if it is closed.
    Send,
    /// Sends a message to a rendezvous channel whose receiver waits; not if it is closed.
    Hand,
    /// Takes a message from a channel, if there is one; nothing if there will be none.
    Take,
    /// Takes a message from a rendezvous channel, or begins to wait for one.
    TakeOrWait,
}

impl Update {
    pub(crate) fn new(function: Function, operand: Value, bits: u32) -> Self {
        Update { function, operand, bits }
    }

    /// The new value, or nothing.
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
