//! What becomes of a state that a step leads to.
//!
//! It slides on where only one thread matters, is accelerated, and stored unless it is known.

use std::rc::Rc;

use teetotal_engine::{Collector, StopReason};
use teetotal_memory::Model;
use teetotal_program::{ExplicitState, Failure, ThreadId};

use super::accelerate;
use super::automaton::Language;
use super::buffer_language::Effect;
use super::cycle::{Item, Pump};
use super::expand::{Successor, Taken};
use super::keys::{Key, LocalState};
use super::search::{Coarse, Search, TakenTogether};
use super::stored::{State, StateId};

/// How many states on the way with the same threads and memory a cycle is looked for from.
const MAX_ANCESTORS: usize = 4;

/// How many turns of a loop of one thread are looked at together; what it stores may repeat only after several.
const MAX_TURNS: usize = 6;

/// How many steps each thread takes alone to look for loops.
const MAX_LOOP_STEPS: usize = 500;

/// A state that one thread alone leads to: how many steps on, and by which step.
type ToVisit = (usize, Key, Box<[Language]>, Option<Rc<Taken>>);

impl<S: ExplicitState, M: Model> Search<'_, S, M> {
    /// Goes on from a state that a step leads to, unless it is known.
    pub(super) fn take(&mut self, id: StateId, successor: Successor, collector: &mut Collector) -> Option<StopReason> {
        let mut items = Vec::new();
        let mut next = Some(successor);
        let (mut key, mut languages) = (self.states.get(id).key, Box::default());
        while let Some(successor) = next {
            self.effort.visited += 1;
            let is_commit = successor.taken.step.is_commit();
            (key, languages) = (successor.key, successor.languages);
            let is_covered = self.states.covering(&mut self.world.buffers, key, &languages).is_some();
            if is_covered && successor.failure.is_none() {
                return None;
            }
            items.push(Item::Step(Rc::new(successor.taken)));
            if let Some(failure) = successor.failure {
                let stopped = self.look_at_failure(id, &items, (key, &languages), failure, collector);
                if stopped.is_some() || is_covered {
                    return stopped;
                }
            }
            self.world.visit(key);
            if M::BUFFERS && is_commit && self.settings.coarse.is_none() {
                let last = items.len() - 1;
                items.extend(self.leave_again(&items[last..], &mut languages).map(Item::Pump));
            }
            next = if self.settings.reduce { self.world.slide(&languages) } else { None };
        }
        self.arrive(id, items, key, languages, collector)
    }

    fn look_at_failure(
        &mut self,
        id: StateId,
        items: &[Item],
        at: (Key, &[Language]),
        failure: (ThreadId, Failure),
        collector: &mut Collector,
    ) -> Option<StopReason> {
        if let (thread, Failure::EndlessLoop { instruction }) = failure {
            return Some(StopReason::EndlessLoop { thread, instruction });
        }
        self.effort.failures += 1;
        self.report(id, items, at, failure, collector)
    }

    /// Stores a state, unless another one has all its contents.
    fn arrive(
        &mut self,
        id: StateId,
        mut items: Vec<Item>,
        key: Key,
        mut languages: Box<[Language]>,
        collector: &mut Collector,
    ) -> Option<StopReason> {
        let mut has_grown = self.coarsen(key, &mut languages);
        if self.settings.coarse.is_none() {
            self.accelerate(id, &mut items, key, &mut languages);
            has_grown = items.iter().any(|item| matches!(item, Item::Pump(_)));
        }
        if has_grown && self.states.covering(&mut self.world.buffers, key, &languages).is_some() {
            return None;
        }
        if self.settings.coarse.is_none()
            && let Some(reason) = self.grows_on(key, &languages)
        {
            self.unbounded.get_or_insert(reason);
            return None;
        }
        let depth =
            self.states.get(id).depth + items.iter().filter(|item| matches!(item, Item::Step(_))).count() as u32;
        let items = items.into();
        self.store(State { key, languages, from: Some(id), items, depth, is_covered: false }, collector)
    }

    /// Adds contents that cannot be told apart where languages are made coarser; gives whether they are.
    fn coarsen(&mut self, key: Key, languages: &mut [Language]) -> bool {
        let Some(Coarse { grain, taken_together }) = self.settings.coarse else { return false };
        let buffers = &mut self.world.buffers;
        let mut are_joined = |one: Language, other: Language| match taken_together {
            TakenTogether::All => true,
            TakenTogether::SameLocations => buffers.locations(one) == buffers.locations(other),
            TakenTogether::SameStores => buffers.automata.letters(one) == buffers.automata.letters(other),
            TakenTogether::Nothing => false,
        };
        let known = self.states.with_key(key).iter().map(|&id| self.states.get(id)).filter(|state| !state.is_covered);
        let mut known = known.map(|state| &state.languages);
        if let Some(known) = known.find(|known| languages.iter().zip(*known).all(|(&l, &k)| are_joined(l, k))) {
            for (language, &more) in languages.iter_mut().zip(known) {
                *language = buffers.automata.union(*language, more);
            }
        }
        for language in languages {
            *language = self.world.buffers.coarsen(*language, grain);
        }
        true
    }

    /// Adds what cycles lead to, those that end here for the first time among them.
    fn accelerate(&mut self, before: StateId, items: &mut Vec<Item>, key: Key, languages: &mut [Language]) {
        if !M::BUFFERS {
            return;
        }
        self.find_local_cycles(before, items, key, languages);
        let pumps = self.cycles.accelerate(&mut self.world, key, languages);
        let found = self.find_cycles(before, items, key, languages);
        items.extend(pumps.into_iter().map(Item::Pump));
        if let Some(found) = found {
            items.extend(found.into_iter().map(Item::Pump));
            let pumps = self.cycles.accelerate(&mut self.world, key, languages);
            items.extend(pumps.into_iter().map(Item::Pump));
        }
    }

    /// Looks for the last times at which each thread that has moved stood where it stands now.
    fn find_local_cycles(&mut self, before: StateId, items: &[Item], key: Key, languages: &[Language]) {
        let moved = |item: &Item| match item {
            Item::Step(taken) if !taken.step.is_commit() => Some(taken.step.thread()),
            _ => None,
        };
        let mut threads: Vec<ThreadId> = items.iter().filter_map(moved).collect();
        threads.sort_unstable();
        threads.dedup();
        for thread in threads {
            let local = self.world.keys.locals_of(key)[thread.index()];
            let stood_here = |id: &StateId| {
                let key = self.states.get(*id).key;
                self.world.keys.locals_of(key)[thread.index()] == local
            };
            let times = self.states.way_back(before).filter(stood_here).take(MAX_TURNS);
            for since in times.collect::<Vec<_>>() {
                let path = self.states.parts(Some(since), before).into_iter().flatten().chain(items);
                self.cycles.local.add(local, thread, path);
                // More turns are of no use where all that one leads to is there already.
                if self.cycles.may_be_closed(&mut self.world, key, thread, languages) {
                    break;
                }
            }
        }
    }

    /// Lets the stores that left on a path leave again and again, if nothing else happened on it.
    fn leave_again(&mut self, path: &[Item], languages: &mut [Language]) -> Option<Rc<Pump>> {
        let mut leaving = Vec::new();
        let mut of = None;
        for item in path {
            let Item::Step(taken) = item else { continue };
            let &[(thread, Effect::Remove { letter, passed })] = taken.effects.as_slice() else { return None };
            if *of.get_or_insert(thread) != thread {
                return None;
            }
            leaving.push((letter, passed));
        }
        let thread = of?;
        accelerate::leave_behind(&mut self.world.buffers, thread, leaving, &mut languages[thread.index()])
    }

    /// Looks for cycles that need more than one thread, or in which memory changes on the way.
    ///
    /// Gives how those were accelerated in which stores only leave; `None` if there are no others either.
    fn find_cycles(
        &mut self,
        before: StateId,
        items: &[Item],
        key: Key,
        languages: &mut [Language],
    ) -> Option<Vec<Rc<Pump>>> {
        let mut found = None;
        let same_key = self.states.way_back(before).filter(|&id| self.states.get(id).key == key);
        for since in same_key.take(MAX_ANCESTORS).collect::<Vec<_>>() {
            let earlier = self.states.get(since).languages.clone();
            let mut differing = (0..languages.len()).filter(|&index| earlier[index] != languages[index]);
            let world = &mut self.world;
            let cycles = &mut self.cycles;
            if !differing.all(|index| cycles.is_closed(world, key, ThreadId::at(index), languages)) {
                let mut path = self.states.path(Some(since), before);
                path.extend_from_slice(items);
                let pumps = found.get_or_insert_with(Vec::new);
                pumps.extend(self.leave_again(&path, languages));
                self.cycles.add(&mut self.world.buffers, key, path, languages.len());
            }
        }
        found
    }

    /// Lets each thread run alone for a while, so that its loops are known before the search begins.
    ///
    /// What is found this way is tried later and checked then, as any other cycle.
    pub(super) fn find_loops(&mut self, key: Key, languages: &[Language]) {
        if M::BUFFERS {
            (0..languages.len()).for_each(|index| self.find_loops_of(ThreadId::at(index), key, languages));
            self.world.visit(key);
        }
    }

    fn find_loops_of(&mut self, thread: ThreadId, key: Key, languages: &[Language]) {
        let local_of = |search: &Self, key: Key| search.world.keys.locals_of(key)[thread.index()];
        // The path, and the steps from it that are still to be taken: depth first.
        let mut path: Vec<(LocalState, Option<Rc<Taken>>)> = Vec::new();
        let mut seen = Vec::new();
        let mut open: Vec<ToVisit> = vec![(0, key, languages.into(), None)];
        for _ in 0..MAX_LOOP_STEPS {
            let Some((depth, key, languages, taken)) = open.pop() else { return };
            let local = local_of(self, key);
            path.truncate(depth);
            path.push((local, taken));
            if let Some(since) = path[..depth].iter().position(|(earlier, _)| *earlier == local) {
                let items: Vec<Item> =
                    path[since + 1..].iter().filter_map(|(_, taken)| taken.clone()).map(Item::Step).collect();
                self.cycles.local.add(local, thread, &items);
            }
            if seen.contains(&local) {
                continue;
            }
            seen.push(local);
            self.world.visit(key);
            for successor in self.world.steps_of(thread, &languages) {
                // What so long a loop appends would be too large to be gone on from.
                if accelerate::is_too_large(&self.world, successor.languages[thread.index()]) {
                    continue;
                }
                let taken = Some(Rc::new(successor.taken));
                open.push((depth + 1, successor.key, successor.languages, taken));
            }
        }
    }
}
