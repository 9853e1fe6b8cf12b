//! Coarser languages, of which there are finitely many: each has all words of the one that it stands for, and some more.
//!
//! A word is read letter by letter, and all that is remembered of the way is a [`Grain`] of it: the last stores to each
//! location and the last letters. The coarser language has each word in which no letter comes after something else than
//! it did in the words at hand, and whose end is like an end of one of them. So the newest store to each location is what
//! it was, stores to one location keep their order, and what is lost is how often a loop has stored.
//!
//! Where stores to different locations may pass each other both ways, as under PSO without barriers, it does not matter in
//! which order they stand. Then each location may have a language of its own, as if it had a buffer of its own.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::Model;
use teetotal_program::Loc;

use super::automaton::{Language, Letter, Nfa, Unfolded};
use super::buffer_language::Buffers;

/// How much is remembered of what was read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grain {
    /// So many of the last stores to each location.
    pub to_each: usize,
    /// So many of the last letters.
    pub of_all: usize,
    /// Whether locations are looked at one by one, where the order between them does not matter.
    pub apart: bool,
}

/// What is remembered of a word.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Remembered {
    last: Vec<Letter>,
    /// By location; barriers have none.
    newest: Vec<(Option<Loc>, Vec<Letter>)>,
}

impl Remembered {
    /// With another letter, to this location.
    fn then(&self, letter: Letter, loc: Option<Loc>, grain: Grain) -> Self {
        let mut longer = self.clone();
        keep(&mut longer.last, letter, grain.of_all);
        let at = longer.newest.binary_search_by_key(&loc, |&(known, _)| known);
        let at = at.unwrap_or_else(|at| {
            longer.newest.insert(at, (loc, Vec::new()));
            at
        });
        keep(&mut longer.newest[at].1, letter, grain.to_each);
        longer
    }
}

fn keep(letters: &mut Vec<Letter>, letter: Letter, at_most: usize) {
    letters.push(letter);
    if letters.len() > at_most {
        letters.remove(0);
    }
}

impl<M: Model> Buffers<M> {
    /// A language with all these words, one of finitely many for the same letters.
    pub fn coarsen(&mut self, language: Language, grain: Grain) -> Language {
        if language == Language::EPSILON || language.is_empty() {
            return language;
        }
        if let Some(&known) = self.coarser.get(&(language, grain)) {
            return known;
        }
        let coarser = match self.locations_apart(language).filter(|_| grain.apart) {
            Some(locations) => self.coarsen_each(language, &locations, Grain { apart: false, ..grain }),
            None => {
                let nfa = Coarsening::of(self.automata.unfold(language), |letter| self.loc_of(letter), grain);
                self.automata.build(&nfa)
            }
        };
        self.coarser.insert((language, grain), coarser);
        self.coarser.insert((coarser, grain), coarser);
        coarser
    }

    /// The stores to each location by themselves, one location after the other.
    fn coarsen_each(&mut self, language: Language, locations: &[Loc], grain: Grain) -> Language {
        let mut all = Language::EPSILON;
        for &loc in locations {
            let stores = self.stores_to(language, loc);
            let coarser = self.coarsen(stores, grain);
            all = self.automata.concatenation(all, coarser);
        }
        all
    }

    /// The locations that stores are to, if none of them keeps its order with a store to another one.
    fn locations_apart(&self, language: Language) -> Option<Vec<Loc>> {
        let letters = self.automata.letters(language);
        let mut locations = letters.iter().map(|&letter| self.loc_of(letter)).collect::<Option<Vec<Loc>>>()?;
        let passes = |&newer: &Letter| {
            let others = letters.iter().filter(|&&older| self.loc_of(older) != self.loc_of(newer));
            others.copied().all(|older| self.alphabet.may_pass(newer, older))
        };
        locations.sort_unstable();
        locations.dedup();
        letters.iter().all(passes).then_some(locations)
    }

    /// Each word without its stores to other locations.
    fn stores_to(&mut self, language: Language, loc: Loc) -> Language {
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        (0..dfa.n_states()).for_each(|state| {
            nfa.state(dfa.is_accepting(state));
        });
        nfa.start(0);
        for state in 0..dfa.n_states() {
            for &(letter, to) in dfa.edges_of(state) {
                if self.loc_of(letter) == Some(loc) {
                    nfa.edge(state, letter, to);
                } else {
                    nfa.silent(state, to);
                }
            }
        }
        self.automata.build(&nfa)
    }

    fn loc_of(&self, letter: Letter) -> Option<Loc> {
        self.alphabet.store(letter).map(|store| store.loc)
    }
}

/// An automaton whose states are all that is remembered.
#[derive(Default)]
struct Coarsening {
    numbers: HashMap<Remembered, u32, FxBuildHasher>,
    all: Vec<Remembered>,
    accepting: Vec<bool>,
}

impl Coarsening {
    /// Reads all words at once, each state of their automaton together with what is remembered there.
    fn of(dfa: Unfolded<'_>, loc_of: impl Fn(Letter) -> Option<Loc>, grain: Grain) -> Nfa {
        let mut coarser = Coarsening::default();
        let mut edges = Vec::new();
        let mut open = vec![(0, coarser.number(Remembered::default()))];
        let mut seen: HashMap<(u32, u32), (), FxBuildHasher> = open.iter().map(|&pair| (pair, ())).collect();
        while let Some((state, from)) = open.pop() {
            coarser.accepting[from as usize] |= dfa.is_accepting(state);
            for &(letter, to) in dfa.edges_of(state) {
                let then = coarser.all[from as usize].then(letter, loc_of(letter), grain);
                let next = (to, coarser.number(then));
                edges.push((from, letter, next.1));
                if seen.insert(next, ()).is_none() {
                    open.push(next);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut nfa = Nfa::default();
        coarser.accepting.iter().for_each(|&accepting| {
            nfa.state(accepting);
        });
        nfa.start(0);
        edges.into_iter().for_each(|(from, letter, to)| nfa.edge(from, letter, to));
        nfa
    }

    fn number(&mut self, remembered: Remembered) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(remembered).or_insert_with_key(|remembered| {
            self.all.push(remembered.clone());
            self.accepting.push(false);
            next
        })
    }
}
