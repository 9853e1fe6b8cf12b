//! From a symbolic path to an execution of the machine: which contents each buffer had, and how often each cycle was taken.
//!
//! The path is run forward to know the languages before each of its parts, then backward from a content of the last
//! state: each part is undone on words. An acceleration is undone cycle by cycle, which the check at its acceptance
//! promises to be possible until a content from before it is met.

use teetotal_memory::{Model, Step};
use teetotal_program::{ExplicitState, ThreadId};

use super::accelerate::Cycles;
use super::alphabet::BARRIER;
use super::automaton::{Language, Letter};
use super::buffer_language::{Buffers, Effect, LetterSet};
use super::cycle::{CycleId, Item, Pump};
use super::expand::{Taken, World};

/// One content for each buffer.
pub(super) type Words = Vec<Vec<Letter>>;

/// The steps of an execution along `items` from `from` that ends with `words` in the buffers.
///
/// `words` are among the contents that `items` lead to.
pub(super) fn steps<S: ExplicitState, M: Model>(
    world: &mut World<S, M>,
    cycles: &mut Cycles,
    items: &[Item],
    from: &[Language],
    words: Words,
) -> Vec<Step> {
    let mut back = Back { world, cycles, steps: Vec::new() };
    back.undo_path(items, from, words, Within::Path);
    let mut steps = back.steps;
    steps.reverse();
    steps
}

/// Whether accelerations at the front count: not within a cycle, see [`Cycles::pump_within_cycle`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Path,
    Cycle,
}

struct Back<'b, S, M> {
    world: &'b mut World<S, M>,
    cycles: &'b mut Cycles,
    /// The last step first.
    steps: Vec<Step>,
}

