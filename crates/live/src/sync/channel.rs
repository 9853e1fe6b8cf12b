//! The state of a channel as one value: counts of messages and senders, and whether it is closed.

use teetotal_program::Value;

const BITS: u32 = 20;
const MASK: Value = (1 << BITS) - 1;

/// One message that was sent.
const SENT: Value = 1;
/// One message that was received.
const TAKEN: Value = 1 << BITS;
/// One sender.
pub(crate) const SENDER: Value = 1 << (2 * BITS);
/// The receiver of a rendezvous channel is blocked and takes the next message.
pub(crate) const WAITING: Value = 1 << 62;
/// The receiver was dropped.
pub(crate) const CLOSED: Value = 1 << 63;

/// Returns the number of messages sent.
pub(crate) fn sent(state: Value) -> Value {
    state & MASK
}

/// Returns the number of messages received.
pub(crate) fn taken(state: Value) -> Value {
    (state / TAKEN) & MASK
}

/// Returns the number of senders.
pub(crate) fn senders(state: Value) -> Value {
    (state / SENDER) & MASK
}

/// Returns whether the receiver was dropped.
pub(crate) fn is_closed(state: Value) -> bool {
    state & CLOSED != 0
}

/// Returns the state after a message is sent to a channel with this `bound`; unchanged if it cannot be sent.
pub(crate) fn send(state: Value, bound: Value) -> Option<Value> {
    if is_closed(state) {
        return Some(state);
    }
    (sent(state) - taken(state) < bound).then_some((state + SENT) & !WAITING)
}

/// Returns the state after a message is handed to the waiting receiver; unchanged if it cannot be handed over.
pub(crate) fn hand(state: Value) -> Option<Value> {
    if is_closed(state) {
        return Some(state);
    }
    (state & WAITING != 0).then_some((state + SENT) & !WAITING)
}

/// Returns the state after a message is received; unchanged if the channel is empty and disconnected.
pub(crate) fn take(state: Value) -> Option<Value> {
    if sent(state) > taken(state) {
        return Some(state + TAKEN);
    }
    (senders(state) == 0).then_some(state & !WAITING)
}

/// Returns the state after a message is received, or after the receiver began to wait for one.
pub(crate) fn take_or_wait(state: Value) -> Value {
    take(state).unwrap_or(state | WAITING)
}
