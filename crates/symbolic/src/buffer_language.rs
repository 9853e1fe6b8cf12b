//! Sets of buffer contents as languages: what each operation makes of them.
//!
//! A word is one content, the oldest store first. Each operation on one buffer becomes an [`Effect`] on the whole set,
//! the union of what it does to each content; contents for which it is not possible are left out.
//!
//! Definition: [LINDEN, §3]. We differ in four ways:
//! 1. The newest store to a location is the last one of all those to it; the printed formula forbids stores to *other*
//!    locations after it.
//! 2. Which store may leave is asked of the model, so that one set of words serves TSO and PSO: a store may leave from
//!    behind others that it may pass. Under TSO it passes none, and this is the left quotient of the paper.
//! 3. Barriers are letters. A word never begins with one and never has two in a row, as a buffer keeps them.
//! 4. Fences, read-modify-writes and their kin restrict the set to contents that they need not wait for.

use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::Model;
use teetotal_program::{Loc, LocSet, Order, Value};

use super::alphabet::{Alphabet, BARRIER, SENTINEL};
use super::automaton::{Automata, Language, Letter, Nfa};
use super::coarse::Grain;

/// What a step does to the contents of one buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// A store joins.
    Append(Letter),
    /// A store-store barrier is passed.
    Barrier,
    /// Only contents whose newest store to `loc` has this value.
    Newest { loc: Loc, value: Value },
    /// Only contents without a store to `loc`, since memory holds this value.
    Absent { loc: Loc, value: Value },
    /// Only contents of either kind, since memory holds the same value.
    Seen { loc: Loc, value: Value },
    /// Only the empty content.
    Drained,
    /// Only contents that are not empty.
    Pending,
    /// Only contents with which memory may be accessed at once.
    MayUpdate { loc: Option<Loc>, order: Order },
    /// Only contents with which it may not.
    MayNotUpdate { loc: Option<Loc>, order: Order },
    /// A store leaves from behind others, namely stores of each of these letters and of no other.
    Remove { letter: Letter, passed: LetterSet },
    /// A store leaves from behind any others that it may pass.
    Leave(Letter),
    /// Only contents of fewer stores than this.
    Shorter(u32),
    /// Only contents of as many or more.
    NotShorter(u32),
}

/// A set of letters, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LetterSet(pub u32);

/// A store that leaves, what its leaving does, and what is left.
type Leaving = (Letter, Effect, Language);

/// A language in parts, by the value of the newest store to some location or for want of one.
type Parts = Rc<[(Option<Value>, Language)]>;

/// Languages of buffer contents under the model `M`.
#[derive(Debug)]
pub struct Buffers<M> {
    pub automata: Automata,
    pub alphabet: Alphabet<M>,
    effects: HashMap<(Effect, Language), Language, FxBuildHasher>,
    /// By language and location.
    newest: HashMap<(Language, Loc), Parts, FxBuildHasher>,
    leaving: HashMap<Language, Rc<[Leaving]>, FxBuildHasher>,
    leaving_somehow: HashMap<Language, Rc<[Leaving]>, FxBuildHasher>,
    /// The locations that stores of a language are to.
    locations: HashMap<Language, LocSet, FxBuildHasher>,
    /// Each ascending.
    sets: Vec<Rc<[Letter]>>,
    known_sets: HashMap<Rc<[Letter]>, LetterSet, FxBuildHasher>,
    pub(super) coarser: HashMap<(Language, Grain), Language, FxBuildHasher>,
}

impl<M: Model> Default for Buffers<M> {
    fn default() -> Self {
        Buffers {
            automata: Automata::default(),
            alphabet: Alphabet::default(),
            effects: HashMap::default(),
            newest: HashMap::default(),
            leaving: HashMap::default(),
            leaving_somehow: HashMap::default(),
            locations: HashMap::default(),
            sets: Vec::new(),
            known_sets: HashMap::default(),
            coarser: HashMap::default(),
        }
    }
}

impl<M: Model> Buffers<M> {
    /// The contents after a step; those for which it is not possible are gone.
    pub fn apply(&mut self, effect: Effect, language: Language) -> Language {
        if language.is_empty() {
            return Language::EMPTY;
        }
        if let Some(&known) = self.effects.get(&(effect, language)) {
            return known;
        }
        let result = self.make(effect, language);
        self.effects.insert((effect, language), result);
        result
    }

