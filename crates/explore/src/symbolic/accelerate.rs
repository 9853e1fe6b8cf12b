//! Cycles, and the contents that repeating them any number of times leads to.
//!
//! A cycle is a path of steps from some threads and memory back to the same threads and memory. Taken again and again it
//! may let a buffer grow without end; acceleration adds the whole set of contents at once.
//!
//! Definition: [LINDEN, §4]. We differ in three ways, argued in `docs/theory/symbolic.md`:
//! 1. What a cycle appends is read off its steps, and the set that is guessed from it is accepted only after a check:
//!    every new content must be what the cycle makes of another content of the set with fewer stores. The check stands
//!    in for load equivalence, and is also how a counterexample finds out how often the cycle is taken.
//! 2. A cycle is kept and tried in every state with the same threads and memory, several at once, and cycles may pass
//!    through states that were themselves accelerated.
//! 3. Where stores pass others, taking out stores may leave more and more of the others at the front. That is
//!    accelerated too.

use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::Model;
use teetotal_program::{Snapshot, Subject, ThreadId};

use super::alphabet::{BARRIER, SENTINEL};
use super::automaton::{Language, Letter};
use super::buffer_language::{Buffers, Effect};
use super::expand::{Taken, World};
use super::keys::Key;

/// A cycle, by number. A cycle passes only through accelerations by cycles with smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct CycleId(u32);

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
    /// A cycle of stores that leave, any number of times; each time `word` stays behind at the front.
    Prefix { thread: ThreadId, cycle: CycleId, word: Box<[Letter]> },
}

/// A path back to the same threads and memory.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) items: Box<[Item]>,
    /// What it does to the buffer of each thread.
    growth: Box<[Growth]>,
    /// By how many stores the buffer of each thread grows at least; `None` if it may shrink by any number.
    least: Box<[Option<i64>]>,
}

/// What a cycle does to a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Growth {
    /// Nothing that acceleration is for.
    None,
    /// It appends one of these words, or so it seems.
    Suffix(Language),
    /// It takes out these stores and does nothing else.
    Prefix(Box<[Letter]>),
}

/// The result of an attempt to accelerate, by thread, cycles and languages.
type Attempts = HashMap<(ThreadId, Box<[CycleId]>, Box<[Language]>), Option<Language>, FxBuildHasher>;

/// All cycles that were found.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    all: Vec<Cycle>,
    at: HashMap<Key, Vec<CycleId>, FxBuildHasher>,
    attempts: Attempts,
}

/// No more cycles than this are kept for the same threads and memory.
const MAX_CYCLES: usize = 12;

/// Longer cycles are not kept.
const MAX_LENGTH: usize = 400;

/// How often acceleration of all buffers is tried; one may become possible after another.
const MAX_ROUNDS: usize = 3;

impl Cycles {
    pub(super) fn cycle(&self, id: CycleId) -> &Cycle {
        &self.all[id.0 as usize]
    }

    /// Keeps a cycle at `key`, unless it is known or there are enough.
    pub(super) fn add<M: Model>(&mut self, buffers: &mut Buffers<M>, key: Key, items: Vec<Item>, n_threads: usize) {
        let known = self.at.entry(key).or_default();
        let is_known = |id: &CycleId| *self.all[id.0 as usize].items == items;
        if items.len() > MAX_LENGTH || known.len() >= MAX_CYCLES || known.iter().any(is_known) {
            return;
        }
        let threads = || (0..n_threads).map(ThreadId::at);
        let least: Box<[Option<i64>]> = threads().map(|thread| least_growth(&self.all, &items, thread)).collect();
        let mut unlimited = false;
        let mut growth_of = |thread: ThreadId| match growth(&self.all, buffers, &items, thread) {
            Growth::Suffix(_) if least[thread.index()].is_none_or(|least| least <= 0) => {
                unlimited = true;
                Growth::None
            }
            other => other,
        };
        let growth: Box<[Growth]> = threads().map(&mut growth_of).collect();
        if growth.iter().any(|g| *g != Growth::None) {
            known.push(CycleId(self.all.len() as u32));
            self.all.push(Cycle { items: items.clone().into(), growth, least });
        }
        if unlimited {
            // Without what is accelerated on the way it may be of use.
            let steps: Vec<Item> = items.iter().filter(|item| matches!(item, Item::Step(_))).cloned().collect();
            if steps.len() < items.len() {
                self.add(buffers, key, steps, n_threads);
            }
        }
    }

