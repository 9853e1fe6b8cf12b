//! Stronger orderings that a model is run with, at places of its source, without a change to it.

use std::panic::Location;

use teetotal_program::Order;

use crate::complaint::Place;
use crate::request::{Request, What};

/// What is stronger than the source says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mend {
    /// Stores that are sequentially consistent.
    pub stores: Vec<Place>,
    /// Operations that have a full fence before them.
    pub fences: Vec<Place>,
}

impl Mend {
    /// Whether everything is as the source says.
    pub(crate) fn is_empty(&self) -> bool {
        self.stores.is_empty() && self.fences.is_empty()
    }

    fn has(places: &[Place], place: &Location<'_>) -> bool {
        let is_there =
            |own: &Place| (own.line, own.column) == (place.line(), place.column()) && own.file == place.file();
        places.iter().any(is_there)
    }

    /// Makes an operation as strong as it is to be; gives it apart if a fence comes first, which then is `request`.
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