    fn make(&mut self, effect: Effect, language: Language) -> Language {
        match effect {
            Effect::Append(letter) => {
                let store = self.automata.letter(letter);
                self.automata.concatenation(language, store)
            }
            Effect::Barrier => {
                let barrier = self.automata.letter(BARRIER);
                let passed = self.automata.concatenation(language, barrier);
                self.normalize(passed)
            }
            Effect::Newest { loc, value } => self.part(language, loc, Some(value)),
            Effect::Absent { loc, .. } => self.part(language, loc, None),
            Effect::Seen { loc, value } => {
                let (forwarded, absent) = (self.part(language, loc, Some(value)), self.part(language, loc, None));
                self.automata.union(forwarded, absent)
            }
            Effect::Drained if self.automata.has_empty_word(language) => Language::EPSILON,
            Effect::Drained => Language::EMPTY,
            Effect::Pending => self.automata.difference(language, Language::EPSILON),
            Effect::MayUpdate { loc, order } => {
                let harmless = self.harmless(language, loc, order);
                self.automata.intersection(language, harmless)
            }
            Effect::MayNotUpdate { loc, order } => {
                let harmless = self.harmless(language, loc, order);
                self.automata.difference(language, harmless)
            }
            Effect::Remove { letter, passed } => self.remove(language, letter, passed),
            Effect::Leave(letter) => self.leave(language, letter),
            Effect::Shorter(limit) => self.shorter(language, limit),
            Effect::NotShorter(limit) => {
                let shorter = self.shorter(language, limit);
                self.automata.difference(language, shorter)
            }
        }
    }

    /// The contents in which the newest store to `loc` has this value, or those without one.
    fn part(&mut self, language: Language, loc: Loc, value: Option<Value>) -> Language {
        let parts = self.newest(language, loc);
        parts.iter().find(|(v, _)| *v == value).map_or(Language::EMPTY, |&(_, part)| part)
    }

    /// The language in parts by the value of the newest store to `loc`; none of them is empty.
    pub fn newest(&mut self, language: Language, loc: Loc) -> Parts {
        if let Some(known) = self.newest.get(&(language, loc)) {
            return Rc::clone(known);
        }
        let of_loc = |letter: Letter| self.alphabet.store(letter).filter(|store| store.loc == loc);
        let letters = self.automata.letters(language);
        let mut values: Vec<Value> = letters.iter().filter_map(|&letter| of_loc(letter)).map(|s| s.value).collect();
        values.sort_unstable();
        values.dedup();
        let parts: Rc<[_]> = if values.is_empty() {
            Rc::new([(None, language)])
        } else {
            let wanted = std::iter::once(None).chain(values.into_iter().map(Some));
            let parts: Vec<_> = wanted.map(|value| (value, self.with_newest(language, loc, value))).collect();
            parts.into_iter().filter(|(_, part)| !part.is_empty()).collect()
        };
        self.newest.insert((language, loc), Rc::clone(&parts));
        parts
    }

    /// Remembers beside each state whether the newest store to `loc` so far has this value, or that there is none.
    fn with_newest(&mut self, language: Language, loc: Loc, wanted: Option<Value>) -> Language {
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        // Each state twice: where it is not so, and where it is.
        for state in 0..dfa.n_states() {
            nfa.state(false);
            nfa.state(dfa.is_accepting(state));
        }
        nfa.start(u32::from(wanted.is_none()));
        for state in 0..dfa.n_states() {
            for &(letter, to) in dfa.edges_of(state) {
                let stored = self.alphabet.store(letter).filter(|store| store.loc == loc);
                let now = stored.map(|store| u32::from(wanted == Some(store.value)));
                (0..2).for_each(|before| nfa.edge(2 * state + before, letter, 2 * to + now.unwrap_or(before)));
            }
        }
        self.automata.build(&nfa)
    }

    /// Every word over the letters of `language` that an access to memory at once need not wait for.
    fn harmless(&mut self, language: Language, loc: Option<Loc>, order: Order) -> Language {
        let letters = self.automata.letters(language).into_iter();
        let harmless = letters.filter(|&letter| self.alphabet.may_update_past(loc, order, letter));
        let harmless: Vec<Letter> = harmless.collect();
        self.automata.all_words(harmless)
    }

