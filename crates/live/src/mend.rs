//! Repairs: stronger orderings and fences with which a model is run, without a change to its source.

use std::panic::Location;

use teetotal_program::Order;

use crate::complaint::Place;
use crate::request::{Request, What};

/// Stores and fences to strengthen when a model is run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mend {
    /// The places of stores that become sequentially consistent.
    pub stores: Vec<Place>,
    /// The places of operations before which a full fence is inserted.
    pub fences: Vec<Place>,
}

impl Mend {
    /// Returns whether nothing is changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.stores.is_empty() && self.fences.is_empty()
    }

    fn has(places: &[Place], place: &Location<'_>) -> bool {
        let is_there =
            |own: &Place| (own.line, own.column) == (place.line(), place.column()) && own.file == place.file();
        places.iter().any(is_there)
    }

    /// Strengthens an operation; if a fence is inserted, `request` becomes the fence and the operation is returned.
    pub(crate) fn apply(&self, request: &mut Request) -> Option<Request> {
        if let What::Store { order, .. } = &mut request.what
            && Mend::has(&self.stores, request.place)
        {
            *order = Order::SeqCst;
        }
        if !Mend::has(&self.fences, request.place) || matches!(request.what, What::Fence { .. }) {
            return None;
        }
        let fence = Request { what: What::Fence { order: Order::SeqCst }, place: request.place };
        Some(std::mem::replace(request, fence))
    }
}
