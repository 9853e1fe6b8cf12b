//! What is checked: the interface of a subject, the intermediate representation, and conditions on final states.
//!
//! A [`Subject`] is a set of threads, each of which offers one [`Op`] at a time and goes on when it is answered.
//! The [`ir`] is the subject that text front ends lower to; [`ir::Builder`] writes such programs in Rust.
//! Nothing here knows how memory behaves.

pub mod condition;
pub mod ir;
mod names;
mod op;
pub mod packed;
mod span;
mod subject;
mod width;

pub use names::{Loc, Reg, ThreadId, Value};
pub use op::{OnFailure, Op, Order};
pub use span::{Source, Span};
pub use subject::{
    ExplicitState, FailedAwait, Failure, Foresight, Future, Hindsight, LocSet, Redo, RedoAnswer, RedoKind, Rewind,
    Snapshot, Status, Subject,
};
pub use width::{Type, Width};
