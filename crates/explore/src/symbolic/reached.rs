//! What the symbolic search reached, one concrete state at a time, to compare it with other engines.

use std::collections::BTreeSet;

use teetotal_memory::{Model, StoreBuffer};
use teetotal_program::{Foresight, Loc, Rewind, Snapshot, Subject, ThreadId, Value};

use super::alphabet::{Alphabet, BARRIER, Store};
use super::automaton::{Language, Letter};
use super::search::{Search, Settings};
use crate::collector::Collector;
use crate::driver::StopSignal;
use crate::outcome::Coverage;
use crate::system::System;

/// A state of the machine: its threads, its memory and its buffers, in a form that can be compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Concrete {
    /// The threads, packed.
    pub threads: Vec<u8>,
    pub memory: Vec<Value>,
    /// For each thread its pending stores, the oldest first; `None` is a barrier.
    pub buffers: Vec<Vec<Option<Store>>>,
    /// Which threads wait for their buffer to be empty.
    pub draining: Vec<bool>,
}

impl Concrete {
    /// The state that `system` is in.
    pub fn of<S: Subject + Snapshot, M: Model>(system: &System<S, M>) -> Self {
        let (subject, machine) = (system.subject(), system.machine());
        let mut threads = Vec::new();
        subject.save(&mut threads);
        let buffers = || (0..subject.n_threads()).map(|index| machine.buffer(ThreadId::at(index)));
        Concrete {
            threads,
            memory: (0..subject.n_locations()).map(|index| machine.memory(Loc::at(index))).collect(),
            buffers: buffers().map(content::<M>).collect(),
            draining: buffers().map(StoreBuffer::is_draining).collect(),
        }
    }
}

fn content<M: Model>(buffer: &StoreBuffer) -> Vec<Option<Store>> {
    let mut content = Vec::new();
    for pending in buffer.pending() {
        if pending.after_barrier {
            content.push(None);
        }
        let release = M::BARRIERS && pending.release;
        content.push(Some(Store { loc: pending.loc, value: pending.value, release }));
    }
    if buffer.has_barrier_at_end() {
        content.push(None);
    }
    content
}

/// Everything that the symbolic search reached.
#[expect(missing_debug_implementations, reason = "it is a search that has ended")]
pub struct Reached<'s, S, M> {
    search: Search<'s, S, M>,
    pub coverage: Coverage,
}

impl<'s, S: Foresight + Snapshot + Rewind + Clone, M: Model> Reached<'s, S, M> {
    /// Searches all states that `subject` leads to.
    pub fn by(subject: S, collector: &mut Collector, settings: &'s Settings, signal: StopSignal<'_>) -> Self {
        let mut search = Search::new(subject, settings);
        let coverage = search.run(collector, signal);
        Reached { search, coverage }
    }

    /// Whether `state` is among the states reached.
    ///
    /// Of a coarse search, whether a state is that differs only in the order of stores that may pass each other.
    pub fn contains(&mut self, state: &Concrete) -> bool {
        let is_coarse = self.search.settings.coarse.is_some();
        let world = &mut self.search.world;
        let mut words: Vec<Vec<Vec<Letter>>> = Vec::new();
        for content in &state.buffers {
            let letters = content.iter().map(|store| match store {
                None => Some(BARRIER),
                Some(store) => world.buffers.alphabet.known(*store),
            });
            match letters.collect() {
                Some(word) if is_coarse => words.push(reordered(&world.buffers.alphabet, word)),
                Some(word) => words.push(vec![word]),
                None => return false,
            }
        }
        let automata = &world.buffers.automata;
        let holds = |languages: &[Language]| {
            let one_of = |(&language, words): (&Language, &Vec<Vec<Letter>>)| {
                words.iter().any(|word| automata.contains(language, word))
            };
            languages.iter().zip(&words).all(one_of)
        };
        let candidates = self.search.states.iter().filter(|s| !s.is_covered && holds(&s.languages));
        let candidates: Vec<_> = candidates.map(|s| s.key).collect();
        candidates.into_iter().any(|key| {
            world.visit(key);
            let mut threads = Vec::new();
            world.at.subject.save(&mut threads);
            let is_empty = state.buffers.iter().map(Vec::is_empty);
            let draining = world.at.draining.iter().zip(is_empty).map(|(&draining, is_empty)| draining && !is_empty);
            threads == state.threads && world.at.memory == state.memory && draining.eq(state.draining.iter().copied())
        })
    }

    /// Every state reached whose buffers hold at most `length` stores and barriers each.
    pub fn concrete(&mut self, length: usize) -> BTreeSet<Concrete> {
        let world = &mut self.search.world;
        let mut all = BTreeSet::new();
        for state in self.search.states.iter().filter(|state| !state.is_covered) {
            world.visit(state.key);
            let mut threads = Vec::new();
            world.at.subject.save(&mut threads);
            let mut tuples: Vec<Vec<Vec<Letter>>> = vec![Vec::new()];
            for &language in &state.languages {
                let words = world.buffers.automata.words_up_to(language, length);
                let longer = tuples
                    .iter()
                    .flat_map(|tuple| words.iter().map(|word| tuple.iter().cloned().chain([word.clone()]).collect()));
                tuples = longer.collect();
            }
            for words in tuples {
                let draining = world.at.draining.iter().zip(&words);
                let draining = draining.map(|(&draining, word)| draining && !word.is_empty()).collect();
                let content = |word: &Vec<Letter>| word.iter().map(|&l| world.buffers.alphabet.store(l)).collect();
                let buffers = words.iter().map(content).collect();
                let memory = world.at.memory.clone();
                all.insert(Concrete { threads: threads.clone(), memory, buffers, draining });
            }
        }
        all
    }
}

/// Every order of the stores of `word` that swapping neighbors leads to, where each may pass the other.
fn reordered<M: Model>(alphabet: &Alphabet<M>, word: Vec<Letter>) -> Vec<Vec<Letter>> {
    let mut orders = vec![word];
    let mut at = 0;
    while at < orders.len() {
        for first in 1..orders[at].len() {
            let mut order = orders[at].clone();
            let (a, b) = (order[first - 1], order[first]);
            order.swap(first - 1, first);
            if alphabet.may_pass(a, b) && alphabet.may_pass(b, a) && !orders.contains(&order) {
                orders.push(order);
            }
        }
        at += 1;
    }
    orders
}
