//! Total store order: each thread has one buffer of pending stores, which reach memory in program order.
//!
//! A load takes the newest pending store of its own thread to its location, else memory.
//! A full fence and every read-modify-write, even one that writes nothing, wait until the buffer is empty.
//! Store-store and load-load barriers add nothing.
//!
//! Definition: [BURNIM, Fig. 2], [SOBER-TR, Fig. 6], [LINDEN, §2], [MCR, §3.1]. We differ in two ways:
//! 1. A read-modify-write does not drain; it is possible only once the buffer is empty, which admits the same traces.
//! 2. Buffers are unbounded; a limit on their length marks the search incomplete.

use teetotal_program::{Loc, Order};

use crate::event::Access;
use crate::model::{Model, ModelId};
use crate::store_buffer::StoreBuffer;

/// Total store order.
#[derive(Clone, Copy, Debug)]
pub struct Tso;

impl Model for Tso {
    const ID: ModelId = ModelId::Tso;
    const BUFFERS: bool = true;
    const BARRIERS: bool = false;
    const FAILURE_IS_LOAD: bool = false;

    fn may_leave(_: &StoreBuffer, index: usize) -> bool {
        index == 0
    }

    fn may_update(buffer: &StoreBuffer, _: Option<Loc>, _: Order) -> bool {
        buffer.is_empty()
    }

    fn keeps_order(_: Access, _: Access) -> bool {
        true
    }
}
