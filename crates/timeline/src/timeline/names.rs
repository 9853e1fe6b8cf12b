//! Names in a timeline.

use teetotal_memory::{Event, EventId, EventKind, Trace};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Program, printer};
use teetotal_program::{Loc, ThreadId, Value};

use super::alternative;

/// The names of a program, for one of its executions.
#[derive(Debug)]
pub(super) struct Names<'a> {
    program: &'a Program,
    trace: &'a Trace,
    /// The locations that are used as locks, sorted.
    locks: Vec<Loc>,
}

impl<'a> Names<'a> {
    pub(super) fn new(program: &'a Program, trace: &'a Trace) -> Self {
        let is_lock = |event: &&Event| matches!(event.kind, EventKind::Lock | EventKind::Unlock);
        let mut locks: Vec<Loc> = trace.events().iter().filter(is_lock).filter_map(|event| event.loc).collect();
        locks.sort_unstable();
        locks.dedup();
        Names { program, trace, locks }
    }

    pub(super) fn thread(&self, thread: ThreadId) -> &'a str {
        &self.program.threads[thread.index()].name
    }

    pub(super) fn location(&self, loc: Loc) -> &'a str {
        self.program.location_name(loc)
    }

    /// Returns the text of a value of `loc`; a lock is `free` or held by a thread.
    pub(super) fn value(&self, loc: Loc, value: Value) -> String {
        if self.locks.binary_search(&loc).is_err() {
            return self.program.show_value(Term::Memory(loc), value);
        }
        match value.checked_sub(1) {
            None => "free".to_owned(),
            Some(holder) if holder < self.program.threads.len() as u64 => {
                self.thread(ThreadId::at(holder as usize)).to_owned()
            }
            Some(_) => value.to_string(),
        }
    }

    /// Returns a location and its value as shown in a buffer: `x=1`.
    pub(super) fn holds(&self, loc: Loc, value: Value) -> String {
        format!("{}={}", self.location(loc), self.value(loc, value))
    }

    /// Returns a location and its value as shown in a statement: `x = 1`.
    pub(super) fn equals(&self, loc: Loc, value: Value) -> String {
        format!("{} = {}", self.location(loc), self.value(loc, value))
    }

    /// Returns the write of an event as `x=1`.
    ///
    /// # Panics
    /// If the event wrote nothing.
    pub(super) fn write(&self, id: EventId) -> String {
        let event = self.trace.event(id);
        let (loc, value) = event.loc.zip(event.written).expect("a write has a location and a value");
        self.holds(loc, value)
    }

    /// Returns the statement that an event is part of.
    pub(super) fn statement(&self, event: &Event) -> String {
        let code = &self.program.threads[event.thread.index()].code;
        match (event.place as usize) < code.len() {
            true => printer::shown(self.program, event.thread, event.place as usize, alternative(self.trace, event)),
            false => "an unknown statement".to_owned(),
        }
    }
}

/// Returns the label of a step.
pub(super) fn number(step: u32) -> String {
    format!("({})", step + 1)
}
