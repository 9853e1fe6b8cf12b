//! Sequential consistency: every store reaches memory at once, and every load reads memory.
//!
//! Definition: [BURNIM, Fig. 1], [SOBER-TR, Fig. 5].

use teetotal_program::{Loc, Order};

use crate::event::Access;
use crate::model::{Model, ModelId};
use crate::store_buffer::StoreBuffer;

/// Sequential consistency.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

impl Model for Sc {
    const ID: ModelId = ModelId::Sc;
    const BUFFERS: bool = false;
    const BARRIERS: bool = false;
    const FAILURE_IS_LOAD: bool = false;

    fn may_leave(_: &StoreBuffer, _: usize) -> bool {
        false
    }

    fn may_update(_: &StoreBuffer, _: Option<Loc>, _: Order) -> bool {
        true
    }

    fn keeps_order(_: Access, _: Access) -> bool {
        true
    }
}
