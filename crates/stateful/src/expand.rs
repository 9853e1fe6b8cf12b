//! One worker of the search: takes the steps that are worth taking from each of its states.

use teetotal_engine::System;
use teetotal_memory::{Model, Step};
use teetotal_program::{ExplicitState, Failure, Snapshot, Subject, ThreadId};

use crate::history::History;
use crate::reduction::Reduction;
use crate::store::{Batches, Store};
use crate::visited::{StateId, Way, hash_of};

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

/// What a worker found in one round, beside new states.
#[derive(Default)]
pub(super) struct Found {
    /// States in which nothing is possible.
    pub(super) terminals: Vec<StateId>,
    /// Steps in which a thread goes wrong.
    pub(super) failures: Vec<(StateId, u32)>,
    /// A thread that runs on without an operation on memory.
    pub(super) endless: Option<(ThreadId, u32)>,
    pub(super) steps: u64,
}

impl Found {
    pub(super) fn clear(&mut self) {
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
    pub(super) batches: Batches,
}

impl<S: ExplicitState, M: Model, H: History> Worker<S, M, H> {
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
            batches: Batches::default(),
        }
    }

    /// Whether a buffer was ever full.
    pub(super) fn limit_reached(&self) -> bool {
        [&self.at, &self.next].iter().any(|point| point.system.machine().limit_reached())
    }

    /// Takes every step worth taking from `id`.
    pub(super) fn expand(&mut self, id: StateId, store: &mut impl Store) {
        self.at.load(store.visited().bytes_of(id));
        self.at.system.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            self.found.terminals.push(id);
            return;
        }
        let mut reduced = self.choose();
        let mut position = 0;
        while position < self.chosen.len() {
            let last = position + 1 == self.chosen.len();
            let goes_back = self.take(id, self.chosen[position], last, store);
            position += 1;
            if goes_back && reduced {
                // Whoever waits here might wait forever.
                reduced = false;
                let rest = (0..self.enabled.len() as u32).filter(|index| !self.chosen[..position].contains(index));
                let rest: Vec<u32> = rest.filter(|index| !self.chosen[position..].contains(index)).collect();
                self.chosen.extend(rest);
                self.at.load(store.visited().bytes_of(id));
            }
        }
    }

    /// Chooses among the possible steps; gives whether any is left out.
    fn choose(&mut self) -> bool {
        if self.reduce {
            let system = &self.at.system;
            return self.reduction.choose(system.subject(), system.machine(), &self.enabled, &mut self.chosen);
        }
        self.chosen.clear();
        self.chosen.extend(0..self.enabled.len() as u32);
        false
    }

    /// Takes one step; gives whether its thread goes back in a loop by it.
    ///
    /// The last one needs no copy of the state that it starts from.
    fn take(&mut self, id: StateId, choice: u32, last: bool, store: &mut impl Store) -> bool {
        let step = self.enabled[choice as usize];
        let before = self.at.system.subject().position(step.thread());
        if last {
            std::mem::swap(&mut self.next, &mut self.at);
        } else {
            self.next.copy_from(&self.at);
        }
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
        store.offer(&self.bytes, hash_of(&self.bytes), Way { parent: Some(id), choice });
        !step.is_commit() && self.next.system.subject().position(step.thread()) <= before
    }
}
