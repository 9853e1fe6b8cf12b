//! Cycles: paths of steps from some threads and memory back to the same threads and memory.

use std::rc::Rc;

use teetotal_memory::Model;
use teetotal_program::ThreadId;

use super::alphabet::BARRIER;
use super::automaton::{Language, Letter};
use super::buffer_language::{Buffers, Effect, LetterSet};
use super::expand::Taken;

/// A cycle, by number. A cycle passes only through accelerations by cycles with smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct CycleId(pub(super) u32);

/// A part of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Step(Rc<Taken>),
    Pump(Rc<Pump>),
}

/// An acceleration of one buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Pump {
    /// Any of these cycles, any number of times; each appends.
    Suffix { thread: ThreadId, cycles: Box<[CycleId]> },
    /// Stores that leave, again and again; each time `word` stays behind at the front.
    Prefix { thread: ThreadId, leaving: Box<[(Letter, LetterSet)]>, word: Box<[Letter]> },
}

/// A path back to the same threads and memory.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) items: Box<[Item]>,
    /// What it does to the buffer of each thread.
    pub(super) growth: Box<[Growth]>,
    /// By how many stores the buffer of each thread grows at least; `None` if it may shrink by any number.
    least: Box<[Option<i64>]>,
    /// Whether only one thread takes part, and memory does not change on the way.
    pub(super) is_local: bool,
}

/// What a cycle does to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Growth {
    /// Nothing that acceleration is for.
    None,
    /// It appends one of these words, or so it seems.
    Suffix(Language),
}

impl Cycle {
    pub(super) fn new<M: Model>(
        all: &[Cycle],
        buffers: &mut Buffers<M>,
        items: Vec<Item>,
        n_threads: usize,
        is_local: bool,
    ) -> Self {
        let threads = || (0..n_threads).map(ThreadId::at);
        let least: Box<[Option<i64>]> = threads().map(|thread| least_growth(all, &items, thread)).collect();
        let growth = threads().map(|thread| match least[thread.index()] {
            Some(least) if least > 0 => growth(all, buffers, &items, thread),
            _ => Growth::None,
        });
        let growth = growth.collect();
        Cycle { items: items.into(), growth, least, is_local }
    }

    /// The words that it appends to the buffer of `thread`, or so it seems.
    pub(super) fn appended(&self, thread: ThreadId) -> Option<Language> {
        match self.growth[thread.index()] {
            Growth::Suffix(words) => Some(words),
            Growth::None => None,
        }
    }

    /// Whether it makes some buffer longer.
    pub(super) fn grows(&self) -> bool {
        self.growth.iter().any(|growth| *growth != Growth::None)
    }

    /// Whether it may leave the buffer of `thread` as long as it is.
    pub(super) fn keeps_length(&self, thread: ThreadId) -> bool {
        self.least[thread.index()] == Some(0)
    }

    /// Whether something accelerated on the way keeps it from making a buffer longer for sure.
    pub(super) fn may_shrink(&self) -> bool {
        self.least.contains(&None)
    }
}

/// By how many stores the buffer of `thread` grows at least along `items`.
fn least_growth(all: &[Cycle], items: &[Item], thread: ThreadId) -> Option<i64> {
    let mut least = 0;
    for item in items {
        match item {
            Item::Step(taken) => {
                for (_, effect) in taken.effects.iter().filter(|(t, _)| *t == thread) {
                    least += match effect {
                        Effect::Append(_) => 1,
                        Effect::Remove { .. } | Effect::Leave(_) => -1,
                        _ => 0,
                    };
                }
            }
            Item::Pump(pump) => {
                // An acceleration at the front is left out when a cycle is run again.
                if let Pump::Suffix { cycles, .. } = &**pump {
                    let shrinks = |id: &CycleId| all[id.0 as usize].least[thread.index()].is_none_or(|least| least < 0);
                    if cycles.iter().any(shrinks) {
                        return None;
                    }
                }
            }
        }
    }
    Some(least)
}

/// What `items` seem to append to the buffer of `thread`.
///
/// A store that leaves is taken to be one that was appended on the way; the check of an acceleration confirms it or not.
fn growth<M: Model>(all: &[Cycle], buffers: &mut Buffers<M>, items: &[Item], thread: ThreadId) -> Growth {
    let mut words = Language::EPSILON;
    // The same as one word, while it is one.
    let mut word: Option<Vec<Letter>> = Some(Vec::new());
    let mut removed = Vec::new();
    for item in items {
        let taken = match item {
            Item::Step(taken) => taken,
            Item::Pump(pump) => {
                if let Pump::Suffix { thread: t, cycles } = &**pump
                    && *t == thread
                {
                    let inner = repeated(all, buffers, cycles, thread);
                    words = buffers.automata.concatenation(words, inner);
                    word = None;
                }
                continue;
            }
        };
        for (_, effect) in taken.effects.iter().filter(|(t, _)| *t == thread) {
            let letter = match *effect {
                Effect::Append(letter) => letter,
                Effect::Barrier => BARRIER,
                Effect::Remove { letter, .. } | Effect::Leave(letter) => {
                    removed.push(letter);
                    continue;
                }
                Effect::Drained => return Growth::None,
                _ => continue,
            };
            let one = buffers.automata.letter(letter);
            words = buffers.automata.concatenation(words, one);
            word.iter_mut().for_each(|word| word.push(letter));
        }
    }
    match word {
        _ if removed.is_empty() => Growth::Suffix(words),
        Some(word) => Growth::Suffix(without(buffers, word, &removed)),
        None => Growth::None,
    }
}

/// Any number of the words that some cycles append.
fn repeated<M: Model>(all: &[Cycle], buffers: &mut Buffers<M>, cycles: &[CycleId], thread: ThreadId) -> Language {
    let words = cycles.iter().filter_map(|id| all[id.0 as usize].appended(thread));
    let words = words.fold(Language::EMPTY, |all, more| buffers.automata.union(all, more));
    buffers.automata.star(words)
}

fn without<M: Model>(buffers: &mut Buffers<M>, mut word: Vec<Letter>, removed: &[Letter]) -> Language {
    for letter in removed {
        if let Some(position) = word.iter().position(|l| l == letter) {
            word.remove(position);
        }
    }
    let word = buffers.automata.word(&word);
    buffers.normalize(word)
}
