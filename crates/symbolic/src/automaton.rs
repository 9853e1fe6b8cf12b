//! Regular languages as minimal deterministic automata, each stored once.
//!
//! Two languages are equal exactly when their numbers are: an automaton is made minimal, its states are numbered in
//! breadth-first order, and only one with that form is kept. Operations remember their results.
//!
//! Definition: [LINDEN, Def. 1] asks for a finite automaton for each buffer. We differ in one way:
//! 1. Automata are always minimal and partial, without a state from which nothing is accepted.

use std::hash::{Hash, Hasher};

use hashbrown::{HashMap, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};

mod build;
mod operations;
mod words;

pub use build::Nfa;
pub use words::Unfolded;

/// A letter, as a number that means something to whoever uses the automata.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Letter(pub u32);

/// A language: the number of its automaton among [`Automata`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Language(u32);

impl Language {
    /// No word at all.
    pub const EMPTY: Language = Language(0);
    /// The empty word alone.
    pub const EPSILON: Language = Language(1);

    /// Whether no word is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Language::EMPTY
    }
}

/// Every language that was ever made, and what is known of each.
#[derive(Debug)]
pub struct Automata {
    automata: Vec<Dfa>,
    table: HashTable<u32>,
    results: HashMap<(Operation, u32, u32), Language, FxBuildHasher>,
    inclusions: HashMap<(Language, Language), bool, FxBuildHasher>,
    letters: HashMap<Letter, Language, FxBuildHasher>,
    /// How many numbers all automata are made of.
    size: usize,
    /// Of how many parts all automata were made, those known already included.
    work: u64,
}

/// A minimal automaton. State 0 is the first; one without states accepts nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Dfa {
    accepting: Box<[bool]>,
    /// Where the edges of each state begin, and the end.
    first: Box<[u32]>,
    /// For each state, its letters in ascending order with the state that each leads to.
    edges: Box<[(Letter, u32)]>,
}

/// An operation whose results are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Operation {
    Concatenation,
    Union,
    Intersection,
    Difference,
    Star,
    LeftQuotient,
}

impl Dfa {
    fn n_states(&self) -> u32 {
        self.accepting.len() as u32
    }

    fn edges_of(&self, state: u32) -> &[(Letter, u32)] {
        let state = state as usize;
        &self.edges[self.first[state] as usize..self.first[state + 1] as usize]
    }

    fn next(&self, state: u32, letter: Letter) -> Option<u32> {
        let edges = self.edges_of(state);
        edges.binary_search_by_key(&letter, |&(l, _)| l).ok().map(|at| edges[at].1)
    }
}

impl Default for Automata {
    fn default() -> Self {
        let mut automata = Automata {
            automata: Vec::new(),
            table: HashTable::new(),
            results: HashMap::default(),
            inclusions: HashMap::default(),
            letters: HashMap::default(),
            size: 0,
            work: 0,
        };
        let empty = automata.build(&Nfa::default());
        let mut nfa = Nfa::default();
        let only = nfa.state(true);
        nfa.start(only);
        let epsilon = automata.build(&nfa);
        debug_assert_eq!((empty, epsilon), (Language::EMPTY, Language::EPSILON));
        automata
    }
}

impl Automata {
    fn dfa(&self, language: Language) -> &Dfa {
        &self.automata[language.0 as usize]
    }

    /// The language of an automaton of any kind.
    pub fn build(&mut self, nfa: &Nfa) -> Language {
        let (dfa, work) = nfa.minimal();
        self.work += work;
        let hash = hash_of(&dfa);
        let Automata { automata, table, size, .. } = self;
        if let Some(&known) = table.find(hash, |&number| automata[number as usize] == dfa) {
            return Language(known);
        }
        let number = u32::try_from(automata.len()).expect("at most 2^32 languages are made");
        *size += dfa.accepting.len() + dfa.first.len() + 2 * dfa.edges.len();
        automata.push(dfa);
        table.insert_unique(hash, number, |&number| hash_of(&automata[number as usize]));
        Language(number)
    }

    /// How much was done so far, as a number of states and edges.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// How many languages there are.
    #[must_use]
    pub fn n_languages(&self) -> usize {
        self.automata.len()
    }

    /// How many states the automaton of a language has.
    #[must_use]
    pub fn n_states(&self, language: Language) -> usize {
        self.dfa(language).accepting.len()
    }

    /// How many bytes everything takes, about.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let automata = self.automata.len() * (size_of::<Dfa>() + 5) + self.size * 4;
        let memos = self.results.capacity() * 20 + self.inclusions.capacity() * 12;
        (automata + memos) as u64
    }
}

fn hash_of(dfa: &Dfa) -> u64 {
    let mut hasher = FxHasher::default();
    dfa.hash(&mut hasher);
    hasher.finish()
}
