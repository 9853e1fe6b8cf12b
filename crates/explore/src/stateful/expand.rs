//! One worker of the search: takes the steps that are worth taking from each of its states.

use teetotal_memory::{Model, Step};
use teetotal_program::{Failure, Foresight, Snapshot, Subject, ThreadId};

use crate::stateful::history::History;
use crate::stateful::reduction::Reduction;
use crate::stateful::visited::{SHARDS, StateId, Visited, Way, hash_of, shard_of};
use crate::system::System;

/// A state and what is remembered of the way to it.
#[derive(Clone)]
pub(super) struct Point<S, M, H> {
    pub(super) system: System<S, M>,
    pub(super) history: H,
}

impl<S: Subject + Snapshot, M: Model, H: History> Point<S, M, H> {
    fn copy_from(&mut self, other: &Self) {
        self.system.copy_from(&other.system);
        self.history.copy_from(&other.history);
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        self.system.save(out);
        if self.history.keeps_sources() {
            self.system.machine().save_sources(out);
        }
        self.history.save(out);
    }

    pub(super) fn load(&mut self, mut bytes: &[u8]) {
        self.system.load(&mut bytes);
        if self.history.keeps_sources() {
            self.system.load_sources(&mut bytes);
        }
        self.history.load(&mut bytes);
    }

    pub(super) fn perform(&mut self, step: Step) -> Option<(ThreadId, Failure)> {
        self.system.perform(step, &mut self.history)
    }
}

/// What a worker found in one round.
#[derive(Default)]
pub(super) struct Found {
    /// New states by shard, in order.
    pub(super) batches: [Batch; SHARDS],
    /// States in which nothing is possible.
    pub(super) terminals: Vec<StateId>,
    /// Steps in which a thread goes wrong.
    pub(super) failures: Vec<(StateId, u32)>,
    /// A thread that runs on without an operation on memory.
    pub(super) endless: Option<(ThreadId, u32)>,
    pub(super) steps: u64,
}

/// States on their way into a shard.
#[derive(Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// Where the bytes of each end, its hash, and the way to it.
    records: Vec<(usize, u64, Way)>,
}

impl Batch {
    fn push(&mut self, bytes: &[u8], hash: u64, way: Way) {
        self.bytes.extend_from_slice(bytes);
        self.records.push((self.bytes.len(), hash, way));
    }

    /// Every state in it with its hash and the way to it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64, Way)> {
        let starts = std::iter::once(0).chain(self.records.iter().map(|record| record.0));
        self.records.iter().zip(starts).map(|(&(end, hash, way), start)| (&self.bytes[start..end], hash, way))
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }
}

impl Found {
    pub(super) fn clear(&mut self) {
        self.batches.iter_mut().for_each(Batch::clear);
        self.terminals.clear();
        self.failures.clear();
        self.endless = None;
        self.steps = 0;
    }
}

/// One worker with its working memory.
pub(super) struct Worker<S, M, H> {
    at: Point<S, M, H>,
    next: Point<S, M, H>,
    reduction: Reduction,
    reduce: bool,
    enabled: Vec<Step>,
    chosen: Vec<u32>,
    bytes: Vec<u8>,
    pub(super) found: Found,
}

impl<S: Foresight + Snapshot + Clone, M: Model, H: History> Worker<S, M, H> {
    pub(super) fn new(start: &Point<S, M, H>, reduce: bool) -> Self {
        Worker {
            at: start.clone(),
            next: start.clone(),
            reduction: Reduction::default(),
            reduce,
            enabled: Vec::new(),
            chosen: Vec::new(),
            bytes: Vec::new(),
            found: Found::default(),
        }
    }

    /// Whether a buffer was ever full.
    pub(super) fn limit_reached(&self) -> bool {
        self.at.system.machine().limit_reached()
    }

    /// Takes every step worth taking from `id`.
    pub(super) fn expand(&mut self, id: StateId, visited: &Visited) {
        self.at.load(visited.bytes_of(id));
        self.at.system.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            self.found.terminals.push(id);
            return;
        }
        let system = &self.at.system;
        let chosen = &mut self.chosen;
        let mut reduced =
            self.reduce && self.reduction.choose(system.subject(), system.machine(), &self.enabled, chosen);
        if !self.reduce {
            chosen.clear();
            chosen.extend(0..self.enabled.len() as u32);
        }
        let mut position = 0;
        while position < self.chosen.len() {
            let goes_back = self.take(id, self.chosen[position], visited);
            position += 1;
            if goes_back && reduced {
                // Whoever waits here might wait forever.
                reduced = false;
                let rest: Vec<u32> = (0..self.enabled.len() as u32).filter(|i| !self.chosen.contains(i)).collect();
                self.chosen.extend(rest);
            }
        }
    }

    /// Takes one step; gives whether its thread goes back in a loop by it.
    fn take(&mut self, id: StateId, choice: u32, visited: &Visited) -> bool {
        let step = self.enabled[choice as usize];
        self.next.copy_from(&self.at);
        let failure = self.next.perform(step);
        self.found.steps += 1;
        match failure {
            Some((thread, Failure::EndlessLoop { instruction })) => {
                self.found.endless.get_or_insert((thread, instruction));
            }
            Some(_) => self.found.failures.push((id, choice)),
            None => {}
        }
        self.bytes.clear();
        self.next.save(&mut self.bytes);
        let hash = hash_of(&self.bytes);
        if !visited.contains(hash, &self.bytes) {
            let way = Way { parent: Some(id), choice };
            self.found.batches[shard_of(hash)].push(&self.bytes, hash, way);
        }
        let position = |point: &Point<S, M, H>| point.system.subject().position(step.thread());
        !step.is_commit() && position(&self.next) <= position(&self.at)
    }
}