    /// The stores that may leave next, each with how it leaves and what is left then.
    ///
    /// What is left is kept apart by what was passed, since it looks different then: after `y` left from behind any
    /// number of `x`, there are that many at the front.
    pub fn leaving(&mut self, language: Language) -> Rc<[Leaving]> {
        if let Some(known) = self.leaving.get(&language) {
            return Rc::clone(known);
        }
        let mut parts = Vec::new();
        for letter in self.automata.letters(language) {
            if self.alphabet.store(letter).is_some() {
                for passed in self.ways_to_leave(language, letter) {
                    let leaves = Effect::Remove { letter, passed };
                    parts.push((letter, leaves, self.apply(leaves, language)));
                }
            }
        }
        let parts: Rc<[Leaving]> = parts.into();
        self.leaving.insert(language, Rc::clone(&parts));
        parts
    }

    /// The same where it does not matter what is passed.
    pub fn leaving_somehow(&mut self, language: Language) -> Rc<[Leaving]> {
        if let Some(known) = self.leaving_somehow.get(&language) {
            return Rc::clone(known);
        }
        let mut parts = Vec::new();
        for letter in self.automata.letters(language) {
            if self.alphabet.store(letter).is_some() {
                parts.push((letter, Effect::Leave(letter), self.apply(Effect::Leave(letter), language)));
            }
        }
        parts.retain(|(_, _, left)| !left.is_empty());
        let parts: Rc<[Leaving]> = parts.into();
        self.leaving_somehow.insert(language, Rc::clone(&parts));
        parts
    }

    /// The sets of letters that `letter` may leave from behind.
    fn ways_to_leave(&mut self, language: Language, letter: Letter) -> Vec<LetterSet> {
        let dfa = self.automata.unfold(language);
        let mut seen: Vec<(u32, Vec<Letter>)> = vec![(0, Vec::new())];
        let mut ways = Vec::new();
        let mut at = 0;
        while at < seen.len() {
            let (state, passed) = seen[at].clone();
            for &(read, to) in dfa.edges_of(state) {
                if read == letter && !ways.contains(&passed) {
                    ways.push(passed.clone());
                }
                if self.alphabet.may_pass(letter, read) {
                    let mut more = passed.clone();
                    if let Err(position) = more.binary_search(&read) {
                        more.insert(position, read);
                    }
                    if !seen.contains(&(to, more.clone())) {
                        seen.push((to, more));
                    }
                }
            }
            at += 1;
        }
        ways.into_iter().map(|passed| self.set(passed)).collect()
    }

    fn set(&mut self, letters: Vec<Letter>) -> LetterSet {
        let letters: Rc<[Letter]> = letters.into();
        let next = LetterSet(self.sets.len() as u32);
        *self.known_sets.entry(letters).or_insert_with_key(|letters| {
            self.sets.push(Rc::clone(letters));
            next
        })
    }

    /// The letters of a set, ascending.
    #[must_use]
    pub fn letters_of(&self, set: LetterSet) -> &[Letter] {
        &self.sets[set.0 as usize]
    }

    /// What is left when `letter` leaves from behind all letters of `passed` and no others.
    ///
    /// In the first copies of the automaton nothing has left, one copy for each part of `passed` that was met; a move
    /// that reads nothing leads from the one in which all were met to the last copy.
    fn remove(&mut self, language: Language, letter: Letter, passed: LetterSet) -> Language {
        let passed = Rc::clone(&self.sets[passed.0 as usize]);
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        let after = dfa.add_to(&mut nfa);
        let mut known: HashMap<(u32, Met), u32, FxBuildHasher> = HashMap::default();
        let none = Met::none(passed.len());
        let first = nfa.state(false);
        nfa.start(first);
        known.insert((0, none.clone()), first);
        let mut open = vec![(0, none)];
        while let Some((state, met)) = open.pop() {
            let from = known[&(state, met.clone())];
            for &(read, to) in dfa.edges_of(state) {
                if read == letter && met.is_all(passed.len()) {
                    nfa.silent(from, after + to);
                }
                let position = passed.binary_search(&read).ok();
                if position.is_some() || read == SENTINEL {
                    let met = position.map_or_else(|| met.clone(), |position| met.with(position));
                    let next = *known.entry((to, met)).or_insert_with_key(|next| {
                        open.push(next.clone());
                        nfa.state(false)
                    });
                    nfa.edge(from, read, next);
                }
            }
        }
        let removed = self.automata.build(&nfa);
        // A barrier with nothing left before it is gone.
        self.normalize(removed)
    }