    /// Adds to `languages` what the cycles at `key` lead to; gives how.
    pub(super) fn accelerate<S, M>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        languages: &mut [Language],
    ) -> Vec<Rc<Pump>>
    where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        let Some(cycles) = self.at.get(&key).cloned() else { return Vec::new() };
        let mut pumps = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let before = pumps.len();
            for thread in (0..languages.len()).map(ThreadId::at) {
                self.grow_at_end(world, &cycles, thread, languages, &mut pumps);
                self.grow_at_front(world, &cycles, thread, languages, &mut pumps);
            }
            if pumps.len() == before {
                break;
            }
        }
        pumps
    }

    /// Tries all cycles that append at once, then each alone.
    fn grow_at_end<S, M>(
        &mut self,
        world: &mut World<S, M>,
        cycles: &[CycleId],
        thread: ThreadId,
        languages: &mut [Language],
        pumps: &mut Vec<Rc<Pump>>,
    ) where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        let appends = |id: &&CycleId| matches!(self.cycle(**id).growth[thread.index()], Growth::Suffix(_));
        let fitting: Vec<CycleId> = cycles.iter().filter(appends).copied().collect();
        let mut attempts: Vec<Vec<CycleId>> = vec![fitting.clone()];
        if fitting.len() > 1 {
            attempts.extend(fitting.iter().rev().map(|&id| vec![id]));
        }
        for cycles in attempts.into_iter().filter(|attempt| !attempt.is_empty()) {
            if let Some(grown) = self.repeat_appending(world, thread, &cycles, languages) {
                languages[thread.index()] = grown;
                pumps.push(Rc::new(Pump::Suffix { thread, cycles: cycles.into() }));
                return;
            }
        }
    }

    fn grow_at_front<S, M>(
        &mut self,
        world: &mut World<S, M>,
        cycles: &[CycleId],
        thread: ThreadId,
        languages: &mut [Language],
        pumps: &mut Vec<Rc<Pump>>,
    ) where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        for &cycle in cycles {
            let Growth::Prefix(leaving) = self.cycle(cycle).growth[thread.index()].clone() else { continue };
            let language = &mut languages[thread.index()];
            if let Some((grown, word)) = left_behind(&mut world.buffers, &leaving, *language) {
                *language = grown;
                pumps.push(Rc::new(Pump::Prefix { thread, cycle, word }));
            }
        }
    }

    /// What the buffer of `thread` may hold after any number of these cycles, if the check says so and it is more.
    pub(super) fn repeat_appending<S, M>(
        &mut self,
        world: &mut World<S, M>,
        thread: ThreadId,
        cycles: &[CycleId],
        languages: &[Language],
    ) -> Option<Language>
    where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        let attempt = (thread, cycles.into(), languages.into());
        if let Some(&known) = self.attempts.get(&attempt) {
            return known;
        }
        let result = self.attempt(world, thread, cycles, languages);
        self.attempts.insert(attempt, result);
        result
    }

    fn attempt<S, M>(
        &mut self,
        world: &mut World<S, M>,
        thread: ThreadId,
        cycles: &[CycleId],
        languages: &[Language],
    ) -> Option<Language>
    where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        let before = languages[thread.index()];
        let mut appended = Language::EMPTY;
        for &id in cycles {
            if let Growth::Suffix(words) = self.cycle(id).growth[thread.index()] {
                appended = world.buffers.automata.union(appended, words);
            }
        }
        let star = world.buffers.automata.star(appended);
        let grown = world.buffers.automata.concatenation(before, star);
        let grown = world.buffers.normalize(grown);
        if grown == before {
            return None;
        }
        let mut guess: Box<[Language]> = languages.into();
        guess[thread.index()] = grown;
        let mut explained = before;
        for &id in cycles {
            if let Some(after) = self.run(world, id, &guess)
                && returns(&mut world.buffers, thread, languages, &after)
            {
                explained = world.buffers.automata.union(explained, after[thread.index()]);
            }
        }
        world.buffers.automata.includes(explained, grown).then_some(grown)
    }

    /// What a cycle makes of languages, or less.
    pub(super) fn run<S, M>(&mut self, world: &mut World<S, M>, cycle: CycleId, from: &[Language]) -> Option<Box<[Language]>>
    where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        let mut languages: Box<[Language]> = from.into();
        for position in 0..self.cycle(cycle).items.len() {
            languages = match self.cycle(cycle).items[position].clone() {
                Item::Step(taken) => world.apply(&taken.effects, &languages)?,
                Item::Pump(pump) => self.pump_within_cycle(world, &pump, languages),
            };
        }
        Some(languages)
    }

    /// An acceleration inside of a cycle. One at the front is left out: the number of stores must not shrink.
    pub(super) fn pump_within_cycle<S, M>(
        &mut self,
        world: &mut World<S, M>,
        pump: &Pump,
        mut languages: Box<[Language]>,
    ) -> Box<[Language]>
    where
        S: Subject + Snapshot + Clone,
        M: Model,
    {
        if let Pump::Suffix { thread, cycles } = pump
            && let Some(grown) = self.repeat_appending(world, *thread, cycles, &languages)
        {
            languages[thread.index()] = grown;
        }
        languages
    }
}

