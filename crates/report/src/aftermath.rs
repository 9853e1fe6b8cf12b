//! The state of threads and memory after an execution, computed from its trace alone.

use std::sync::Arc;

use teetotal_memory::{Event, EventKind, Step, Trace};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Op, Reg, Status, Subject, ThreadId, Value};

/// The state that an execution leads to.
///
/// Each thread gets the answers that its events record, so no machine is needed.
#[derive(Debug)]
pub(crate) struct Aftermath<'a> {
    program: &'a Program,
    subject: Interpreter,
    memory: Vec<Value>,
}

impl<'a> Aftermath<'a> {
    /// Returns the state after `trace`, an execution of `program`.
    pub(crate) fn new(program: &'a Arc<Program>, trace: &Trace) -> Self {
        let mut subject = Interpreter::new(Arc::clone(program));
        subject.restart();
        let mut events = trace.events().iter().peekable();
        for (index, record) in trace.steps().iter().enumerate() {
            let Step::Issue { thread, .. } = record.step else { continue };
            let mut answer: Vec<Value> = Vec::new();
            while let Some(event) = events.next_if(|event| event.step as usize == index) {
                answer.extend(answer_of(event));
            }
            subject.resume(thread, &answer);
        }
        Aftermath { program, subject, memory: memory_after(program, trace) }
    }

    /// Returns the value of a register.
    pub(crate) fn register(&self, thread: ThreadId, reg: Reg) -> Value {
        self.subject.register(thread, reg)
    }

    /// Returns the next instruction of `thread`.
    pub(crate) fn place(&self, thread: ThreadId) -> usize {
        self.subject.place(thread) as usize
    }

    /// Returns what blocks `thread`, as a clause that follows the statement at which it waits.
    pub(crate) fn obstacle(&self, thread: ThreadId) -> String {
        let name = |thread: ThreadId| self.program.threads[thread.index()].name.as_str();
        match self.subject.status(thread) {
            Status::Ready(Op::Lock { loc, .. }) => match self.holder(loc) {
                Some(holder) if holder == thread => ", which it holds itself".to_owned(),
                Some(holder) => format!(", which {} holds", name(holder)),
                None => String::new(),
            },
            Status::Ready(Op::Join { thread: other, .. }) => match self.subject.status(other) {
                Status::NotStarted => format!(", but {} was never started", name(other)),
                _ => format!(", but {} has not ended", name(other)),
            },
            Status::Ready(Op::Await { .. }) => {
                let mut awaited = Vec::new();
                self.subject.awaited(thread, &mut awaited);
                let holds = awaited.iter().map(|&loc| {
                    let value = self.program.show_value(Term::Memory(loc), self.memory[loc.index()]);
                    format!("{} is {value}", self.program.location_name(loc))
                });
                format!(", but {}", holds.collect::<Vec<_>>().join(" and "))
            }
            _ => String::new(),
        }
    }

    fn holder(&self, loc: Loc) -> Option<ThreadId> {
        let holder = self.memory[loc.index()].checked_sub(1)?;
        (holder < self.program.threads.len() as u64).then(|| ThreadId::at(holder as usize))
    }
}

impl FinalState for Aftermath<'_> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.register(thread, reg),
            Term::Memory(loc) => self.memory[loc.index()],
        }
    }
}

/// Returns the answer that an event gave to its thread.
fn answer_of(event: &Event) -> Option<Value> {
    match event.kind {
        EventKind::Load
        | EventKind::Rmw
        | EventKind::FailedRmw
        | EventKind::Lock
        | EventKind::Unlock
        | EventKind::Choose => event.read,
        EventKind::Store | EventKind::Fence | EventKind::GlobalFence | EventKind::Spawn(_) | EventKind::Join(_) => None,
    }
}

/// Returns the value of each location after the writes of `trace` that reached memory.
fn memory_after(program: &Program, trace: &Trace) -> Vec<Value> {
    let mut memory: Vec<Value> = program.locations.iter().map(|location| location.initial).collect();
    let mut writes: Vec<(u32, Loc, Value)> =
        trace.events().iter().filter_map(|event| Some((event.committed?, event.loc?, event.written?))).collect();
    writes.sort_by_key(|&(step, ..)| step);
    for (_, loc, value) in writes {
        memory[loc.index()] = value;
    }
    memory
}
