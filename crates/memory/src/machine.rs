//! The machine that all models share: memory, a store buffer for each thread, and the steps on them.
//!
//! What each operation does under each model is the table of `docs/theory/semantics.md`.

use std::marker::PhantomData;

use teetotal_program::{Loc, Op, Snapshot, Status, Subject, ThreadId, Value, packed};

use crate::event::{Event, EventId, Source};
use crate::execution_graph::ExecutionGraph;
use crate::model::Model;
use crate::step::Step;
use crate::store_buffer::StoreBuffer;

mod graph;
mod issue;

/// Memory and store buffers under the model `M`.
#[derive(Clone, Debug)]
pub struct Machine<M> {
    /// What memory holds.
    values: Vec<Value>,
    /// Who wrote that.
    sources: Vec<Source>,
    buffers: Vec<StoreBuffer>,
    /// How many store-store barriers each thread has passed; for events only.
    epochs: Vec<u32>,
    /// No buffer holds more stores than this.
    buffer_limit: usize,
    /// Whether a store was ever held back because of the limit.
    limit_reached: bool,
    /// The locations and values of an await, kept to save allocations.
    scratch: (Vec<Loc>, Vec<Seen>, Vec<Value>),
    /// The execution so far, where the model is one of graphs; memory then holds the newest writes of it.
    graph: ExecutionGraph,
    model: PhantomData<M>,
}

/// A value that a load may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    pub value: Value,
    pub source: Source,
    /// Whether it is in the buffer of the thread itself.
    pub forwarded: bool,
}

/// Somebody who is told of every event.
pub trait Recorder {
    /// Takes note of an event; its `index` and `step` are for the recorder to fill in.
    fn event(&mut self, event: Event) -> EventId;

    /// Takes note that the write of an event reached memory.
    fn committed(&mut self, event: EventId);

    /// Takes note that so many writes to its location come after the write of an event in modification order, where
    /// that is not the order in which writes reach memory.
    fn placed(&mut self, _event: EventId, _followers: usize) {}

    /// Takes note that a step is about to be performed.
    fn step(&mut self, step: Step);

    /// Which operation of which thread wrote what was read from `source`, if that was noted.
    fn writer(&self, _source: Source) -> Option<(ThreadId, u32)> {
        None
    }
}

/// Takes note of nothing, for searches over states.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn event(&mut self, _: Event) -> EventId {
        EventId(u32::MAX)
    }

    fn committed(&mut self, _: EventId) {}

    fn step(&mut self, _: Step) {}
}

impl<M: Model> Machine<M> {
    /// Memory as `subject` finds it at the beginning.
    pub fn new(subject: &impl Subject) -> Self {
        let mut machine = Machine {
            values: Vec::new(),
            sources: Vec::new(),
            buffers: vec![StoreBuffer::default(); subject.n_threads()],
            epochs: vec![0; subject.n_threads()],
            buffer_limit: usize::MAX,
            limit_reached: false,
            scratch: Default::default(),
            graph: ExecutionGraph::default(),
            model: PhantomData,
        };
        machine.restart(subject);
        machine
    }

    /// Back to the beginning, for another execution.
    pub fn restart(&mut self, subject: &impl Subject) {
        self.values.clear();
        self.sources.clear();
        self.grow(subject);
        self.buffers.iter_mut().for_each(StoreBuffer::clear);
        self.epochs.fill(0);
        self.graph.clear();
    }

    /// Takes in locations and threads that are new since the last step.
    fn grow(&mut self, subject: &impl Subject) {
        let known = self.values.len();
        if known < subject.n_locations() {
            self.values.extend((known..subject.n_locations()).map(|index| subject.initial(Loc::at(index))));
            self.sources.resize(self.values.len(), Source::Initial);
        }
        if self.buffers.len() < subject.n_threads() {
            self.buffers.resize_with(subject.n_threads(), StoreBuffer::default);
            self.epochs.resize(subject.n_threads(), 0);
        }
    }

    /// Lets no buffer hold more than `limit` stores. A search that meets the limit is incomplete.
    pub fn limit_buffers(&mut self, limit: usize) {
        self.buffer_limit = limit;
    }

