//! Robustness: no execution of the model differs from all those of sequential consistency.
//!
//! A program is robust under a model if happens-before has no cycle in any of its executions there; Sober calls this
//! store-buffer safe. [SOBER, Def. 5], [BURNIM, Def. 4] The monitors here watch executions of *sequential consistency*
//! and say where one of the model could have gone another way: a thread accesses a location while a store to it, which
//! happened before that access, is still in the buffer of another thread. What is sound and complete about them is
//! argued in `docs/theory/robustness.md`.

mod borderline;
mod buffers;
mod forget;
mod sc_order;
mod sober;
mod sober_as_printed;
mod stream;
mod stuck;
#[cfg(feature = "testing")]
pub mod survey;
mod waits;

use std::sync::Arc;

use teetotal_memory::{Event, EventId, EventKind, ModelId, Trace};
use teetotal_program::ir::{Instruction, Program};
use teetotal_program::{Loc, ThreadId};

pub use borderline::Borderline;
pub use buffers::Buffers;
pub use sober::Sober;
pub use sober_as_printed::SoberAsPrinted;
pub use stream::{Mark, Stream, TooMuch};
pub use waits::Waits;

use crate::monitor::{Ending, Finding, Monitor, MonitorId, View};

/// Where in the code of a program something stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    pub thread: ThreadId,
    /// See `Subject::place`.
    pub place: u32,
}

/// A store that may still be in its buffer at an access that comes after it: the end of an execution that sequential
/// consistency does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// The store, in the execution of sequential consistency that was watched.
    pub store: EventId,
    pub store_at: Site,
    /// The access that could go first.
    pub access_at: Site,
    /// The location of both.
    pub loc: Loc,
    /// The position of the access among the events of its thread; it need not have been performed.
    pub index: u32,
    /// What the access waits for in its own thread where it writes.
    pub waits: Waits,
    /// Whether a full fence after the store forbids it, if that is known: not where a step accesses memory more than
    /// once and not everything was searched.
    pub fence_helps: Option<bool>,
}

impl Delay {
    /// Whether the same two places of the program are at fault, as [BURNIM, §6] groups violations.
    #[must_use]
    pub fn is_like(&self, other: &Delay) -> bool {
        (self.store_at, self.access_at) == (other.store_at, other.access_at)
    }
}

/// An access that a thread is about to perform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    pub thread: ThreadId,
    pub loc: Loc,
    /// What it waits for at least, whatever it reads.
    pub waits: Waits,
    /// What it waits for where it writes.
    pub waits_to_write: Waits,
    /// Whether it is a store, which waits only to reach memory, or else accesses memory now.
    pub is_store: bool,
}

impl Attempt {
    /// The access of `event`, before it is performed.
    #[must_use]
    pub fn of(model: ModelId, event: &Event) -> Option<Attempt> {
        let waits = Waits::at_least(model, event);
        let waits_to_write = Waits::of_kind(model, event.kind, event.order);
        Some(Attempt { thread: event.thread, loc: event.loc?, waits, waits_to_write, is_store: event.is_store() })
    }
}

impl Attempt {
    /// What an instruction waits for where it writes.
    #[must_use]
    pub fn waits_of(model: ModelId, instruction: &Instruction) -> Waits {
        let (kind, order) = match instruction {
            Instruction::Store { order, .. } => (EventKind::Store, *order),
            Instruction::Rmw { order, .. } => (EventKind::Rmw, *order),
            Instruction::Lock { order, .. } => (EventKind::Lock, *order),
            Instruction::Unlock { order, .. } => (EventKind::Unlock, *order),
            _ => return Waits::Nothing,
        };
        Waits::of_kind(model, kind, order)
    }
}

/// A way to find delays: sees the events of an execution of sequential consistency, and is asked before each access.
pub trait Algorithm: Send {
    /// Another execution begins.
    fn begin(&mut self);

    /// The store that may still be in the buffer of another thread at `attempt`, although it happened before.
    fn overtaken(&mut self, attempt: &Attempt) -> Option<EventId>;

    /// Takes in an event; `id` is the next one.
    fn perform(&mut self, id: EventId, event: &Event);
}

/// Finds delays by some algorithm.
#[expect(missing_debug_implementations, reason = "algorithms need not be printable")]
pub struct Robustness<A> {
    id: MonitorId,
    program: Arc<Program>,
    model: ModelId,
    algorithm: A,
}

impl<A: Algorithm> Robustness<A> {
    pub(crate) fn new(id: MonitorId, program: &Arc<Program>, model: ModelId, algorithm: A) -> Self {
        Robustness { id, program: Arc::clone(program), model, algorithm }
    }

    fn delay(&mut self, trace: &Trace, attempt: &Attempt, place: u32, index: u32) -> Option<Delay> {
        let store = self.algorithm.overtaken(attempt)?;
        let event = trace.event(store);
        let store_at = Site { thread: event.thread, place: event.place };
        let access_at = Site { thread: attempt.thread, place };
        let waits = attempt.waits_to_write;
        Some(Delay { store, store_at, access_at, loc: attempt.loc, index, waits, fence_helps: Some(true) })
    }
}

impl<A: Algorithm> Monitor for Robustness<A> {
    fn id(&self) -> MonitorId {
        self.id
    }

    fn begin(&mut self) {
        self.algorithm.begin();
    }

    fn step(&mut self, view: &View<'_>) -> Option<Finding> {
        let mut found = None;
        let first = view.trace.events().len() - view.events.len();
        for (offset, event) in view.events.iter().enumerate() {
            if self.model.rules().has_buffers
                && let Some(attempt) = Attempt::of(self.model, event)
            {
                found = found.or(self.delay(view.trace, &attempt, event.place, event.index));
            }
            self.algorithm.perform(EventId::at(first + offset), event);
        }
        found.map(Finding::NotRobust)
    }

    /// A thread that waits for good may go on where memory is older.
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Vec<Finding> {
        if *ending == Ending::Completed || !self.model.rules().has_buffers {
            return Vec::new();
        }
        let stuck = stuck::attempts(&self.program, self.model, view.trace);
        let delays = stuck.iter().filter_map(|s| self.delay(view.trace, &s.attempt, s.place, s.index));
        delays.map(Finding::NotRobust).collect()
    }
}
