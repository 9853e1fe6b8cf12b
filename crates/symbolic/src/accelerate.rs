//! Acceleration: the contents that repeating cycles any number of times leads to, all at once.
//!
//! Definition: [LINDEN, §4]. We differ in four ways, argued in `docs/theory/symbolic.md`:
//! 1. What a cycle appends is read off its steps, and the set that is guessed from it is accepted only after a check:
//!    every new content must be what the cycle makes of another content of the set with fewer stores. The check stands
//!    in for load equivalence, and is also how a counterexample finds out how often the cycle is taken.
//! 2. A cycle of one thread is kept and tried wherever the thread comes to the same place; others are tried wherever
//!    threads and memory are the same.
//! 3. Several cycles may be taken in any order, and cycles may pass through states that were themselves accelerated.
//! 4. Where stores pass others, taking out stores may leave more and more of the others at the front. That is
//!    accelerated too.

use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::Model;
use teetotal_program::{ExplicitState, ThreadId};

use super::alphabet::SENTINEL;
use super::automaton::{Language, Letter};
use super::buffer_language::{Buffers, Effect, LetterSet};
use super::cycle::{Cycle, CycleId, Item, Pump};
use super::expand::World;
use super::keys::Key;
use super::local::LocalCycles;

/// The result of an attempt to accelerate, by thread, cycles and the languages that matter.
type Attempts = HashMap<(ThreadId, Box<[CycleId]>, Box<[Language]>), Grown, FxBuildHasher>;

/// What came of an attempt to accelerate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grown {
    /// All that the cycles lead to is there already.
    Nothing,
    /// The contents now are these.
    To(Language),
    /// What the cycles lead to is not known.
    Unknown,
}

/// What the cycles of one thread add to its buffer.
#[derive(Clone, Debug)]
enum LocalGrowth {
    /// Nothing that is not there already.
    Closed,
    /// The contents now are these.
    To(Language, Rc<Pump>),
    /// Not known, or there is no such cycle.
    Unknown,
}

/// By threads and memory, thread, contents of its buffer, and how many cycles were known.
type LocalGrowths = HashMap<(Key, ThreadId, Language, usize), LocalGrowth, FxBuildHasher>;

fn appending(thread: ThreadId, cycles: &[CycleId]) -> Rc<Pump> {
    Rc::new(Pump::Suffix { thread, cycles: cycles.into() })
}

/// All cycles that were found.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    all: Vec<Cycle>,
    pub(super) local: LocalCycles,
    /// Those in which several threads take part, or memory changes on the way.
    at: HashMap<Key, Vec<CycleId>, FxBuildHasher>,
    attempts: Attempts,
    local_growths: LocalGrowths,
}

/// No more cycles than this are kept for the same threads and memory.
const MAX_CYCLES: usize = 12;

