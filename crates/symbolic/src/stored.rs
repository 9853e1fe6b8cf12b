//! The symbolic states that were met, and which of them contain which.

use std::rc::Rc;

use teetotal_memory::Model;

use super::automaton::Language;
use super::buffer_language::Buffers;
use super::cycle::Item;
use super::expand::Taken;
use super::keys::Key;

/// A stored symbolic state, by number.
pub(super) type StateId = u32;

/// A symbolic state and how it was found.
#[derive(Debug)]
pub(super) struct State {
    pub(super) key: Key,
    pub(super) languages: Box<[Language]>,
    /// The state before it.
    pub(super) from: Option<StateId>,
    /// The way from there, or from the beginning: steps, and how contents were accelerated.
    pub(super) items: Rc<[Item]>,
    /// How many steps lead to it, not counting those of accelerations.
    pub(super) depth: u32,
    /// Whether another stored state has all its contents, so that nothing new comes of it.
    pub(super) is_covered: bool,
}

/// All stored states.
#[derive(Debug, Default)]
pub(super) struct States {
    all: Vec<State>,
    /// For each key, the states with it.
    by_key: Vec<Vec<StateId>>,
    /// How many items all ways together have.
    n_items: usize,
}

impl States {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, id: StateId) -> &State {
        &self.all[id as usize]
    }

    pub(super) fn with_key(&self, key: Key) -> &[StateId] {
        self.by_key.get(key.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The states on the way to `id`, the last first, `id` itself among them.
    pub(super) fn way_back(&self, id: StateId) -> impl Iterator<Item = StateId> {
        std::iter::successors(Some(id), |&id| self.get(id).from)
    }

    /// A state that has all contents of `languages`, if one is stored.
    pub(super) fn covering<M: Model>(
        &self,
        buffers: &mut Buffers<M>,
        key: Key,
        languages: &[Language],
    ) -> Option<StateId> {
        let known = self.with_key(key).iter().copied();
        known.filter(|&id| !self.get(id).is_covered).find(|&id| covers(buffers, &self.get(id).languages, languages))
    }

    /// Stores a state; those that it contains are covered from now on.
    pub(super) fn add<M: Model>(&mut self, buffers: &mut Buffers<M>, state: State) -> StateId {
        let id = StateId::try_from(self.all.len()).expect("at most 2^32 states are stored");
        let number = state.key.0 as usize;
        if self.by_key.len() <= number {
            self.by_key.resize_with(number + 1, Vec::new);
        }
        for &other in &self.by_key[number] {
            let other = &mut self.all[other as usize];
            other.is_covered = other.is_covered || covers(buffers, &state.languages, &other.languages);
        }
        self.by_key[number].push(id);
        self.n_items += state.items.len();
        self.all.push(state);
        id
    }

    /// The path to a state from `since`, or from the beginning.
    pub(super) fn path(&self, since: Option<StateId>, to: StateId) -> Vec<Item> {
        self.parts(since, to).into_iter().flatten().cloned().collect()
    }

    /// The same, from state to state.
    pub(super) fn parts(&self, since: Option<StateId>, to: StateId) -> Vec<&[Item]> {
        let way = self.way_back(to).take_while(|&id| Some(id) != since);
        let mut parts: Vec<&[Item]> = way.map(|id| &*self.get(id).items).collect();
        parts.reverse();
        parts
    }

    /// How many bytes everything takes, about.
    pub(super) fn memory(&self) -> u64 {
        let n_threads = self.all.first().map_or(0, |state| state.languages.len());
        // A step with one effect, and where it is pointed to from.
        let item = size_of::<Item>() + size_of::<Taken>() + 72;
        let each = size_of::<State>() + n_threads * 4 + 24;
        (self.all.len() * each + self.n_items * item + self.by_key.capacity() * size_of::<Vec<StateId>>()) as u64
    }
}

fn covers<M: Model>(buffers: &mut Buffers<M>, whole: &[Language], part: &[Language]) -> bool {
    whole.iter().zip(part).all(|(&whole, &part)| buffers.automata.includes(whole, part))
}
