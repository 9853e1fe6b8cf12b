//! Languages from languages.

use super::{Automata, Dfa, Language, Letter, Nfa, Operation};

/// A side of a product that has no state any more.
const GONE: u32 = u32::MAX;

impl Automata {
    /// The word of one letter.
    pub fn letter(&mut self, letter: Letter) -> Language {
        if let Some(&known) = self.letters.get(&letter) {
            return known;
        }
        let word = self.word(&[letter]);
        self.letters.insert(letter, word);
        word
    }

    /// One word.
    pub fn word(&mut self, word: &[Letter]) -> Language {
        let mut nfa = Nfa::default();
        let mut at = nfa.state(word.is_empty());
        nfa.start(at);
        for (position, &letter) in word.iter().enumerate() {
            let next = nfa.state(position + 1 == word.len());
            nfa.edge(at, letter, next);
            at = next;
        }
        self.build(&nfa)
    }

    /// Every word over some letters.
    pub fn all_words(&mut self, letters: impl IntoIterator<Item = Letter>) -> Language {
        let mut nfa = Nfa::default();
        let only = nfa.state(true);
        nfa.start(only);
        letters.into_iter().for_each(|letter| nfa.edge(only, letter, only));
        self.build(&nfa)
    }

    /// A word of the first, then one of the second.
    pub fn concatenation(&mut self, left: Language, right: Language) -> Language {
        match (left, right) {
            (Language::EMPTY, _) | (_, Language::EMPTY) => return Language::EMPTY,
            (Language::EPSILON, other) | (other, Language::EPSILON) => return other,
            _ => {}
        }
        self.remember(Operation::Concatenation, left, right.0, |automata| {
            let (left, right) = (automata.dfa(left), automata.dfa(right));
            let mut nfa = Nfa::default();
            let from = nfa.copy(left, |_| false);
            let to = nfa.copy(right, |state| right.accepting[state]);
            nfa.start(from);
            let ends = (0..left.n_states()).filter(|&state| left.accepting[state as usize]);
            ends.for_each(|state| nfa.silent(from + state, to));
            nfa
        })
    }

    /// Any number of words, one after the other.
    pub fn star(&mut self, language: Language) -> Language {
        self.remember(Operation::Star, language, 0, |automata| {
            let inner = automata.dfa(language);
            let mut nfa = Nfa::default();
            let hub = nfa.state(true);
            nfa.start(hub);
            if inner.n_states() > 0 {
                let first = nfa.copy(inner, |_| false);
                nfa.silent(hub, first);
                let ends = (0..inner.n_states()).filter(|&state| inner.accepting[state as usize]);
                ends.for_each(|state| nfa.silent(first + state, hub));
            }
            nfa
        })
    }

    /// The words of either.
    pub fn union(&mut self, left: Language, right: Language) -> Language {
        if left == right || right.is_empty() {
            return left;
        }
        if left.is_empty() {
            return right;
        }
        let (left, right) = (left.min(right), left.max(right));
        self.remember(Operation::Union, left, right.0, |automata| automata.product(left, right, |a, b| a || b))
    }

    /// The words of both.
    pub fn intersection(&mut self, left: Language, right: Language) -> Language {
        if left == right {
            return left;
        }
        let (left, right) = (left.min(right), left.max(right));
        self.remember(Operation::Intersection, left, right.0, |automata| automata.product(left, right, |a, b| a && b))
    }

    /// The words of the first that are not in the second.
    pub fn difference(&mut self, left: Language, right: Language) -> Language {
        if left == right {
            return Language::EMPTY;
        }
        if right.is_empty() {
            return left;
        }
        self.remember(Operation::Difference, left, right.0, |automata| automata.product(left, right, |a, b| a && !b))
    }

    /// What may follow `letter` at the beginning of a word.
    pub fn left_quotient(&mut self, language: Language, letter: Letter) -> Language {
        let Some(next) = self.first_state(language).and_then(|first| self.dfa(language).next(first, letter)) else {
            return Language::EMPTY;
        };
        self.remember(Operation::LeftQuotient, language, letter.0, |automata| {
            let dfa = automata.dfa(language);
            let mut nfa = Nfa::default();
            let first = nfa.copy(dfa, |state| dfa.accepting[state]);
            nfa.start(first + next);
            nfa
        })
    }

    /// For each state that accepts and can be reached again from itself, the words that lead there and back.
    ///
    /// Whatever of the language ends in such a state may be followed by any number of these words and stays in the
    /// language: the sets `W` of [LINDEN, §4].
    pub fn suffix_loops(&mut self, language: Language) -> Vec<Language> {
        let n_states = self.dfa(language).n_states();
        let mut loops = Vec::new();
        for hub in (0..n_states).filter(|&state| self.dfa(language).accepting[state as usize]).collect::<Vec<_>>() {
            let dfa = self.dfa(language);
            let mut nfa = Nfa::default();
            let first = nfa.copy(dfa, |state| state as u32 == hub);
            // The words must not be empty, so they begin in a state of their own.
            let begin = nfa.state(false);
            nfa.start(begin);
            dfa.edges_of(hub).iter().for_each(|&(letter, to)| nfa.edge(begin, letter, first + to));
            let found = self.build(&nfa);
            if !found.is_empty() && !loops.contains(&found) {
                loops.push(found);
            }
        }
        loops
    }

