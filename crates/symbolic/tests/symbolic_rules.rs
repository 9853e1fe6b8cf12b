//! The rules of the paper on buffer contents, as printed and as corrected, on every small case [LINDEN, §3 and §4].

use teetotal_memory::models::{Pso, Tso};
use teetotal_memory::{Model, ModelId};
use teetotal_program::{Loc, Order, Value};
use teetotal_symbolic::alphabet::Store;
use teetotal_symbolic::automaton::{Language, Letter};
use teetotal_symbolic::buffer_language::{Buffers, Effect};

const LOCATIONS: [Loc; 2] = [Loc(0), Loc(1)];
const VALUES: [Value; 2] = [0, 1];

/// A store, as a location and a value.
type Entry = (Loc, Value);

fn entries() -> impl Iterator<Item = Entry> + Clone {
    LOCATIONS.into_iter().flat_map(|loc| VALUES.into_iter().map(move |value| (loc, value)))
}

/// Every content of at most `length` stores.
fn contents(length: usize) -> Vec<Vec<Entry>> {
    let mut all = vec![Vec::new()];
    let mut layer = all.clone();
    for _ in 0..length {
        let longer =
            layer.iter().flat_map(|content| entries().map(move |entry| [content.as_slice(), &[entry]].concat()));
        layer = longer.collect();
        all.extend(layer.iter().cloned());
    }
    all
}

fn language<M: Model>(buffers: &mut Buffers<M>, content: &[Entry]) -> Language {
    let letters: Vec<Letter> =
        content.iter().map(|&(loc, value)| buffers.alphabet.letter(loc, value, Order::Plain)).collect();
    buffers.automata.word(&letters)
}

/// What a load reads, by definition.
fn newest(content: &[Entry], loc: Loc, memory: Value) -> Value {
    content.iter().rev().find(|entry| entry.0 == loc).map_or(memory, |entry| entry.1)
}

/// Whether the printed formula lets a load of `value` pass: after the store that is read only stores to the same location.
fn passes_as_printed(content: &[Entry], (loc, value): Entry, memory: Value) -> bool {
    let in_buffer =
        (0..content.len()).any(|at| content[at] == (loc, value) && content[at..].iter().all(|e| e.0 == loc));
    in_buffer || (memory == value && content.iter().all(|entry| entry.0 != loc))
}

#[test]
fn a_load_reads_the_newest_store_to_its_location() {
    let mut buffers = Buffers::<Tso>::default();
    let (mut cases, mut printed_wrong) = (0, 0);
    for content in contents(4) {
        let set = language(&mut buffers, &content);
        for (loc, value) in entries() {
            for memory in VALUES {
                let expected = newest(&content, loc, memory) == value;
                let effect = if memory == value { Effect::Seen { loc, value } } else { Effect::Newest { loc, value } };
                let left = buffers.apply(effect, set);
                assert_eq!(left, if expected { set } else { Language::EMPTY }, "{content:?}, load {value} of {loc:?}");
                cases += 1;
                printed_wrong += u32::from(passes_as_printed(&content, (loc, value), memory) != expected);
            }
        }
    }
    assert_eq!((cases, printed_wrong), (2_728, 776));
}

#[test]
fn what_is_newest_divides_a_language() {
    let mut buffers = Buffers::<Pso>::default();
    let mut set = Language::EMPTY;
    for content in contents(3) {
        let one = language(&mut buffers, &content);
        set = buffers.automata.union(set, one);
    }
    for loc in LOCATIONS {
        let mut all = Language::EMPTY;
        for &(_, part) in buffers.newest(set, loc).iter() {
            assert!(buffers.automata.intersection(all, part).is_empty());
            all = buffers.automata.union(all, part);
        }
        assert_eq!(all, set);
    }
}

/// What may leave a buffer of the model, by its own definition, is what a language lets leave.
fn check_leaving<M: Model>() {
    let mut buffers = Buffers::<M>::default();
    for content in contents(4) {
        let set = language(&mut buffers, &content);
        let expected: Vec<Vec<Entry>> = (0..content.len())
            .filter(|&at| match M::ID {
                ModelId::Tso => at == 0,
                _ => content[..at].iter().all(|older| older.0 != content[at].0),
            })
            .map(|at| [&content[..at], &content[at + 1..]].concat())
            .collect();
        let mut expected: Vec<Language> = expected.iter().map(|left| language(&mut buffers, left)).collect();
        let mut found: Vec<Language> = buffers.leaving(set).iter().map(|&(_, _, left)| left).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{content:?} under {:?}", M::ID);
    }
}

#[test]
fn the_stores_that_leave_are_those_of_the_machine() {
    check_leaving::<Tso>();
    check_leaving::<Pso>();
}