/// Longer cycles are not kept.
const MAX_LENGTH: usize = 200;

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
        let cycle = Cycle::new(&self.all, buffers, items, n_threads, false);
        // Without what is accelerated on the way it may be of use.
        let plain = cycle.may_shrink().then(|| {
            let steps = cycle.items.iter().filter(|item| matches!(item, Item::Step(_))).cloned().collect();
            Cycle::new(&self.all, buffers, steps, n_threads, false)
        });
        let turned = with_a_turn(&self.all, buffers, &cycle, n_threads);
        for cycle in [Some(cycle), plain].into_iter().flatten().chain(turned).filter(Cycle::grows) {
            known.push(CycleId(self.all.len() as u32));
            self.all.push(cycle);
        }
    }

    /// Adds to `languages` what the cycles here lead to; gives how. The world is at `key`.
    pub(super) fn accelerate<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        languages: &mut [Language],
    ) -> Vec<Rc<Pump>> {
        let mut pumps = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let before = pumps.len();
            for thread in (0..languages.len()).map(ThreadId::at) {
                if let LocalGrowth::To(grown, pump) = self.local_growth(world, key, thread, languages) {
                    languages[thread.index()] = grown;
                    pumps.push(pump);
                } else if let Some((grown, pump)) = self.shared_growth(world, key, thread, languages) {
                    languages[thread.index()] = grown;
                    pumps.push(pump);
                }
            }
            if pumps.len() == before {
                break;
            }
        }
        pumps
    }

    /// Whether the cycles of `thread` alone that are known here have nothing more to add to its buffer.
    pub(super) fn is_closed<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        thread: ThreadId,
        languages: &[Language],
    ) -> bool {
        matches!(self.local_growth(world, key, thread, languages), LocalGrowth::Closed)
    }

    /// Whether the cycles of `thread` alone that are known here are understood, or there is none.
    pub(super) fn may_be_closed<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        thread: ThreadId,
        languages: &[Language],
    ) -> bool {
        let local = world.keys.locals_of(key)[thread.index()];
        self.local.count(local) == 0
            || !matches!(self.local_growth(world, key, thread, languages), LocalGrowth::Unknown)
    }

    /// What the cycles of `thread` alone add to its buffer.
    fn local_growth<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        thread: ThreadId,
        languages: &[Language],
    ) -> LocalGrowth {
        let local = world.keys.locals_of(key)[thread.index()];
        let n_known = self.local.count(local);
        // While another thread asks to go on alone, this one may not be able to.
        if n_known == 0 || world.at.subject.exclusive().is_some_and(|exclusive| exclusive != thread) {
            return LocalGrowth::Unknown;
        }
        let question = (key, thread, languages[thread.index()], n_known);
        if let Some(known) = self.local_growths.get(&question) {
            return known.clone();
        }
        let n_threads = languages.len();
        let mut cycles = self.local.at(local, &world.at.memory, &mut self.all, &mut world.buffers, n_threads);
        cycles.retain(|&id| self.cycle(id).appended(thread).is_some());
        let growth = match self.repeat(world, thread, &cycles, languages) {
            _ if cycles.is_empty() => LocalGrowth::Unknown,
            Grown::Nothing => LocalGrowth::Closed,
            Grown::To(grown) => LocalGrowth::To(grown, appending(thread, &cycles)),
            Grown::Unknown => self.first_to_grow(world, thread, &cycles, languages),
        };
        self.local_growths.insert(question, growth.clone());
        growth
    }

    /// Tries cycles one by one, the last that was found first.
    fn first_to_grow<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        thread: ThreadId,
        cycles: &[CycleId],
        languages: &[Language],
    ) -> LocalGrowth {
        for &id in cycles.iter().rev() {
            if let Grown::To(grown) = self.repeat(world, thread, &[id], languages) {
                return LocalGrowth::To(grown, appending(thread, &[id]));
            }
        }
        LocalGrowth::Unknown
    }

    /// What the cycles at `key` in which others take part add to the buffer of `thread`, with its own or without.
    fn shared_growth<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        key: Key,
        thread: ThreadId,
        languages: &[Language],
    ) -> Option<(Language, Rc<Pump>)> {
        let mut shared = self.at.get(&key)?.clone();
        shared.retain(|&id| self.cycle(id).appended(thread).is_some());
        if shared.is_empty() {
            return None;
        }
        let mut all = Vec::new();
        if world.at.subject.exclusive().is_none_or(|exclusive| exclusive == thread) {
            let local = world.keys.locals_of(key)[thread.index()];
            all = self.local.at(local, &world.at.memory, &mut self.all, &mut world.buffers, languages.len());
        }
        all.retain(|&id| self.cycle(id).appended(thread).is_some());
        all.extend_from_slice(&shared);
        let attempts = std::iter::once(all).chain(shared.into_iter().rev().map(|id| vec![id]));
        for cycles in attempts {
            if let Grown::To(grown) = self.repeat(world, thread, &cycles, languages) {
                return Some((grown, appending(thread, &cycles)));
            }
        }
        None
    }

    /// What the buffer of `thread` may hold after any number of these cycles, as far as the check confirms it.
    pub(super) fn repeat<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        thread: ThreadId,
        cycles: &[CycleId],
        languages: &[Language],
    ) -> Grown {
        let is_local = cycles.iter().all(|&id| self.cycle(id).is_local);
        let matter = if is_local { &languages[thread.index()..=thread.index()] } else { languages };
        let attempt = (thread, cycles.into(), matter.into());
        if let Some(&known) = self.attempts.get(&attempt) {
            return known;
        }
        let result = self.attempt(world, thread, cycles, languages);
        self.attempts.insert(attempt, result);
        result
    }

    fn attempt<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        thread: ThreadId,
        cycles: &[CycleId],
        languages: &[Language],
    ) -> Grown {
        let before = languages[thread.index()];
        let appended = cycles.iter().filter_map(|&id| self.cycle(id).appended(thread));
        let appended = appended.fold(Language::EMPTY, |all, more| world.buffers.automata.union(all, more));
        let star = world.buffers.automata.star(appended);
        if is_too_large(world, star) {
            return Grown::Unknown;
        }
        let grown = world.buffers.automata.concatenation(before, star);
        let grown = world.buffers.normalize(grown);
        if grown == before {
            return Grown::Nothing;
        }
        if is_too_large(world, grown) {
            return Grown::Unknown;
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
        if world.buffers.automata.includes(explained, grown) { Grown::To(grown) } else { Grown::Unknown }
    }

    /// What a cycle makes of languages, or less.
    pub(super) fn run<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        cycle: CycleId,
        from: &[Language],
    ) -> Option<Box<[Language]>> {
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
    pub(super) fn pump_within_cycle<S: ExplicitState, M: Model>(
        &mut self,
        world: &mut World<S, M>,
        pump: &Pump,
        mut languages: Box<[Language]>,
    ) -> Box<[Language]> {
        if let Pump::Suffix { thread, cycles } = pump
            && let Grown::To(grown) = self.repeat(world, *thread, cycles, &languages)
        {
            languages[thread.index()] = grown;
        }
        languages
    }
}

