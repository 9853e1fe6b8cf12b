//! What a symbolic state has in full: the threads and memory, without the buffers.

use teetotal_memory::Model;
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Loc, Snapshot, Subject, Value, packed};

/// Threads and memory at one moment.
#[derive(Clone, Debug)]
pub(super) struct Point<S> {
    pub(super) subject: S,
    pub(super) memory: Vec<Value>,
    /// Which threads go on only when their buffer is empty, as after a sequentially consistent store.
    pub(super) draining: Vec<bool>,
}

impl<S: Subject> Point<S> {
    /// At the beginning of `subject`.
    pub(super) fn new(subject: S) -> Self {
        let memory = (0..subject.n_locations()).map(|index| subject.initial(Loc::at(index))).collect();
        let draining = vec![false; subject.n_threads()];
        Point { subject, memory, draining }
    }
}

impl<S: Subject + Snapshot> Point<S> {
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.subject.copy_from(&other.subject);
        self.memory.clone_from(&other.memory);
        self.draining.clone_from(&other.draining);
    }

    pub(super) fn save<M: Model>(&self, out: &mut Vec<u8>) {
        self.subject.save(out);
        packed::put_all(out, &self.memory);
        if M::BUFFERS {
            for group in self.draining.chunks(GROUP) {
                packed::put(out, group.iter().rev().fold(0, |bits, &draining| bits << 1 | u64::from(draining)));
            }
        }
    }

    pub(super) fn load<M: Model>(&mut self, mut bytes: &[u8]) {
        self.subject.load(&mut bytes);
        packed::take_all(&mut bytes, &mut self.memory);
        if M::BUFFERS {
            for group in self.draining.chunks_mut(GROUP) {
                let bits = packed::take(&mut bytes);
                group.iter_mut().enumerate().for_each(|(bit, draining)| *draining = bits & 1 << bit != 0);
            }
        }
    }
}

/// How many threads share a number that says which of them drain; so few that it is mostly one byte.
const GROUP: usize = 7;

impl<S: Subject> FinalState for Point<S> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => self.memory[loc.index()],
        }
    }
}