    /// Whether a store was ever held back by the limit on buffers.
    #[must_use]
    pub fn limit_reached(&self) -> bool {
        self.limit_reached
    }

    /// What memory holds at `loc`.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        self.values[loc.index()]
    }

    /// The pending stores of `thread`.
    #[must_use]
    pub fn buffer(&self, thread: ThreadId) -> &StoreBuffer {
        &self.buffers[thread.index()]
    }

    /// Whether every store has reached memory.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.buffers.iter().all(StoreBuffer::is_empty)
    }

    /// The values that a load of `loc` by `thread` may return: one, in these models.
    #[inline]
    pub fn sources(&self, thread: ThreadId, loc: Loc) -> impl Iterator<Item = Seen> + use<M> {
        std::iter::once(self.seen(thread, loc))
    }

    /// The newest own pending store to `loc`, else memory.
    #[inline]
    fn seen(&self, thread: ThreadId, loc: Loc) -> Seen {
        if M::BUFFERS
            && let Some(pending) = self.buffers[thread.index()].newest(loc)
        {
            return Seen { value: pending.value, source: Source::Write(pending.event), forwarded: true };
        }
        self.in_memory(loc)
    }

    #[inline]
    fn in_memory(&self, loc: Loc) -> Seen {
        Seen { value: self.values[loc.index()], source: self.sources[loc.index()], forwarded: false }
    }

    /// Puts every possible step into `steps`, which is empty before: issues by thread, then commits by thread.
    ///
    /// The order depends on the state alone.
    pub fn enabled(&mut self, subject: &impl Subject, steps: &mut Vec<Step>) {
        let exclusive = subject.exclusive();
        if let Some(thread) = exclusive {
            self.push_issues(subject, thread, steps);
        } else {
            (0..subject.n_threads()).for_each(|index| self.push_issues(subject, ThreadId::at(index), steps));
        }
        if M::BUFFERS {
            for (index, buffer) in self.buffers.iter().enumerate() {
                let thread = ThreadId::at(index);
                let may_leave = (0..buffer.pending().len()).filter(|&i| M::may_leave(buffer, i));
                steps.extend(may_leave.map(|i| Step::Commit { thread, loc: buffer.pending()[i].loc }));
            }
        }
    }

    /// Adds the steps in which `thread` performs its operation, if it can now; what others ask for does not matter.
    #[inline]
    pub fn push_issues(&mut self, subject: &impl Subject, thread: ThreadId, steps: &mut Vec<Step>) {
        let Status::Ready(op) = subject.status(thread) else { return };
        if M::GRAPHS {
            self.push_graph_issues(subject, thread, op, steps);
            return;
        }
        if !self.may_issue(subject, thread, op) {
            return;
        }
        let alternatives = match op {
            Op::Choose { alternatives } => alternatives,
            Op::Load { loc, .. } => self.sources(thread, loc).count() as u32,
            Op::Await { alternatives, .. } => {
                let possible = (0..alternatives).filter(|&alternative| self.may_take(subject, thread, alternative));
                steps.extend(possible.map(|alternative| Step::Issue { thread, alternative }));
                return;
            }
            _ => 1,
        };
        steps.extend((0..alternatives).map(|alternative| Step::Issue { thread, alternative }));
    }

    /// Performs a step, which must be one of those that [`Machine::enabled`] gives.
    ///
    /// Gives the operation, if it was one.
    pub fn perform<S: Subject, R: Recorder>(&mut self, subject: &mut S, step: Step, recorder: &mut R) -> Option<Op> {
        recorder.step(step);
        let op = match step {
            Step::Issue { thread, alternative } => {
                let Status::Ready(op) = subject.status(thread) else { panic!("thread {thread} has no operation") };
                if M::GRAPHS {
                    self.issue_in_graph(subject, thread, op, alternative, recorder);
                } else {
                    self.issue(subject, thread, op, alternative, recorder);
                }
                self.grow(subject);
                Some(op)
            }
            Step::Commit { thread, loc } => {
                let buffer = &mut self.buffers[thread.index()];
                let oldest = buffer.oldest(loc).expect("an enabled commit has a store");
                let pending = buffer.remove(oldest);
                self.write(loc, pending.value, pending.event);
                recorder.committed(pending.event);
                None
            }
        };
        self.let_others_go_on(subject);
        op
    }

    /// Ends a stretch without a switch where its thread cannot go on; one that only finds its buffer full can.
    fn let_others_go_on(&mut self, subject: &mut impl Subject) {
        let Some(thread) = subject.exclusive() else { return };
        let Status::Ready(op) = subject.status(thread) else { return };
        let limit = std::mem::replace(&mut self.buffer_limit, usize::MAX);
        if !self.may_issue(subject, thread, op) {
            subject.give_way();
        }
        self.buffer_limit = limit;
    }

    /// Whether the limit on buffers keeps `thread` from storing.
    fn is_full(&self, thread: ThreadId) -> bool {
        M::BUFFERS && self.buffers[thread.index()].pending().len() >= self.buffer_limit
    }

    /// Puts `value` into memory, as if it had always been there.
    pub fn set_memory(&mut self, loc: Loc, value: Value) {
        self.values[loc.index()] = value;
        self.sources[loc.index()] = Source::Initial;
    }

    /// Puts `buffer` in the place of the pending stores of `thread`.
    pub fn set_buffer(&mut self, thread: ThreadId, buffer: &StoreBuffer) {
        self.buffers[thread.index()].copy_from(buffer);
    }

    fn write(&mut self, loc: Loc, value: Value, event: EventId) {
        self.values[loc.index()] = value;
        self.sources[loc.index()] = Source::Write(event);
    }
}