impl<S: ExplicitState, M: Model> Back<'_, S, M> {
    /// The contents before `items` that lead to `words`.
    fn undo_path(&mut self, items: &[Item], from: &[Language], mut words: Words, within: Within) -> Words {
        let mut languages: Vec<Box<[Language]>> = vec![from.into()];
        for item in items {
            let before = &languages[languages.len() - 1];
            let after = match item {
                Item::Step(taken) => self.world.apply(&taken.effects, before).expect("the path was possible"),
                Item::Pump(pump) => self.pump(pump, before.clone(), within),
            };
            languages.push(after);
        }
        for (position, item) in items.iter().enumerate().rev() {
            let (before, after) = (&languages[position], &languages[position + 1]);
            match item {
                Item::Step(taken) => {
                    words = self.undo_step(taken, before, words);
                    self.steps.push(taken.step);
                }
                Item::Pump(pump) => words = self.undo_pump(pump, before, after, words),
            }
        }
        words
    }

    fn pump(&mut self, pump: &Pump, mut languages: Box<[Language]>, within: Within) -> Box<[Language]> {
        match pump {
            Pump::Prefix { thread, word, .. } if within == Within::Path => {
                let automata = &mut self.world.buffers.automata;
                let word = automata.word(word);
                let star = automata.star(word);
                let language = &mut languages[thread.index()];
                *language = automata.concatenation(star, *language);
                languages
            }
            _ => self.cycles.pump_within_cycle(self.world, pump, languages),
        }
    }

    /// Undoes the effects of one step.
    fn undo_step(&mut self, taken: &Taken, before: &[Language], mut words: Words) -> Words {
        let mut languages: Vec<Box<[Language]>> = vec![before.into()];
        for effect in &taken.effects {
            let last = &languages[languages.len() - 1];
            let after = self.world.apply(&[*effect], last).expect("the step was possible");
            languages.push(after);
        }
        for (&(thread, effect), before) in taken.effects.iter().zip(&languages).rev() {
            let index = thread.index();
            let word = std::mem::take(&mut words[index]);
            words[index] = undo(&self.world.buffers, effect, before[index], word);
        }
        words
    }

    fn undo_pump(&mut self, pump: &Pump, before: &[Language], after: &[Language], mut words: Words) -> Words {
        let thread = match pump {
            Pump::Suffix { thread, .. } | Pump::Prefix { thread, .. } => *thread,
        };
        while !self.world.buffers.automata.contains(before[thread.index()], &words[thread.index()]) {
            words = match pump {
                Pump::Suffix { cycles, .. } => self.undo_one_of(cycles, after, words),
                Pump::Prefix { leaving, word, .. } => self.undo_leaving(leaving, word, before, thread, words),
            };
        }
        words
    }

    /// Undoes one turn of a cycle that leads to `words`.
    fn undo_one_of(&mut self, cycles: &[CycleId], languages: &[Language], words: Words) -> Words {
        for &cycle in cycles {
            let Some(after) = self.cycles.run(self.world, cycle, languages) else { continue };
            let automata = &self.world.buffers.automata;
            if words.iter().zip(&after).all(|(word, &language)| automata.contains(language, word)) {
                let items = self.cycles.cycle(cycle).items.clone();
                return self.undo_path(&items, languages, words, Within::Cycle);
            }
        }
        unreachable!("every content that was added is what a cycle makes of another one")
    }

    /// Undoes one turn of a cycle that leaves `word` at the front.
    fn undo_leaving(
        &mut self,
        leaving: &[(Letter, LetterSet)],
        word: &[Letter],
        before: &[Language],
        thread: ThreadId,
        mut words: Words,
    ) -> Words {
        // So many copies of the word stand in front of a content from before.
        let content = &words[thread.index()];
        let mut copies = 0;
        while !self.world.buffers.automata.contains(before[thread.index()], &content[copies * word.len()..]) {
            assert!(content[copies * word.len()..].starts_with(word), "only copies of the word were added");
            copies += 1;
        }
        // The stores that left pass all copies but the last as if they were not there.
        let last = content[(copies - 1) * word.len()..].to_vec();
        let undone = self.put_all_back(leaving, before[thread.index()], thread, last);
        words[thread.index()] = word.repeat(copies - 1);
        words[thread.index()].extend_from_slice(&undone);
        words
    }

    /// Puts stores back that left one after the other.
    fn put_all_back(
        &mut self,
        leaving: &[(Letter, LetterSet)],
        before: Language,
        thread: ThreadId,
        mut word: Vec<Letter>,
    ) -> Vec<Letter> {
        let buffers = &mut self.world.buffers;
        let mut languages = vec![before];
        for &(letter, passed) in leaving {
            let rest = buffers.apply(Effect::Remove { letter, passed }, languages[languages.len() - 1]);
            languages.push(rest);
        }
        for (&left, &language) in leaving.iter().zip(&languages).rev() {
            word = put_back(buffers, left, language, &word);
            let loc = buffers.alphabet.store(left.0).expect("only stores leave").loc;
            self.steps.push(Step::Commit { thread, loc });
        }
        word
    }
}

/// A content in `before` of which `effect` makes `word`.
fn undo<M: Model>(buffers: &Buffers<M>, effect: Effect, before: Language, mut word: Vec<Letter>) -> Vec<Letter> {
    match effect {
        Effect::Append(_) => {
            word.pop();
            word
        }
        Effect::Barrier if !buffers.automata.contains(before, &word) => {
            word.pop();
            word
        }
        Effect::Remove { letter, passed } => put_back(buffers, (letter, passed), before, &word),
        _ => word,
    }
}

/// A content in `before` that is `word` when a store has left from behind the letters of a set.
fn put_back<M: Model>(
    buffers: &Buffers<M>,
    (letter, passed): (Letter, LetterSet),
    before: Language,
    word: &[Letter],
) -> Vec<Letter> {
    let passed = buffers.letters_of(passed);
    let longest = word.iter().take_while(|older| passed.contains(older)).count();
    let behind_all = |length: &usize| passed.iter().all(|letter| word[..*length].contains(letter));
    let inserted = (0..=longest).filter(behind_all).map(|position| {
        let mut content = word.to_vec();
        content.insert(position, letter);
        content
    });
    // A barrier behind it was gone with it, if nothing was left before.
    let barred = passed.is_empty().then(|| [&[letter, BARRIER], word].concat());
    let mut contents = inserted.chain(barred);
    contents.find(|content| buffers.automata.contains(before, content)).expect("the store left one of the contents")
}
