//! An event with what its thread had passed before it, which is all that a model needs to place it in the order.

use teetotal_memory::{Event, EventKind, ModelId, Trace};
use teetotal_program::Order;

use crate::axiomatic::axioms::Axioms;

/// An event and its place in its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) event: Event,
    /// How many store-store barriers come before it in its thread.
    pub(super) markers: u32,
    /// How many `SeqCst` stores do.
    pub(super) seq_cst_stores: u32,
    /// The event that stands for when it happens: all events of an await happen at the moment of the first.
    ///
    /// A store that an await issues happens then only where the model has no buffers, later otherwise.
    pub(crate) moment: usize,
    /// The first event of its step, that is, when it is issued.
    pub(super) issued: usize,
}

impl Placed {
    /// Whether it happens when it is performed, as everything does but stores.
    pub(crate) fn is_immediate(&self) -> bool {
        !self.event.is_store()
    }

    /// Whether it accesses memory at once, as a read-modify-write does, or is ordered as if it did.
    pub(super) fn is_update(&self) -> bool {
        use EventKind::{FailedRmw, Join, Lock, Rmw, Spawn, Unlock};
        match self.event.kind {
            Rmw | FailedRmw | Lock | Unlock | Spawn(_) => true,
            // One that only acquires is ordered as a load.
            Join(_) => self.event.order.releases(),
            _ => false,
        }
    }

    /// Whether it is a fence that waits for every earlier store of its thread.
    pub(super) fn is_full_fence(&self) -> bool {
        let full = self.event.kind == EventKind::Fence && self.event.order == Order::SeqCst;
        full || self.event.kind == EventKind::GlobalFence
    }

    /// Whether a `SeqCst` store is `earlier`, or stands between it and this one.
    pub(super) fn follows_seq_cst_store_since(&self, earlier: &Placed) -> bool {
        self.seq_cst_stores > earlier.seq_cst_stores
    }

    /// Whether a store-store barrier stands between `earlier` and this one.
    pub(super) fn follows_marker_since(&self, earlier: &Placed) -> bool {
        self.markers > earlier.markers
    }
}

/// What a thread has passed so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Passed {
    markers: u32,
    seq_cst_stores: u32,
}

impl Passed {
    /// `event` at this place, which the thread then passes.
    pub(super) fn place(&mut self, event: Event, moment: usize, issued: usize) -> Placed {
        let placed = Placed { event, markers: self.markers, seq_cst_stores: self.seq_cst_stores, moment, issued };
        let is_marker = event.kind == EventKind::Fence && matches!(event.order, Order::Release | Order::AcqRel);
        self.markers += u32::from(is_marker);
        self.seq_cst_stores += u32::from(event.is_store() && event.order == Order::SeqCst);
        placed
    }

    /// How many store-store barriers the thread has passed.
    pub(super) fn markers(self) -> u32 {
        self.markers
    }
}

/// When event `id` happens that is issued with `issued`.
pub(super) fn moment(stores_wait: bool, event: &Event, id: usize, issued: usize) -> usize {
    if event.is_store() && stores_wait { id } else { issued }
}

/// The events of a trace at their places, in the order of the trace.
pub(crate) fn place_all(model: ModelId, trace: &Trace) -> Vec<Placed> {
    let stores_wait = Axioms::of(model).stores_wait;
    let mut passed = vec![Passed::default(); trace.n_threads()];
    let mut placed: Vec<Placed> = Vec::with_capacity(trace.events().len());
    for (id, &event) in trace.ids() {
        let issued = match placed.last() {
            Some(last) if last.event.thread == event.thread && last.event.step == event.step => last.issued,
            _ => id.index(),
        };
        let moment = moment(stores_wait, &event, id.index(), issued);
        placed.push(passed[event.thread.index()].place(event, moment, issued));
    }
    placed
}
