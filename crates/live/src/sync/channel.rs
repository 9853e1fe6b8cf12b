//! The state of a channel as one value: how many messages were sent and taken, who may send, and whether it is closed.

use teetotal_program::Value;

const BITS: u32 = 20;
const MASK: Value = (1 << BITS) - 1;

/// One message that was sent.
const SENT: Value = 1;
/// One message that was taken.
const TAKEN: Value = 1 << BITS;
/// One sender.
pub(crate) const SENDER: Value = 1 << (2 * BITS);
/// The receiver of a rendezvous channel is blocked and takes the next message.
pub(crate) const WAITING: Value = 1 << 62;
/// Nobody receives any more.
pub(crate) const CLOSED: Value = 1 << 63;

/// How many messages were sent.
pub(crate) fn sent(state: Value) -> Value {
    state & MASK
}

/// How many messages were taken.
pub(crate) fn taken(state: Value) -> Value {
    (state / TAKEN) & MASK
}

/// How many senders there are.
pub(crate) fn senders(state: Value) -> Value {
    (state / SENDER) & MASK
}

/// Whether nobody receives any more.
pub(crate) fn is_closed(state: Value) -> bool {
    state & CLOSED != 0
}

/// The state after a message is sent to a channel that holds at most `bound`; the same if that is in vain.
pub(crate) fn send(state: Value, bound: Value) -> Option<Value> {
    if is_closed(state) {
        return Some(state);
    }
    (sent(state) - taken(state) < bound).then_some((state + SENT) & !WAITING)
}

/// The state after a message is handed to the receiver that waits for it; the same if that is in vain.
pub(crate) fn hand(state: Value) -> Option<Value> {
    if is_closed(state) {
        return Some(state);
    }
    (state & WAITING != 0).then_some((state + SENT) & !WAITING)
}

/// The state after a message is taken; the same if there will be none.
pub(crate) fn take(state: Value) -> Option<Value> {
    if sent(state) > taken(state) {
        return Some(state + TAKEN);
    }
    (senders(state) == 0).then_some(state & !WAITING)
}

/// The state after a message is taken, or after the receiver began to wait for one.
pub(crate) fn take_or_wait(state: Value) -> Value {
    take(state).unwrap_or(state | WAITING)
}
