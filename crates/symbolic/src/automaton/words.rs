//! What words a language has.

use super::{Automata, Language, Letter, Nfa};

impl Automata {
    /// Whether the empty word is in it.
    #[must_use]
    pub fn has_empty_word(&self, language: Language) -> bool {
        self.dfa(language).accepting.first() == Some(&true)
    }

    /// Whether `word` is in it.
    #[must_use]
    pub fn contains(&self, language: Language, word: &[Letter]) -> bool {
        let dfa = self.dfa(language);
        if dfa.n_states() == 0 {
            return false;
        }
        let end = word.iter().try_fold(0, |state, &letter| dfa.next(state, letter));
        end.is_some_and(|state| dfa.accepting[state as usize])
    }

    /// The letters with which words begin, in ascending order.
    #[must_use]
    pub fn first_letters(&self, language: Language) -> Vec<Letter> {
        if language.is_empty() {
            return Vec::new();
        }
        self.dfa(language).edges_of(0).iter().map(|&(letter, _)| letter).collect()
    }

    /// The letters that occur in words, in ascending order.
    #[must_use]
    pub fn letters(&self, language: Language) -> Vec<Letter> {
        let mut letters: Vec<Letter> = self.dfa(language).edges.iter().map(|&(letter, _)| letter).collect();
        letters.sort_unstable();
        letters.dedup();
        letters
    }

    /// A shortest word, and of these the first in the order of letters.
    #[must_use]
    pub fn shortest(&self, language: Language) -> Option<Vec<Letter>> {
        let dfa = self.dfa(language);
        let n_states = dfa.n_states() as usize;
        let mut from: Vec<Option<(u32, Letter)>> = vec![None; n_states];
        let mut order = if n_states == 0 { Vec::new() } else { vec![0_u32] };
        let mut at = 0;
        while at < order.len() {
            let state = order[at];
            if dfa.accepting[state as usize] {
                let mut word = Vec::new();
                let mut back = state;
                while let Some((before, letter)) = from[back as usize] {
                    word.push(letter);
                    back = before;
                }
                word.reverse();
                return Some(word);
            }
            for &(letter, to) in dfa.edges_of(state) {
                if to != 0 && from[to as usize].is_none() {
                    from[to as usize] = Some((state, letter));
                    order.push(to);
                }
            }
            at += 1;
        }
        None
    }

    /// Every word with at most `length` letters, the shorter first.
    #[must_use]
    pub fn words_up_to(&self, language: Language, length: usize) -> Vec<Vec<Letter>> {
        let dfa = self.dfa(language);
        let mut layer: Vec<(u32, Vec<Letter>)> = if dfa.n_states() == 0 { Vec::new() } else { vec![(0, Vec::new())] };
        let mut words = Vec::new();
        for _ in 0..=length {
            words.extend(layer.iter().filter(|(s, _)| dfa.accepting[*s as usize]).map(|(_, word)| word.clone()));
            let longer = layer.iter().flat_map(|(state, word)| {
                dfa.edges_of(*state).iter().map(move |&(letter, to)| {
                    let mut word = word.clone();
                    word.push(letter);
                    (to, word)
                })
            });
            layer = longer.collect();
        }
        words
    }

    /// Whether there are finitely many words.
    #[must_use]
    pub fn is_finite(&self, language: Language) -> bool {
        let dfa = self.dfa(language);
        // Without a cycle, states can be taken away one by one, each when nothing is left that leads on from it.
        let mut left: Vec<bool> = vec![true; dfa.n_states() as usize];
        loop {
            let ends = (0..dfa.n_states())
                .filter(|&state| left[state as usize] && dfa.edges_of(state).iter().all(|&(_, to)| !left[to as usize]));
            let ends: Vec<u32> = ends.collect();
            if ends.is_empty() {
                return left.iter().all(|&still| !still);
            }
            ends.into_iter().for_each(|state| left[state as usize] = false);
        }
    }

    /// An automaton of the language that can be extended; its states have the same numbers.
    ///
    /// It begins in its first state, unless there is none.
    #[must_use]
    pub fn unfold(&self, language: Language) -> Unfolded<'_> {
        Unfolded { automata: self, language }
    }
}

/// The states and edges of a minimal automaton, for making others of them.
#[derive(Clone, Copy, Debug)]
pub struct Unfolded<'a> {
    automata: &'a Automata,
    language: Language,
}

impl<'a> Unfolded<'a> {
    /// How many states there are; words begin in the first, which is 0.
    #[must_use]
    pub fn n_states(self) -> u32 {
        self.automata.dfa(self.language).n_states()
    }

    /// Whether a word may end in `state`.
    #[must_use]
    pub fn is_accepting(self, state: u32) -> bool {
        self.automata.dfa(self.language).accepting[state as usize]
    }

    /// The letters that lead on from `state`, ascending, and where they lead.
    #[must_use]
    pub fn edges_of(self, state: u32) -> &'a [(Letter, u32)] {
        self.automata.dfa(self.language).edges_of(state)
    }

    /// Adds all states to `nfa`, none of which accepts, with the edges whose letters are of a kind; gives the number of
    /// the first.
    pub fn add_passed_to(self, nfa: &mut Nfa, is_passed: impl Fn(Letter) -> bool) -> u32 {
        let first = nfa.n_states();
        (0..self.n_states()).for_each(|_| {
            nfa.state(false);
        });
        for state in 0..self.n_states() {
            let passed = self.edges_of(state).iter().filter(|&&(letter, _)| is_passed(letter));
            passed.for_each(|&(letter, to)| nfa.edge(first + state, letter, first + to));
        }
        first
    }

    /// Adds all states and edges to `nfa`, accepting as here; gives the number of the first.
    pub fn add_to(self, nfa: &mut Nfa) -> u32 {
        let first = nfa.n_states();
        (0..self.n_states()).for_each(|state| {
            nfa.state(self.is_accepting(state));
        });
        for state in 0..self.n_states() {
            self.edges_of(state).iter().for_each(|&(letter, to)| nfa.edge(first + state, letter, first + to));
        }
        first
    }
}