/// Whether nothing would be gone on from with these contents.
pub(super) fn is_too_large<S, M: Model>(world: &World<S, M>, language: Language) -> bool {
    world.buffers.automata.n_states(language) > world.automaton_states
}

/// For each acceleration on a cycle that appends nothing else to that buffer, the cycle with one turn more there.
///
/// An acceleration may stand for no turn at all, and a cycle must make the buffer longer. Together these are what the
/// cycle does whenever it appends something.
fn with_a_turn<M: Model>(all: &[Cycle], buffers: &mut Buffers<M>, cycle: &Cycle, n_threads: usize) -> Vec<Cycle> {
    let mut turned = Vec::new();
    for (position, item) in cycle.items.iter().enumerate() {
        let Item::Pump(pump) = item else { continue };
        let Pump::Suffix { thread, cycles } = &**pump else { continue };
        if !cycle.keeps_length(*thread) {
            continue;
        }
        for id in cycles {
            let (before, after) = cycle.items.split_at(position + 1);
            let items = [before, &all[id.0 as usize].items, after].concat();
            if items.len() <= MAX_LENGTH {
                turned.push(Cycle::new(all, buffers, items, n_threads, false));
            }
        }
    }
    turned
}

/// Whether a cycle gives every content of the other buffers back.
fn returns<M: Model>(buffers: &mut Buffers<M>, thread: ThreadId, from: &[Language], after: &[Language]) -> bool {
    let mut others = (0..from.len()).filter(|&index| index != thread.index());
    others.all(|index| buffers.automata.includes(after[index], from[index]))
}

/// Adds what is left when these stores leave again and again, given that memory is then as it is now.
///
/// If taking them out of every content leaves all contents behind some word, there may be any number of that word. The
/// word must be one that each of the stores passes anyhow; what stands before a content then changes nothing.
pub(super) fn leave_behind<M: Model>(
    buffers: &mut Buffers<M>,
    thread: ThreadId,
    leaving: Vec<(Letter, LetterSet)>,
    language: &mut Language,
) -> Option<Rc<Pump>> {
    let passes_nothing = leaving.iter().any(|&(_, passed)| buffers.letters_of(passed).is_empty());
    if passes_nothing || buffers.automata.is_finite(*language) {
        return None;
    }
    let sentinel = buffers.automata.letter(SENTINEL);
    let marked = buffers.automata.concatenation(sentinel, *language);
    let take_out =
        |rest, &(letter, passed): &(Letter, LetterSet)| buffers.apply(Effect::Remove { letter, passed }, rest);
    let after = leaving.iter().fold(marked, take_out);
    let (short, shorter) = (buffers.automata.shortest(after)?, buffers.automata.shortest(*language)?);
    let word = short.get(1..)?.strip_suffix(&shorter[..]).filter(|word| !word.is_empty())?;
    let is_passed = |letter: &Letter| leaving.iter().all(|&(_, passed)| buffers.letters_of(passed).contains(letter));
    if !word.iter().all(is_passed) {
        return None;
    }
    let front = buffers.automata.word(word);
    let behind = buffers.automata.concatenation(front, *language);
    let marked_behind = buffers.automata.concatenation(sentinel, behind);
    if !buffers.automata.includes(after, marked_behind) {
        return None;
    }
    let star = buffers.automata.star(front);
    let grown = buffers.automata.concatenation(star, *language);
    if grown == *language {
        return None;
    }
    *language = grown;
    Some(Rc::new(Pump::Prefix { thread, leaving: leaving.into(), word: word.into() }))
}