impl<M: Model> Snapshot for Machine<M> {
    fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.sources.clone_from(&other.sources);
        self.buffers.iter_mut().zip(&other.buffers).for_each(|(buffer, source)| buffer.copy_from(source));
        self.epochs.clone_from(&other.epochs);
        if M::GRAPHS {
            self.graph.clone_from(&other.graph);
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        debug_assert!(!M::GRAPHS, "a graph is no state that is reached twice");
        packed::put_all(out, &self.values);
        if M::BUFFERS {
            // Most buffers are empty most of the time.
            for group in self.buffers.chunks(GROUP) {
                let occupied = (0..).zip(group).filter(|(_, buffer)| !buffer.is_empty());
                packed::put(out, occupied.clone().fold(0, |bits, (bit, _)| bits | 1 << bit));
                occupied.for_each(|(_, buffer): (u32, _)| buffer.save(out));
            }
        }
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        packed::take_all(bytes, &mut self.values);
        self.sources.fill(Source::Initial);
        if M::BUFFERS {
            for group in self.buffers.chunks_mut(GROUP) {
                let occupied = packed::take(bytes);
                for (bit, buffer) in group.iter_mut().enumerate() {
                    if occupied & 1 << bit == 0 {
                        buffer.clear();
                    } else {
                        buffer.load(bytes);
                    }
                }
            }
        }
    }
}

/// How many buffers share a number that says which of them are not empty; so few that it is mostly one byte.
const GROUP: usize = 7;

/// Who wrote what is in memory and in the buffers; [`Snapshot`] leaves it out, since it does not change what may happen.
impl<M: Model> Machine<M> {
    /// Appends who wrote what.
    pub fn save_sources(&self, out: &mut Vec<u8>) {
        for source in &self.sources {
            packed::put(
                out,
                match *source {
                    Source::Initial => 0,
                    Source::Write(id) => 1 + u64::from(id.0),
                },
            );
        }
        let pending = self.buffers.iter().flat_map(|buffer| buffer.pending());
        pending.for_each(|store| packed::put(out, store.event.0.into()));
    }

    /// Takes it back, after the rest of the state.
    pub fn load_sources(&mut self, bytes: &mut &[u8]) {
        for source in &mut self.sources {
            *source = match packed::take(bytes) {
                0 => Source::Initial,
                id => Source::Write(EventId((id - 1) as u32)),
            };
        }
        let pending = self.buffers.iter_mut().flat_map(StoreBuffer::pending_mut);
        pending.for_each(|store| store.event = EventId(packed::take(bytes) as u32));
    }
}
