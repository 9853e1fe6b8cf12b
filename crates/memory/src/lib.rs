//! How memory behaves: the machines of SC, TSO, PSO and RC11, and what an execution leaves behind.
//!
//! A [`Machine`] performs the steps of a subject under a [`Model`] and tells a [`Recorder`] of each event.
//! A [`Trace`] is such a recorder; [`relations`] are its program order, reads-from, coherence and happens-before.
//! Only `System` of the crate `engine` performs the steps of a subject.

pub mod dependence;
mod event;
mod execution_graph;
mod machine;
mod model;
pub mod models;
pub mod relations;
mod step;
mod store_buffer;
mod trace;

pub use event::{Access, Event, EventId, EventKind, Source};
pub use machine::{Machine, Recorder, Seen, Unrecorded};
pub use model::{BUFFER_MODELS, BufferRules, Family, MODELS, Model, ModelId, ModelInfo, ModelVisitor};
pub use step::Step;
pub use store_buffer::{Pending, StoreBuffer};
pub use trace::{StepRecord, Trace};
