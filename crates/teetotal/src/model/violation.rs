//! Violations of a model.

use std::fmt;
use std::ops::Deref;

use teetotal_live::Place;
use teetotal_memory::{ModelId, Trace};

/// A violation, with the execution that shows it.
///
/// It dereferences to its text, which is what a failing test prints.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The kind of violation.
    pub kind: ViolationKind,
    /// The places in the source: of the panic, of both accesses of a race, of each blocked thread, of each leak.
    pub places: Vec<Place>,
    /// The memory model that allows the execution.
    pub model: ModelId,
    /// The execution, accepted by the operational and the axiomatic definition of the model; `None` if a state is never
    /// reached.
    pub execution: Option<Trace>,
    /// The token that replays the execution, as the value of `TEETOTAL_REPLAY`.
    pub token: Option<String>,
    pub(super) text: String,
}

/// The kinds of violations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A thread panicked.
    Panic,
    /// A data race: two conflicting accesses, at least one of them not atomic, that happens-before does not order.
    DataRace,
    /// A deadlock: threads are blocked forever.
    Deadlock,
    /// A livelock: threads are blocked forever, some of them in loops that repeat the same steps.
    Livelock,
    /// A use after free: an access to a block that was freed, or that is not ordered with its free.
    UseAfterFree,
    /// A double free: a block was freed twice.
    DoubleFree,
    /// A leak: something was not freed at the end of the execution.
    Leak,
    /// The model is not robust: the memory model has executions that are not sequentially consistent.
    NotRobust,
    /// No execution reaches a mark of [`reachable!`](crate::reachable).
    Unreached,
}

impl Deref for Violation {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Violation {}
