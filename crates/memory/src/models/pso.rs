//! Partial store order: each thread has a buffer for each location, so that stores to different ones pass each other.
//!
//! Stores to one location keep their order. A store-store barrier keeps every store before it before every store and
//! read-modify-write after it; a release store comes after every earlier store, and later stores may still pass it.
//!
//! Definition: [BURNIM, Fig. 3], [MCR, §3.1]. We differ in three ways:
//! 1. A read-modify-write without release waits for the stores to its own location, as in the paper, and for those
//!    before the newest barrier; one with release, and every locked instruction of x86, waits for all.
//! 2. Barriers and release stores are ours; the papers have neither.
//! 3. A compare-exchange that fails is a load where its source says so, and waits for nothing.

use teetotal_program::{Loc, Order};

use crate::event::Access;
use crate::model::{Model, ModelId};
use crate::store_buffer::StoreBuffer;

/// Partial store order.
#[derive(Clone, Copy, Debug)]
pub struct Pso;

impl Model for Pso {
    const ID: ModelId = ModelId::Pso;
    const BUFFERS: bool = true;
    const BARRIERS: bool = true;
    const FAILURE_IS_LOAD: bool = true;

    fn may_leave(buffer: &StoreBuffer, index: usize) -> bool {
        let pending = buffer.pending();
        let store = &pending[index];
        let older = &pending[..index];
        let crosses_barrier = pending[..=index].iter().skip(1).any(|p| p.after_barrier);
        older.is_empty() || !(store.release || crosses_barrier || older.iter().any(|p| p.loc == store.loc))
    }

    fn may_update(buffer: &StoreBuffer, loc: Option<Loc>, order: Order) -> bool {
        if order.releases() {
            return buffer.is_empty();
        }
        !buffer.holds_store_before_newest_barrier() && buffer.pending().iter().all(|p| Some(p.loc) != loc)
    }

    fn keeps_order(earlier: Access, later: Access) -> bool {
        earlier.loc == later.loc || earlier.epoch < later.epoch || later.order.releases()
    }
}
