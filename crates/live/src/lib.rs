//! Rust code as a subject of the search.
//!
//! [`Live`] is a model that the search runs: its threads are coroutines that stop at each operation. The modules mirror
//! those of the standard library; inside a model the search decides what their operations do, and outside of models
//! they behave as the standard library does.

pub mod alloc;
mod beginning;
pub mod cell;
mod complaint;
mod cycles;
mod entry;
mod erased;
mod fairness;
mod fiber;
mod fingerprint;
pub mod future;
mod generation;
mod heap;
mod held;
mod hidden;
mod hindsight;
pub mod hint;
mod identity;
pub mod interrupt;
pub mod lazy_static;
mod lifetimes;
mod local;
mod loops;
mod marks;
mod mend;
mod misuse;
mod overflow;
mod plain;
mod possession;
mod pulse;
mod races;
#[doc(hidden)]
pub mod recorded;
mod request;
mod reuse;
mod runtime;
mod script;
mod spurious;
mod stacks;
mod standing;
mod statics;
mod subject;
mod surroundings;
pub mod sync;
pub mod thread;
mod unwinding;
mod waiting;

pub use complaint::{Access, Complaint, Kind, Place, Race};
pub use fairness::Fairness;
pub use fiber::Backend;
pub use heap::{BlockEvent, FaultKind, MemoryFault};
pub use hidden::Ledger;
pub use hindsight::Kept;
pub use marks::{Mark, reachable};
pub use mend::Mend;
pub use plain::PlainAccesses;
pub use possession::Leak;
pub use pulse::{Pulse, Running, pulses};
pub use request::{Matter, WaitsFor};
pub use reuse::is_of_allocator;
pub use runtime::is_in_model;
pub use script::{RecordedOp, Script};
pub use standing::Standing;
pub use subject::{Live, Model, STACK_SIZE, Setup, has_discarded};
