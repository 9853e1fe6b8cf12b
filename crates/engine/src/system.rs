//! A subject and its memory: the only place where steps are performed.

use teetotal_judge::Ending;
use teetotal_memory::{Machine, Model, Recorder, Step, StoreBuffer, Unrecorded};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Loc, Op, Rewind, Snapshot, Status, Subject, ThreadId, Value};

/// A subject in the middle of an execution under the model `M`.
#[derive(Clone, Debug)]
pub struct System<S, M> {
    subject: S,
    machine: Machine<M>,
}

impl<S: Subject, M: Model> System<S, M> {
    /// At the beginning of `subject`.
    pub fn new(mut subject: S) -> Self {
        subject.restart();
        let machine = Machine::new(&subject);
        System { subject, machine }
    }

    /// Back to the beginning.
    pub fn restart(&mut self) {
        self.subject.restart();
        self.machine.restart(&self.subject);
    }

    #[must_use]
    pub fn subject(&self) -> &S {
        &self.subject
    }

    #[must_use]
    pub fn machine(&self) -> &Machine<M> {
        &self.machine
    }

    /// The subject, to tell it something that performs no step.
    pub fn subject_mut(&mut self) -> &mut S {
        &mut self.subject
    }

    /// The subject, without the memory.
    #[must_use]
    pub fn into_subject(self) -> S {
        self.subject
    }

    /// Lets every pending store leave its buffer and tells the subject what memory then holds, before it is taken back.
    pub fn settle(&mut self)
    where
        S: Rewind,
    {
        let mut steps = Vec::new();
        while !self.machine.is_drained() {
            self.enabled(&mut steps);
            let Some(commit) = steps.iter().find(|step| step.is_commit()) else { break };
            self.machine.perform(&mut self.subject, *commit, &mut Unrecorded);
        }
        let machine = &self.machine;
        self.subject.settle(&|loc| machine.memory(loc));
    }

    /// Puts `thread` where it once was: its own state, and its pending stores.
    pub fn put_thread(&mut self, thread: ThreadId, words: &[Value], buffer: &StoreBuffer)
    where
        S: Rewind,
    {
        self.subject.load_thread(thread, words);
        self.machine.set_buffer(thread, buffer);
    }

    /// Puts `value` into memory.
    pub fn put_memory(&mut self, loc: Loc, value: Value) {
        self.machine.set_memory(loc, value);
    }

    /// Replaces `steps` by those in which `thread` performs its operation now, whatever the others ask for.
    pub fn issues_of(&mut self, thread: ThreadId, steps: &mut Vec<Step>) {
        steps.clear();
        self.machine.push_issues(&self.subject, thread, steps);
    }

    /// Lets no buffer hold more than `limit` stores.
    pub fn limit_buffers(&mut self, limit: usize) {
        self.machine.limit_buffers(limit);
    }

    /// Takes back who wrote what is in memory; see [`Machine::save_sources`].
    pub fn load_sources(&mut self, bytes: &mut &[u8]) {
        self.machine.load_sources(bytes);
    }

    /// Replaces `steps` by every possible step, in an order that depends on the state alone.
    pub fn enabled(&mut self, steps: &mut Vec<Step>) {
        steps.clear();
        self.machine.enabled(&self.subject, steps);
    }

    /// Performs a possible step. Gives the thread that went wrong in it, if one did.
    pub fn perform(&mut self, step: Step, recorder: &mut impl Recorder) -> Option<(ThreadId, Failure)> {
        let op = self.machine.perform(&mut self.subject, step, recorder)?;
        let spawned = match op {
            Op::Spawn { thread, .. } => Some(thread),
            _ => None,
        };
        self.failure_of(step.thread()).or_else(|| self.failure_of(spawned?))
    }

    /// The first thread that goes wrong before any step is taken.
    pub fn initial_failure(&self) -> Option<(ThreadId, Failure)> {
        (0..self.subject.n_threads()).find_map(|index| self.failure_of(ThreadId::at(index)))
    }

    fn failure_of(&self, thread: ThreadId) -> Option<(ThreadId, Failure)> {
        self.subject.failure(thread).map(|failure| (thread, failure))
    }

    /// How the execution ended, given that no step is possible.
    pub fn ending(&self) -> Ending {
        ending(&self.subject)
    }
}

/// How an execution ended, given that no step is possible.
pub fn ending(subject: &impl Subject) -> Ending {
    let statuses = || (0..subject.n_threads()).map(ThreadId::at).map(|thread| (thread, subject.status(thread)));
    if statuses().any(|(_, status)| matches!(status, Status::Failed(_))) {
        return Ending::Failed;
    }
    if statuses().any(|(_, status)| status == Status::Discarded) {
        return Ending::Discarded;
    }
    let waits = |status| matches!(status, Status::Ready(_) | Status::FailedAwait(_));
    let waiting = statuses().filter(|(_, status)| waits(*status)).map(|(thread, _)| thread);
    let blocked: Vec<ThreadId> = waiting.filter(|&thread| !subject.may_rest(thread)).collect();
    if blocked.is_empty() { Ending::Completed } else { Ending::Blocked(blocked) }
}

impl<S: Subject, M: Model> FinalState for System<S, M> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => self.machine.memory(loc),
        }
    }
}

impl<S: Snapshot, M: Model> Snapshot for System<S, M> {
    fn copy_from(&mut self, other: &Self) {
        self.subject.copy_from(&other.subject);
        self.machine.copy_from(&other.machine);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.subject.save(out);
        self.machine.save(out);
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        self.subject.load(bytes);
        self.machine.load(bytes);
    }
}