    /// Whether every word of `part` is in `whole`.
    pub fn includes(&mut self, whole: Language, part: Language) -> bool {
        if whole == part || part.is_empty() {
            return true;
        }
        if let Some(&known) = self.inclusions.get(&(whole, part)) {
            return known;
        }
        self.work += (self.n_states(whole) + self.n_states(part)) as u64;
        let included = self.has_no_word_outside(whole, part);
        self.inclusions.insert((whole, part), included);
        included
    }

    fn has_no_word_outside(&self, whole: Language, part: Language) -> bool {
        let (whole, part) = (self.dfa(whole), self.dfa(part));
        if whole.n_states() == 0 {
            return false;
        }
        let mut seen = vec![false; (whole.n_states() * part.n_states()) as usize];
        let mut open = vec![(0, 0)];
        while let Some((w, p)) = open.pop() {
            if std::mem::replace(&mut seen[(w * part.n_states() + p) as usize], true) {
                continue;
            }
            if part.accepting[p as usize] && !whole.accepting[w as usize] {
                return false;
            }
            for &(letter, to) in part.edges_of(p) {
                // Something is accepted from every state, so a letter that leads nowhere is a word outside.
                let Some(next) = whole.next(w, letter) else { return false };
                open.push((next, to));
            }
        }
        true
    }

    fn first_state(&self, language: Language) -> Option<u32> {
        (!language.is_empty()).then_some(0)
    }

    /// Both at once; a word counts by whether each side accepts it.
    fn product(&self, left: Language, right: Language, counts: impl Fn(bool, bool) -> bool) -> Nfa {
        let (left, right) = (self.dfa(left), self.dfa(right));
        let start = |dfa: &Dfa| if dfa.n_states() == 0 { GONE } else { 0 };
        let mut nfa = Nfa::default();
        let accepts = |dfa: &Dfa, state: u32| state != GONE && dfa.accepting[state as usize];
        let mut pairs = vec![(start(left), start(right))];
        nfa.state(counts(accepts(left, pairs[0].0), accepts(right, pairs[0].1)));
        nfa.start(0);
        let width = right.n_states() as usize + 1;
        let index = |(a, b): (u32, u32)| {
            let (a, b) = (a.min(left.n_states()) as usize, b.min(right.n_states()) as usize);
            a * width + b
        };
        let mut known = vec![GONE; (left.n_states() as usize + 1) * width];
        known[index(pairs[0])] = 0;
        let mut at = 0;
        while at < pairs.len() {
            let (a, b) = pairs[at];
            for (letter, next) in both_edges(left, a, right, b) {
                let slot = &mut known[index(next)];
                if *slot == GONE {
                    *slot = nfa.state(counts(accepts(left, next.0), accepts(right, next.1)));
                    pairs.push(next);
                }
                nfa.edge(at as u32, letter, *slot);
            }
            at += 1;
        }
        nfa
    }

    /// The result of an operation, made only the first time.
    fn remember(
        &mut self,
        operation: Operation,
        language: Language,
        argument: u32,
        make: impl FnOnce(&Automata) -> Nfa,
    ) -> Language {
        let key = (operation, language.0, argument);
        if let Some(&known) = self.results.get(&key) {
            return known;
        }
        let nfa = make(self);
        let result = self.build(&nfa);
        self.results.insert(key, result);
        result
    }
}

/// The letters that lead on from either of two states, with where they lead.
fn both_edges(left: &Dfa, a: u32, right: &Dfa, b: u32) -> Vec<(Letter, (u32, u32))> {
    let edges = |dfa: &Dfa, state: u32| if state == GONE { Vec::new() } else { dfa.edges_of(state).to_vec() };
    let (left, right) = (edges(left, a), edges(right, b));
    let mut letters: Vec<Letter> = left.iter().chain(&right).map(|&(letter, _)| letter).collect();
    letters.sort_unstable();
    letters.dedup();
    let to = |edges: &[(Letter, u32)], letter| {
        edges.binary_search_by_key(&letter, |&(l, _)| l).map_or(GONE, |at| edges[at].1)
    };
    letters.into_iter().map(|letter| (letter, (to(&left, letter), to(&right, letter)))).collect()
}

impl Nfa {
    /// Adds the states and edges of `dfa`, with other accepting states; gives the number of its first.
    fn copy(&mut self, dfa: &Dfa, accepting: impl Fn(usize) -> bool) -> u32 {
        let first = self.n_states();
        (0..dfa.n_states()).for_each(|state| {
            self.state(accepting(state as usize));
        });
        for state in 0..dfa.n_states() {
            dfa.edges_of(state).iter().for_each(|&(letter, to)| self.edge(first + state, letter, first + to));
        }
        first
    }
}
