//! What is wrong with a model.

use std::fmt;
use std::ops::Deref;

use teetotal_live::Place;
use teetotal_memory::{ModelId, Trace};

/// Something wrong with a model, and the execution that shows it.
///
/// It dereferences to its text, which is what a failing test prints.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// What is wrong.
    pub kind: ViolationKind,
    /// Where in the source: the panic, both accesses of a race, where each thread is blocked, what leaked.
    pub places: Vec<Place>,
    /// The memory model that allows the execution.
    pub model: ModelId,
    /// The execution, accepted by the machine and by the axioms of the model; there is none where a state is never
    /// reached.
    pub execution: Option<Trace>,
    /// Runs the execution again, as the value of `TEETOTAL_REPLAY`.
    pub token: Option<String>,
    pub(super) text: String,
}

/// What can be wrong with a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A thread panicked.
    Panic,
    /// Two accesses, one of them not atomic, are not ordered.
    DataRace,
    /// Threads are blocked forever.
    Deadlock,
    /// Threads are blocked forever, some of them in loops that repeat themselves.
    Livelock,
    /// An access to a block of memory that was freed, or whose free is not ordered with it.
    UseAfterFree,
    /// A block of memory was freed twice.
    DoubleFree,
    /// Something was not freed.
    Leak,
    /// The memory model has executions that sequential consistency does not have.
    NotRobust,
    /// A state that must be reached is in no execution.
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