/// Whether a cycle gives every content of the other buffers back.
fn returns<M: Model>(buffers: &mut Buffers<M>, thread: ThreadId, from: &[Language], after: &[Language]) -> bool {
    let others = (0..from.len()).filter(|&index| index != thread.index());
    others.into_iter().all(|index| buffers.automata.includes(after[index], from[index]))
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
                        Effect::Remove(_) => -1,
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

/// What `items` seem to do to the buffer of `thread`.
fn growth<M: Model>(all: &[Cycle], buffers: &mut Buffers<M>, items: &[Item], thread: ThreadId) -> Growth {
    let mut words = Language::EPSILON;
    // The same as one word, while it is one.
    let mut word: Option<Vec<Letter>> = Some(Vec::new());
    let (mut appended, mut removed) = (0_u32, Vec::new());
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
            match *effect {
                Effect::Append(letter) => {
                    appended += 1;
                    append(buffers, &mut words, &mut word, letter);
                }
                Effect::Barrier => append(buffers, &mut words, &mut word, BARRIER),
                Effect::Remove(letter) => removed.push(letter),
                Effect::Drained => return Growth::None,
                _ => {}
            }
        }
    }
    if removed.is_empty() {
        return if appended > 0 { Growth::Suffix(words) } else { Growth::None };
    }
    let leaves_only = |item: &Item| match item {
        Item::Step(taken) => matches!(&*taken.effects, [(t, Effect::Remove(_))] if *t == thread),
        Item::Pump(_) => true,
    };
    if appended == 0 && items.iter().all(leaves_only) {
        return Growth::Prefix(removed.into());
    }
    match word {
        Some(word) if appended as usize > removed.len() => Growth::Suffix(net(buffers, word, &removed)),
        _ => Growth::None,
    }
}

fn append<M: Model>(buffers: &mut Buffers<M>, words: &mut Language, word: &mut Option<Vec<Letter>>, letter: Letter) {
    let one = buffers.automata.letter(letter);
    *words = buffers.automata.concatenation(*words, one);
    if let Some(word) = word {
        word.push(letter);
    }
}

/// Any number of the words that some cycles append.
fn repeated<M: Model>(all: &[Cycle], buffers: &mut Buffers<M>, cycles: &[CycleId], thread: ThreadId) -> Language {
    let mut words = Language::EMPTY;
    for id in cycles {
        if let Growth::Suffix(more) = all[id.0 as usize].growth[thread.index()] {
            words = buffers.automata.union(words, more);
        }
    }
    buffers.automata.star(words)
}

/// What a cycle appends if the stores that leave are its own: a guess, which the check confirms or not.
fn net<M: Model>(buffers: &mut Buffers<M>, mut word: Vec<Letter>, removed: &[Letter]) -> Language {
    for letter in removed {
        if let Some(position) = word.iter().position(|l| l == letter) {
            word.remove(position);
        }
    }
    let word = buffers.automata.word(&word);
    buffers.normalize(word)
}

/// If taking out `leaving` from every content leaves all contents behind some word, the contents behind any number of it.
///
/// The word must be one that the stores may pass; what stands before a word then changes nothing.
fn left_behind<M: Model>(
    buffers: &mut Buffers<M>,
    leaving: &[Letter],
    language: Language,
) -> Option<(Language, Box<[Letter]>)> {
    let sentinel = buffers.automata.letter(SENTINEL);
    let marked = buffers.automata.concatenation(sentinel, language);
    let after = leaving.iter().fold(marked, |rest, &letter| buffers.apply(Effect::Remove(letter), rest));
    let (short, shorter) = (buffers.automata.shortest(after)?, buffers.automata.shortest(language)?);
    let word = short.get(1..)?.strip_suffix(&shorter[..]).filter(|word| !word.is_empty())?;
    let passed = |&letter: &Letter| leaving.iter().all(|&newer| buffers.alphabet.may_pass(newer, letter));
    if !word.iter().all(passed) {
        return None;
    }
    let front = buffers.automata.word(word);
    let behind = buffers.automata.concatenation(front, language);
    let marked_behind = buffers.automata.concatenation(sentinel, behind);
    if !buffers.automata.includes(after, marked_behind) {
        return None;
    }
    let star = buffers.automata.star(front);
    let grown = buffers.automata.concatenation(star, language);
    (grown != language).then(|| (grown, word.into()))
}