    /// What is left when `letter` leaves, from wherever it may.
    fn leave(&mut self, language: Language, letter: Letter) -> Language {
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        let after = dfa.add_to(&mut nfa);
        let before = dfa.add_passed_to(&mut nfa, |read| self.alphabet.may_pass(letter, read));
        nfa.start(before);
        for state in 0..dfa.n_states() {
            let leaving = dfa.edges_of(state).iter().filter(|&&(read, _)| read == letter);
            leaving.for_each(|&(_, to)| nfa.silent(before + state, after + to));
        }
        let left = self.automata.build(&nfa);
        self.normalize(left)
    }

    /// The locations that pending stores are to.
    pub fn locations(&mut self, language: Language) -> LocSet {
        let (automata, alphabet) = (&self.automata, &self.alphabet);
        *self.locations.entry(language).or_insert_with(|| {
            let stores = automata.letters(language).into_iter().filter_map(|letter| alphabet.store(letter));
            stores.fold(LocSet::default(), |set, store| set.union(LocSet::of(store.loc)))
        })
    }

    /// Counts stores beside each state, up to `limit`.
    fn shorter(&mut self, language: Language, limit: u32) -> Language {
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        let mut known: HashMap<(u32, u32), u32, FxBuildHasher> = HashMap::default();
        let mut open = vec![(0, 0)];
        let first = nfa.state(limit > 0 && dfa.is_accepting(0));
        nfa.start(first);
        known.insert((0, 0), first);
        while let Some((state, count)) = open.pop() {
            let from = known[&(state, count)];
            for &(letter, to) in dfa.edges_of(state) {
                let count = count + u32::from(letter != BARRIER);
                if count < limit {
                    let next = *known.entry((to, count)).or_insert_with(|| {
                        open.push((to, count));
                        nfa.state(dfa.is_accepting(to))
                    });
                    nfa.edge(from, letter, next);
                }
            }
        }
        self.automata.build(&nfa)
    }

    /// The same contents without barriers at the beginning and next to each other.
    pub fn normalize(&mut self, language: Language) -> Language {
        if !self.automata.letters(language).contains(&BARRIER) {
            return language;
        }
        let dfa = self.automata.unfold(language);
        let mut nfa = Nfa::default();
        // Each state twice: where a barrier would be one too many, and where not.
        (0..dfa.n_states()).for_each(|state| {
            nfa.state(dfa.is_accepting(state));
            nfa.state(dfa.is_accepting(state));
        });
        nfa.start(0);
        for state in 0..dfa.n_states() {
            for &(letter, to) in dfa.edges_of(state) {
                if letter == BARRIER {
                    nfa.silent(2 * state, 2 * to);
                    nfa.edge(2 * state + 1, letter, 2 * to);
                } else {
                    nfa.edge(2 * state, letter, 2 * to + 1);
                    nfa.edge(2 * state + 1, letter, 2 * to + 1);
                }
            }
        }
        self.automata.build(&nfa)
    }

    /// How many bytes everything takes, about.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let memos = self.effects.capacity() * 40 + self.newest.capacity() * 32 + self.leaving.capacity() * 32;
        self.automata.memory() + memos as u64
    }
}

/// Which letters of a set were met, a bit for each.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Met(Vec<u64>);

impl Met {
    fn none(n_letters: usize) -> Self {
        Met(vec![0; n_letters.div_ceil(64)])
    }

    /// The letter at this position of the set as well.
    fn with(&self, position: usize) -> Self {
        let mut more = self.clone();
        more.0[position / 64] |= 1 << (position % 64);
        more
    }

    fn is_all(&self, n_letters: usize) -> bool {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() == n_letters
    }
}
