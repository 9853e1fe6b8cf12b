//! An execution that was run, with what is needed to ask what else could have happened.

use teetotal_memory::{Event, EventId, EventKind, Source, Step, Trace};
use teetotal_program::{Hindsight, Loc, OnFailure, Op, ThreadId, Value};

use super::names::Name;

/// An execution that was run.
///
/// Its trace has an event more for each thread that stands at a lock or an await at the end, as if it were performed.
pub(super) struct Execution<K> {
    pub(super) trace: Trace,
    /// How many events were performed; the others only stand.
    pub(super) n_performed: usize,
    /// For each thread what it is called, if it was started.
    pub(super) names: Vec<Option<Name>>,
    /// For each event its operation.
    pub(super) operations: Vec<Operation<K>>,
    /// What each location held at first.
    pub(super) initial: Vec<Value>,
    /// What memory has to hold at the end so that threads wait for good, besides where they wait.
    pub(super) wishes: Vec<(Loc, Value)>,
    /// What failed awaits wrote and wrote back, where they did.
    pub(super) restored: Vec<(Loc, EventId)>,
}

/// An operation, and what is kept of it if it may do different things with different values.
#[derive(Clone)]
pub(super) struct Operation<K> {
    pub(super) op: Op,
    pub(super) kept: Option<K>,
}

/// A step by the names of threads and operations that hold in every execution.
///
/// A `Move` of the engine has the names of one execution; a plan is made of parts of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    Issue {
        thread: Name,
        alternative: u32,
    },
    /// The store that is this operation of its thread reaches memory.
    Commit {
        thread: Name,
        index: u32,
    },
}

impl<K> Execution<K> {
    /// Whether the event was performed, and does not only stand.
    pub(super) fn is_performed(&self, id: EventId) -> bool {
        id.index() < self.n_performed
    }

    /// Whether the operation waits for a value.
    pub(super) fn waits(&self, id: EventId) -> bool {
        matches!(self.operations[id.index()].op, Op::Lock { .. } | Op::Await { .. })
    }

    /// The events after the first so many of each thread that could do something else.
    pub(super) fn open_events(&self, counts: &[u32]) -> Vec<EventId> {
        let is_open = |event: &Event| event.index >= counts[event.thread.index()];
        let varies = |event: &Event| event.is_read() || event.kind == EventKind::Choose;
        self.trace.ids().filter(|(_, event)| is_open(event) && varies(event)).map(|(id, _)| id).collect()
    }

    pub(super) fn name(&self, thread: ThreadId) -> Option<Name> {
        self.names.get(thread.index()).copied().flatten()
    }

    /// What is read from `source` at `loc`.
    pub(super) fn value(&self, loc: Loc, source: Source) -> Value {
        match source {
            Source::Initial => self.initial.get(loc.index()).copied().unwrap_or(0),
            Source::Write(write) => self.trace.event(write).written.unwrap_or(0),
        }
    }

    /// Where somebody might read from at `loc`.
    pub(super) fn sources(&self, loc: Loc) -> impl Iterator<Item = Source> + '_ {
        let writes = self.trace.ids().take(self.n_performed);
        let writes = writes.filter(move |(_, event)| event.is_write() && event.loc == Some(loc));
        std::iter::once(Source::Initial).chain(writes.map(|(id, _)| Source::Write(id)))
    }

    /// The event that the operation of `id` would be with what is read from `source`; nothing if it would wait.
    pub(super) fn outcome<S: Hindsight<Kept = K>>(
        &self,
        subject: &S,
        failure_is_load: bool,
        id: EventId,
        source: Source,
    ) -> Option<Event> {
        let event = *self.trace.event(id);
        let Operation { op, kept } = &self.operations[id.index()];
        let (Some(kept), Some(loc)) = (kept, event.loc) else { return Some(event) };
        let value = self.value(loc, source);
        let written = || subject.would_write(kept, value);
        let blank = Event { written: None, fails_as_load: false, forwarded: false, ..event };
        match *op {
            Op::Await { .. } => subject.would_accept(kept, value).then_some(event),
            Op::Lock { .. } => written().map(|_| event),
            Op::Unlock { order, .. } => Some(match written() {
                Some(value) => Event { kind: EventKind::Unlock, written: Some(value), order, ..blank },
                None => Event { kind: EventKind::FailedRmw, order, ..blank },
            }),
            Op::Rmw { order, on_failure, .. } => Some(match (written(), on_failure) {
                (None, OnFailure::Load(order)) if failure_is_load => Event { kind: EventKind::Load, order, ..blank },
                (written, on_failure) => {
                    let kind = if written.is_some() { EventKind::Rmw } else { EventKind::FailedRmw };
                    let fails_as_load = matches!(on_failure, OnFailure::Load(_));
                    Event { kind, written, order, fails_as_load, ..blank }
                }
            }),
            _ => Some(event),
        }
    }

    /// The steps of the execution in which each thread performs so many events of this one, in the same order.
    pub(super) fn turns_of(&self, counts: &[u32]) -> Vec<Turn> {
        let taken = self.trace.steps().iter().filter(|record| {
            let event = self.trace.event(record.event);
            self.is_performed(record.event) && event.index < counts.get(event.thread.index()).copied().unwrap_or(0)
        });
        let turn = |record: &teetotal_memory::StepRecord| {
            let event = self.trace.event(record.event);
            let thread = self.name(event.thread)?;
            Some(match record.step {
                Step::Issue { alternative, .. } => Turn::Issue { thread, alternative },
                Step::Commit { .. } => Turn::Commit { thread, index: event.index },
            })
        };
        taken.filter_map(turn).collect()
    }

    /// These steps, which perform events of this execution in another order, by the names of threads.
    pub(super) fn turns(&self, threads: &[Vec<EventId>], steps: &[Step]) -> Vec<Turn> {
        let mut issued = vec![0; threads.len()];
        let mut pending: Vec<(ThreadId, Loc, u32)> = Vec::new();
        let mut turns = Vec::with_capacity(steps.len());
        for step in steps {
            let Some(name) = self.name(step.thread()) else { continue };
            match *step {
                Step::Issue { thread, alternative } => {
                    let next = threads[thread.index()].get(issued[thread.index()]).map(|id| self.trace.event(*id));
                    issued[thread.index()] += 1;
                    if let Some((event, loc)) = next.filter(|event| event.is_store()).and_then(|e| Some((e, e.loc?))) {
                        pending.push((thread, loc, event.index));
                    }
                    turns.push(Turn::Issue { thread: name, alternative });
                }
                Step::Commit { thread, loc } => {
                    let oldest = pending.iter().position(|store| (store.0, store.1) == (thread, loc));
                    let index = oldest.map(|position| pending.remove(position).2);
                    turns.extend(index.map(|index| Turn::Commit { thread: name, index }));
                }
            }
        }
        turns
    }
}