/// A transition of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transition {
    Store(Entry),
    Load(Entry),
    Commit,
}

/// Two buffers and memory.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    buffers: [Language; 2],
    memory: [Value; 2],
}

impl State {
    fn take(&self, all: &mut Buffers<Tso>, process: usize, transition: Transition) -> Option<State> {
        let mut next = self.clone();
        let own = &mut next.buffers[process];
        match transition {
            Transition::Store((loc, value)) => {
                let letter = all.alphabet.letter(loc, value, Order::Plain);
                *own = all.apply(Effect::Append(letter), *own);
            }
            Transition::Load((loc, value)) => {
                let in_memory = self.memory[loc.index()] == value;
                let effect = if in_memory { Effect::Seen { loc, value } } else { Effect::Newest { loc, value } };
                *own = all.apply(effect, *own);
            }
            Transition::Commit => {
                let (letter, left) = all.leaving(*own).first().map(|&(letter, _, left)| (letter, left))?;
                let Store { loc, value, .. } = all.alphabet.store(letter).expect("only stores leave");
                *own = left;
                next.memory[loc.index()] = value;
            }
        }
        (!next.buffers[process].is_empty()).then_some(next)
    }
}

/// Which reading of the third rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// Whose buffer is meant is corrected; commits of one location count as independent if the other buffer has it too.
    Printed,
    /// Two commits of one location are dependent.
    Corrected,
}

/// Whether a commit of `loc` is independent of a transition of the process whose buffer is `other`.
fn commit_is_independent(rule: Rule, loc: Loc, transition: Transition, other: &[Entry]) -> bool {
    let has_it = other.iter().any(|entry| entry.0 == loc);
    match transition {
        Transition::Commit => {
            let same = other[0].0 == loc;
            !same || (rule == Rule::Printed && has_it)
        }
        Transition::Store(entry) | Transition::Load(entry) => entry.0 != loc || has_it,
    }
}

fn are_independent(rule: Rule, contents: [&[Entry]; 2], transitions: [Transition; 2]) -> bool {
    match transitions {
        [Transition::Commit, Transition::Commit] => {
            commit_is_independent(rule, contents[0][0].0, Transition::Commit, contents[1])
        }
        [Transition::Commit, other] => commit_is_independent(rule, contents[0][0].0, other, contents[1]),
        [other, Transition::Commit] => commit_is_independent(rule, contents[1][0].0, other, contents[0]),
        _ => true,
    }
}

/// How many pairs of possible transitions there are, and how many a rule calls independent that are not.
fn count(rule: Rule) -> (u32, u32) {
    let mut all = Buffers::<Tso>::default();
    let transitions: Vec<Transition> =
        entries().map(Transition::Store).chain(entries().map(Transition::Load)).chain([Transition::Commit]).collect();
    let (mut pairs, mut wrong) = (0, 0);
    let contents = contents(2);
    for first in &contents {
        for second in &contents {
            let buffers = [language(&mut all, first), language(&mut all, second)];
            for memory in VALUES.into_iter().flat_map(|x| VALUES.into_iter().map(move |y| [x, y])) {
                let state = State { buffers, memory };
                for &a in &transitions {
                    let Some(after_a) = state.take(&mut all, 0, a) else { continue };
                    for &b in &transitions {
                        let Some(after_b) = state.take(&mut all, 1, b) else { continue };
                        pairs += 1;
                        let commute =
                            after_a.take(&mut all, 1, b).is_some_and(|ab| Some(ab) == after_b.take(&mut all, 0, a));
                        wrong += u32::from(are_independent(rule, [first, second], [a, b]) && !commute);
                    }
                }
            }
        }
    }
    (pairs, wrong)
}

#[test]
fn independent_transitions_commute() {
    let (pairs, wrong) = count(Rule::Corrected);
    assert_eq!((pairs, wrong), (85_264, 0));
    let (_, printed_wrong) = count(Rule::Printed);
    assert!(printed_wrong > 0, "the exclusion of commits of one location is needed");
}

#[test]
fn a_store_may_pass_any_number_of_others() {
    let mut buffers = Buffers::<Pso>::default();
    let mut content: Vec<Entry> = (0..130).map(|value| (LOCATIONS[0], value)).collect();
    let left = language(&mut buffers, &content);
    content.push((LOCATIONS[1], 1));
    let set = language(&mut buffers, &content);
    let leaving = buffers.leaving(set);
    assert_eq!(leaving.len(), 2, "the oldest, and the one behind all others");
    assert!(leaving.iter().any(|&(_, _, rest)| rest == left));
    assert!(buffers.leaving_somehow(set).iter().any(|&(_, _, rest)| rest == left));
}
