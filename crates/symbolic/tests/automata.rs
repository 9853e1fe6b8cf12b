//! Operations on languages, compared with the same operations on all words up to a length.

use std::collections::BTreeSet;

use teetotal_generate::Rng;
use teetotal_symbolic::automaton::{Automata, Language, Letter};

/// Words up to this length are compared.
const LENGTH: usize = 6;

const LETTERS: u32 = 2;

type Words = BTreeSet<Vec<Letter>>;

/// Languages with all their words up to [`LENGTH`].
struct Both {
    automata: Automata,
    known: Vec<(Language, Words)>,
}

impl Both {
    fn new() -> Self {
        let mut both = Both { automata: Automata::default(), known: Vec::new() };
        both.add(Language::EMPTY, Words::new());
        both.add(Language::EPSILON, Words::from([Vec::new()]));
        for letter in (0..LETTERS).map(Letter) {
            let language = both.automata.letter(letter);
            both.add(language, Words::from([vec![letter]]));
        }
        both
    }

    fn add(&mut self, language: Language, words: Words) {
        let found: Words = self.automata.words_up_to(language, LENGTH).into_iter().collect();
        assert_eq!(found, words);
        self.known.push((language, words));
    }

    fn grow(&mut self, rng: &mut Rng) {
        let ((a, left), (b, right)) = (rng.pick(&self.known), rng.pick(&self.known));
        let automata = &mut self.automata;
        let (language, words) = match rng.below(6) {
            0 | 1 => (automata.concatenation(a, b), concatenation(&left, &right)),
            2 => (automata.union(a, b), &left | &right),
            3 => (automata.intersection(a, b), &left & &right),
            4 => (automata.difference(a, b), &left - &right),
            _ => (automata.star(a), star(&left)),
        };
        self.add(language, words);
    }
}

fn concatenation(left: &Words, right: &Words) -> Words {
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| [l.as_slice(), r].concat()));
    pairs.filter(|word| word.len() <= LENGTH).collect()
}

fn star(words: &Words) -> Words {
    let mut all = Words::from([Vec::new()]);
    loop {
        let more = &all | &concatenation(&all, words);
        if more == all {
            return all;
        }
        all = more;
    }
}

/// Calls `check` with many random languages.
fn with_random_languages(mut check: impl FnMut(&mut Both, &mut Rng)) {
    for seed in 0..300 {
        let (mut both, mut rng) = (Both::new(), Rng::new(seed));
        for _ in 0..14 {
            both.grow(&mut rng);
        }
        check(&mut both, &mut rng);
    }
}

#[test]
fn operations_agree_with_operations_on_words() {
    with_random_languages(|both, _| {
        for (language, words) in both.known.clone() {
            let automata = &mut both.automata;
            assert_eq!(automata.has_empty_word(language), words.contains(&Vec::new()));
            let shortest = automata.shortest(language);
            assert_eq!(shortest.is_none(), language.is_empty());
            if let Some(word) = shortest.filter(|word| word.len() <= LENGTH) {
                assert_eq!(words.iter().min_by_key(|w| (w.len(), w.to_vec())), Some(&word));
            }
            for letter in (0..LETTERS).map(Letter) {
                let quotient = automata.left_quotient(language, letter);
                let expected: Words =
                    words.iter().filter(|w| w.first() == Some(&letter)).map(|w| w[1..].to_vec()).collect();
                let found: Words = automata.words_up_to(quotient, LENGTH - 1).into_iter().collect();
                assert_eq!(found, expected);
                assert_eq!(automata.first_letters(language).contains(&letter), !quotient.is_empty());
            }
        }
    });
}

#[test]
fn languages_are_equal_exactly_when_their_numbers_are() {
    with_random_languages(|both, rng| {
        let everything = both.automata.all_words((0..LETTERS).map(Letter));
        for _ in 0..20 {
            let ((a, _), (b, _)) = (rng.pick(&both.known), rng.pick(&both.known));
            let m = &mut both.automata;
            let (ab, ba) = (m.union(a, b), m.union(b, a));
            assert_eq!(ab, ba);
            let (not_a, not_b) = (m.difference(everything, a), m.difference(everything, b));
            let neither = m.intersection(not_a, not_b);
            assert_eq!(m.difference(everything, neither), ab);
            let (sa, sb) = (m.star(a), m.star(b));
            assert_eq!(m.star(sa), sa);
            let (both_stars, one_star) = (m.concatenation(sa, sb), m.star(ab));
            assert_eq!(m.star(both_stars), one_star, "(A*B*)* is (A|B)*");
            let rest = m.difference(a, b);
            assert_eq!(m.includes(b, a), rest.is_empty());
            assert_eq!(a == b, m.includes(a, b) && m.includes(b, a));
        }
    });
}

#[test]
fn a_language_may_be_followed_by_its_suffix_loops() {
    with_random_languages(|both, rng| {
        let (language, _) = rng.pick(&both.known);
        let m = &mut both.automata;
        let finite = m.is_finite(language);
        for loops in m.suffix_loops(language) {
            assert!(!m.has_empty_word(loops));
            // Some words of the language, and all that end where the loop begins, may be followed by it.
            let longer = m.concatenation(language, loops);
            let common = m.intersection(longer, language);
            assert!(!common.is_empty() && !finite);
            let again = m.star(loops);
            let much_longer = m.concatenation(common, again);
            let stays = m.intersection(much_longer, language);
            assert!(!stays.is_empty());
        }
        let endless = m.words_up_to(language, LENGTH).len() < m.words_up_to(language, 2 * LENGTH).len();
        assert!(!finite || !endless || m.n_states(language) > LENGTH);
    });
}

#[test]
fn the_loop_of_a_word_and_its_repetition_is_found() {
    let mut m = Automata::default();
    let (a, b) = (m.letter(Letter(0)), m.letter(Letter(1)));
    let ba = m.concatenation(b, a);
    let repeated = m.star(ba);
    let language = m.concatenation(a, repeated);
    let plus = m.concatenation(ba, repeated);
    assert_eq!(m.suffix_loops(language), [plus], "a(ba)* may be followed by (ba)+");
    assert_eq!(m.left_quotient(language, Letter(0)), repeated);
    assert!(m.suffix_loops(ba).is_empty());
}
