//! The symbolic search: sets of buffer contents as automata, so that buffers of any length are searched completely.
//!
//! A symbolic state has its threads and memory in full and a language of contents for each buffer. The search goes breadth
//! first; a state whose contents another one has already is not gone on from, and cycles are accelerated. Where
//! acceleration does not catch every buffer that grows, coarse searches, which always end, tell whether there is more to
//! find; if they cannot tell, it says which loop it is that was not followed.
//!
//! Definition: [LINDEN]. Where we differ, and why the results are right, is in `docs/theory/symbolic.md`.

mod accelerate;
pub mod alphabet;
mod arrive;
pub mod automaton;
pub mod buffer_language;
pub mod coarse;
pub mod compare;
mod cycle;
mod decide;
mod exclusive;
mod expand;
mod findings;
mod keys;
mod local;
mod point;
mod reached;
mod reduction;
mod search;
mod stored;
mod witness;

pub use decide::search;
pub use reached::{Concrete, Place, Reached};
pub use search::{Coarse, Effort, Settings, TakenTogether};
