//! The programs on which Nidhugg and GenMC were measured, after the C sources written for that.
//!
//! Shared accesses are plain stores and loads, compare-exchanges are locked instructions. We differ in three ways:
//! 1. All threads run from the beginning; what `main` asserts after joining them is a condition on final states.
//! 2. A loop that only waits is an await, unless [`super::Waiting`] says otherwise.
//! 3. Nodes are elements of arrays, one for each field. A pointer is the number of a node, from 1 on; 0 is null, and to
//!    follow it is an error of the program.

mod bakery_loop;
mod chase_lev;
mod dekker_loop;
mod dekker_try;
mod fibonacci;
mod harris;
mod indexer;
mod lamport_loop;
mod last_zero;
mod lazy_list;
mod message_passing;
mod michael_scott;
mod peterson_loop;
mod readers;
mod snark;
mod store_buffering;
mod swap;
mod treiber;
mod two_lock_queue;

pub use bakery_loop::bakery_loop;
pub use chase_lev::{Deque, chase_lev};
pub use dekker_loop::dekker_loop;
pub use dekker_try::dekker_try;
pub use fibonacci::fibonacci;
pub use harris::harris;
pub use indexer::indexer;
pub use lamport_loop::lamport_loop;
pub use last_zero::last_zero;
pub use lazy_list::lazy_list;
pub use message_passing::{Publication, message_passing_release, message_passing_rounds};
pub use michael_scott::michael_scott;
pub use peterson_loop::peterson_loop;
pub use readers::readers;
pub use snark::snark;
pub use store_buffering::store_buffering_sum;
pub use swap::Swap;
pub use treiber::treiber;
pub use two_lock_queue::two_lock_queue;

use teetotal_program::Reg;
use teetotal_program::ir::{Address, Array, ThreadBuilder};

/// How many threads do what to a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetThreads {
    pub adders: u32,
    pub readers: u32,
    pub removers: u32,
}

/// The pointer to a node.
fn pointer(node: u32) -> u64 {
    u64::from(node) + 1
}

/// A field of the node that `pointer` points to.
fn field(fields: Array, pointer: Reg) -> Address {
    fields.at(pointer.minus(1))
}

/// Some fresh registers that outcomes do not show.
fn temporaries<const N: usize>(t: &mut ThreadBuilder<'_>) -> [Reg; N] {
    std::array::from_fn(|_| t.temporary())
}
