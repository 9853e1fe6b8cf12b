//! RC11, the model of Rust and C without load buffering.
//!
//! An execution is a graph, and has no state but that: [`crate::execution_graph`] grows it, an event at a time, in an
//! order that respects program order and reads-from. A read may take its value from any write that leaves the graph
//! consistent, and a write may take any such place in modification order.
//!
//! Definition: [RC11, Def. 1]; `docs/theory/rc11.md` says where we differ.

use teetotal_program::{Loc, Order};

use crate::event::Access;
use crate::model::{Model, ModelId};
use crate::store_buffer::StoreBuffer;

/// RC11.
#[derive(Clone, Copy, Debug)]
pub struct Rc11;

impl Model for Rc11 {
    const ID: ModelId = ModelId::Rc11;
    const GRAPHS: bool = true;
    const BUFFERS: bool = false;
    const BARRIERS: bool = false;
    const FAILURE_IS_LOAD: bool = true;

    fn may_leave(_: &StoreBuffer, _: usize) -> bool {
        false
    }

    fn may_update(_: &StoreBuffer, _: Option<Loc>, _: Order) -> bool {
        true
    }

    fn keeps_order(earlier: Access, later: Access) -> bool {
        earlier.loc == later.loc
    }
}
