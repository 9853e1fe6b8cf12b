//! Grows traces: operations that read nothing at once, reads with each source they may have.

use std::ops::ControlFlow;
use std::sync::Arc;

use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::ir::{Instruction, Interpreter, Program};
use teetotal_program::{Foresight, Loc, Op, Order, Status, Subject, ThreadId};

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::enumerate::graph::Graph;
use crate::axiomatic::enumerate::{EnumerateError, Execution};
use crate::axiomatic::facts::Keeps;

/// The search for the executions of one program.
pub(super) struct Search<V> {
    pub(super) axioms: &'static Axioms,
    pub(super) n_locations: usize,
    pub(super) visit: V,
    /// Of the program at its beginning.
    start: Option<State>,
}

/// A trace in the making and the program that it is of.
#[derive(Clone)]
pub(super) struct State {
    pub(super) subject: Interpreter,
    pub(super) graph: Graph,
    /// For each thread at a read that waits for a write still to come: how many events there were when it began to.
    pub(super) waiting: Vec<Option<usize>>,
}

/// Why the search goes no further.
pub(super) enum Stop {
    /// The visitor broke off.
    Visitor,
    Refused(EnumerateError),
}

impl<V: FnMut(Execution) -> ControlFlow<()>> Search<V> {
    pub(super) fn new(model: ModelId, program: &Program, visit: V) -> Self {
        let axioms = Axioms::of(model);
        let n_events = program.threads.iter().flat_map(|thread| &thread.code).map(most_events).sum();
        let start = State {
            subject: Interpreter::new(Arc::new(program.clone())),
            graph: Graph::new(axioms.stores_wait, axioms.has_moments, program.n_threads(), n_events),
            waiting: vec![None; program.n_threads()],
        };
        Search { axioms, n_locations: program.locations.len(), visit, start: Some(start) }
    }

    pub(super) fn run(mut self) -> Result<(), EnumerateError> {
        let start = self.start.take().expect("a search runs once");
        match self.grow(start) {
            Ok(()) | Err(Stop::Visitor) => Ok(()),
            Err(Stop::Refused(error)) => Err(error),
        }
    }

    /// Visits every execution that continues `state`.
    pub(super) fn grow(&mut self, mut state: State) -> Result<(), Stop> {
        while let Some((thread, op)) = state.next_without_read() {
            if let Op::Choose { alternatives } = op {
                for alternative in 0..alternatives {
                    let mut branch = state.clone();
                    let blank = branch.blank(thread);
                    let event = Event { kind: EventKind::Choose, read: Some(alternative.into()), ..blank };
                    if branch.perform(event, self.axioms.keeps) {
                        branch.subject.resume(thread, &[alternative.into()]);
                        self.grow(branch)?;
                    }
                }
                return Ok(());
            }
            let event = performed(op, state.blank(thread));
            state.refuse_second_start(event.kind)?;
            if !state.perform(event, self.axioms.keeps) {
                return Ok(());
            }
            state.subject.resume(thread, &[]);
        }
        match state.next_read() {
            Some(thread) => self.read(state, thread),
            None if state.is_maximal() => self.choose_coherence(&state),
            None => Ok(()),
        }
    }
}

impl State {
    /// The first thread whose next operation is possible and reads no memory.
    fn next_without_read(&self) -> Option<(ThreadId, Op)> {
        self.ready().find(|&(_, op)| match op {
            Op::Load { .. } | Op::Rmw { .. } | Op::Lock { .. } | Op::Unlock { .. } | Op::Await { .. } => false,
            Op::Join { thread, .. } => self.subject.status(thread) == Status::Finished,
            _ => true,
        })
    }

    /// The first thread at a read for which a source may be there that was not when it was last looked at.
    fn next_read(&self) -> Option<ThreadId> {
        let may_go_on = |&(thread, op): &(ThreadId, Op)| {
            let since = self.waiting[thread.index()];
            let locations = self.locations_read(thread, op);
            !matches!(op, Op::Join { .. })
                && since.is_none_or(|since| locations.iter().any(|&loc| self.graph.writes(loc).any(|w| w >= since)))
        };
        self.ready().find(may_go_on).map(|(thread, _)| thread)
    }

    /// Whether no thread is left at an operation that cannot block.
    fn is_maximal(&self) -> bool {
        self.ready().all(|(_, op)| matches!(op, Op::Join { .. } | Op::Lock { .. } | Op::Await { .. }))
    }

    pub(super) fn ready(&self) -> impl Iterator<Item = (ThreadId, Op)> + '_ {
        (0..self.subject.n_threads()).map(ThreadId::at).filter_map(|thread| match self.subject.status(thread) {
            Status::Ready(op) => Some((thread, op)),
            _ => None,
        })
    }

    /// The locations that the operation of `thread` reads.
    pub(super) fn locations_read(&self, thread: ThreadId, op: Op) -> Vec<Loc> {
        let mut locations = Vec::new();
        match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Lock { loc, .. } | Op::Unlock { loc, .. } => {
                locations.push(loc);
            }
            Op::Await { .. } => self.subject.awaited(thread, &mut locations),
            _ => {}
        }
        locations
    }

    /// Whether another thread may still write to `loc`.
    pub(super) fn may_be_written(&self, loc: Loc, reader: ThreadId) -> bool {
        (0..self.subject.n_threads())
            .map(ThreadId::at)
            .filter(|&thread| thread != reader)
            .any(|thread| self.subject.future(thread).writes().has(loc))
    }

    /// An event of `thread` where it stands, without content.
    pub(super) fn blank(&self, thread: ThreadId) -> Event {
        self.graph.blank(thread, self.subject.place(thread))
    }

    /// Appends an event that is a step of its own.
    #[must_use]
    pub(super) fn perform(&mut self, event: Event, keeps: Keeps) -> bool {
        let moment = self.graph.next_id();
        self.graph.push(event, moment, keeps)
    }

    fn refuse_second_start(&self, kind: EventKind) -> Result<(), Stop> {
        match kind {
            EventKind::Spawn(thread) if self.subject.status(thread) != Status::NotStarted => {
                let program = self.subject.program().name.clone();
                Err(Stop::Refused(EnumerateError::SpawnedTwice { program, thread }))
            }
            _ => Ok(()),
        }
    }
}

/// The event of an operation that reads nothing.
fn performed(op: Op, blank: Event) -> Event {
    match op {
        Op::Store { loc, value, order } => {
            Event { kind: EventKind::Store, loc: Some(loc), written: Some(value), order, ..blank }
        }
        Op::Fence { order } => Event { kind: EventKind::Fence, order, ..blank },
        Op::GlobalFence => Event { kind: EventKind::GlobalFence, order: Order::SeqCst, ..blank },
        Op::Spawn { thread, order } => Event { kind: EventKind::Spawn(thread), order, ..blank },
        Op::Join { thread, order } => Event { kind: EventKind::Join(thread), order, ..blank },
        Op::Load { .. }
        | Op::Rmw { .. }
        | Op::Lock { .. }
        | Op::Unlock { .. }
        | Op::Await { .. }
        | Op::Choose { .. } => {
            unreachable!("{op:?} reads or chooses")
        }
    }
}

/// How many events an instruction has at most; without loops it runs at most once.
fn most_events(instruction: &Instruction) -> usize {
    match instruction {
        Instruction::Await { loads, .. } => loads.len(),
        Instruction::Guarded { loads, .. } => loads.len() + 2,
        other => usize::from(other.is_visible()),
    }
}
