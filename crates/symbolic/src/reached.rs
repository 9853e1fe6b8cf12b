//! What the symbolic search reached, one concrete state at a time, to compare it with other engines.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_engine::driver::StopSignal;
use teetotal_engine::{Collector, Coverage, Schedule, System};
use teetotal_memory::{Model, Step, StoreBuffer};
use teetotal_program::{ExplicitState, Loc, Snapshot, Subject, ThreadId, Value};

use super::alphabet::{Alphabet, BARRIER, Store};
use super::automaton::{Language, Letter};
use super::search::{Search, Settings};
use super::stored::StateId;
use super::witness::Words;

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
    /// For threads, packed, and memory, the states that have them.
    by_key: HashMap<(Vec<u8>, Vec<Value>), Vec<StateId>, FxBuildHasher>,
}

/// Where a concrete state was reached: in which symbolic state, and which words its contents are.
#[derive(Clone, Debug)]
pub struct Place {
    id: StateId,
    words: Words,
}

impl<'s, S: ExplicitState, M: Model> Reached<'s, S, M> {
    /// Searches all states that `subject` leads to.
    pub fn by(subject: S, collector: &mut Collector, settings: &'s Settings, signal: StopSignal<'_>) -> Self {
        let mut search = Search::new(subject, settings);
        let coverage = search.run(collector, signal);
        let mut by_key: HashMap<_, Vec<StateId>, FxBuildHasher> = HashMap::default();
        for id in (0..search.states.len() as StateId).filter(|&id| !search.states.get(id).is_covered) {
            search.world.visit(search.states.get(id).key);
            let mut threads = Vec::new();
            search.world.at.subject.save(&mut threads);
            by_key.entry((threads, search.world.at.memory.clone())).or_default().push(id);
        }
        Reached { search, coverage, by_key }
    }

    /// Whether `state` is among the states reached.
    ///
    /// Of a coarse search, whether a state is that differs only in the order of stores that may pass each other.
    pub fn contains(&mut self, state: &Concrete) -> bool {
        let Some(candidates) = self.by_key.get(&(state.threads.clone(), state.memory.clone())) else { return false };
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
        candidates.iter().map(|&id| self.search.states.get(id)).any(|candidate| {
            let automata = &world.buffers.automata;
            let one_of = |(&language, words): (&Language, &Vec<Vec<Letter>>)| {
                words.iter().any(|word| automata.contains(language, word))
            };
            if !candidate.languages.iter().zip(&words).all(one_of) {
                return false;
            }
            world.visit(candidate.key);
            let is_empty = state.buffers.iter().map(Vec::is_empty);
            let draining = world.at.draining.iter().zip(is_empty).map(|(&draining, is_empty)| draining && !is_empty);
            draining.eq(state.draining.iter().copied())
        })
    }

    /// Every state reached whose buffers hold at most `length` stores and barriers each, and where.
    pub fn concrete(&mut self, length: usize) -> BTreeMap<Concrete, Place> {
        let world = &mut self.search.world;
        let mut all = BTreeMap::new();
        for id in (0..self.search.states.len() as StateId).filter(|&id| !self.search.states.get(id).is_covered) {
            let state = self.search.states.get(id);
            world.visit(state.key);
            let mut threads = Vec::new();
            world.at.subject.save(&mut threads);
            let mut tuples: Vec<Words> = vec![Vec::new()];
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
                let concrete = Concrete { threads: threads.clone(), memory, buffers, draining };
                all.entry(concrete).or_insert(Place { id, words });
            }
        }
        all
    }

    /// The steps of an execution that leads there, if the search is no coarse one.
    pub fn steps_to(&mut self, place: &Place) -> Vec<Step> {
        let items = self.search.states.path(None, place.id);
        match self.search.schedule(&items, place.words.clone()) {
            Schedule::Steps(steps) => steps,
            _ => Vec::new(),
        }
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
