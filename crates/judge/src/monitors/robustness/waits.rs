//! What an event waits for in its own thread before it can happen.

use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::Order;

/// Which earlier stores of its thread are in memory when an event happens.
///
/// A store happens when it reaches memory, anything else when it is performed. Stores to the location of a store or
/// update are always among them and are not counted here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    Nothing,
    /// Those before the newest store-store barrier.
    Barrier,
    Everything,
}

impl Waits {
    /// What `event` waits for under `model`.
    #[must_use]
    pub fn of(model: ModelId, event: &Event) -> Waits {
        if model.rules().failure_is_load && event.kind == EventKind::FailedRmw && event.fails_as_load {
            return Waits::Nothing;
        }
        Waits::of_kind(model, event.kind, event.order)
    }

    /// What `event` waits for at least, had it read something else: a read-modify-write that may fail may be a load.
    #[must_use]
    pub fn at_least(model: ModelId, event: &Event) -> Waits {
        if model.rules().failure_is_load && event.fails_as_load { Waits::Nothing } else { Waits::of(model, event) }
    }

    /// What an event of this kind and ordering waits for.
    #[must_use]
    pub fn of_kind(model: ModelId, kind: EventKind, order: Order) -> Waits {
        match kind {
            EventKind::Load | EventKind::Choose => Waits::Nothing,
            EventKind::Fence if order == Order::SeqCst => Waits::Everything,
            EventKind::Fence => Waits::Nothing,
            EventKind::Join(_) if !order.releases() => Waits::Nothing,
            EventKind::GlobalFence => Waits::Everything,
            EventKind::Store
            | EventKind::Rmw
            | EventKind::FailedRmw
            | EventKind::Lock
            | EventKind::Unlock
            | EventKind::Spawn(_)
            | EventKind::Join(_) => {
                if model.rules().has_barriers && !order.releases() {
                    Waits::Barrier
                } else {
                    Waits::Everything
                }
            }
        }
    }
}

/// Whether `event` is a store-store barrier.
pub(super) fn is_marker(event: &Event) -> bool {
    event.kind == EventKind::Fence && matches!(event.order, Order::Release | Order::AcqRel)
}

/// Whether everything after `event` in its thread waits for it and every store before it.
pub(super) fn drains_afterward(event: &Event) -> bool {
    event.is_store() && event.order == Order::SeqCst
}
