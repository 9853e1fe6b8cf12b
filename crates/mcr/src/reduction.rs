//! Which of the possible steps are worth taking first, because the others can wait without loss.
//!
//! As in `stateful::reduction` the set chosen is persistent; see [`teetotal_engine::persistent`]. It sees more: a location
//! that nobody looks at any more is in nobody's way, a write that changes nothing is none while nobody else writes the
//! location, and each location of a buffer is a process of its own, so that a store stays pending until somebody is about
//! to look. The processes are the threads, then the possible commits, then what each buffer holds and cannot commit yet.
//! The argument is in `docs/theory/mcr.md`.

use std::ops::Range;

use teetotal_engine::persistent::{Access, Processes, grow, smallest};
use teetotal_memory::Model;
use teetotal_program::{ExplicitState, LocSet, Value};

use super::automata::{Automata, Memory, Possible};
use super::local::{Footprint, Look, Standing};

/// Chooses persistent sets; kept between states to save allocations.
#[derive(Default)]
pub(super) struct Reduction {
    /// What each thread may still do, as far as somebody looks at it.
    futures: Vec<Footprint>,
    /// What each possible step does.
    effects: Vec<Effect>,
    /// Which of the possible steps are operations of each thread, and which are commits of its buffer.
    parts: Vec<Parts>,
    /// How many of the possible steps are operations; they come first.
    n_operations: usize,
    /// For each process those that must be in a set with it.
    needs: Vec<Processes>,
}

/// What the process of a thread needs that nobody is known to start.
const EVERYTHING: Processes = Processes::MAX;

/// What a step does.
#[derive(Clone, Copy, Default)]
struct Effect {
    access: Access,
    /// The location of the buffer that it is a commit of; nothing for an operation.
    commit: LocSet,
}

/// The possible steps of a thread: two stretches.
#[derive(Clone, Default)]
struct Parts {
    operations: Range<usize>,
    commits: Range<usize>,
}

/// A state and its possible steps.
struct State<'s, S, M> {
    automata: &'s Automata<S, M>,
    row: &'s [u32],
    possible: &'s [Possible],
}

impl Reduction {
    /// Appends the chosen steps of `possible` to `chosen`.
    ///
    /// Where programs do not end, what commits do is to be learnt before.
    pub(super) fn choose<S: ExplicitState, M: Model>(
        &mut self,
        automata: &Automata<S, M>,
        row: &[u32],
        possible: &[Possible],
        chosen: &mut Vec<Possible>,
    ) {
        if possible.len() < 2 || !automata.reduces {
            chosen.extend_from_slice(possible);
            return;
        }
        let first = chosen.len();
        self.choose_persistent(&State { automata, row, possible }, chosen);
        // Whoever waits here might wait forever.
        let may_starve = automata.memory_of == Memory::Places && chosen.len() - first < possible.len();
        if may_starve && chosen[first..].iter().any(|&step| automata.goes_back(step)) {
            chosen.truncate(first);
            chosen.extend_from_slice(possible);
        }
    }

    fn choose_persistent<S: ExplicitState, M: Model>(&mut self, state: &State<'_, S, M>, chosen: &mut Vec<Possible>) {
        let live = state.automata.live(state.row);
        // The most frequent of the steps that commute with everything is found without a look at the others.
        if let Some(&unseen) = state.possible.iter().find(|step| state.automata.is_unseen_commit(**step, live)) {
            chosen.push(unseen);
            return;
        }
        self.look_ahead(state, live);
        if let Some(alone) = self.alone(state) {
            chosen.extend_from_slice(alone);
        } else if let Some(set) = self.smallest(state) {
            let is_chosen = |position: &usize| self.process(state.possible, *position) & set != 0;
            chosen.extend((0..state.possible.len()).filter(is_chosen).map(|position| state.possible[position]));
        } else {
            chosen.extend_from_slice(state.possible);
        }
    }

    fn look_ahead<S: ExplicitState, M: Model>(&mut self, state: &State<'_, S, M>, live: LocSet) {
        let State { automata, row, possible } = *state;
        self.futures.clear();
        self.futures.extend((0..automata.n_threads).map(|index| automata.local(row, index).future.within(live)));
        self.effects.clear();
        self.parts.clear();
        self.parts.extend((0..automata.n_threads).map(|_| Parts::default()));
        self.n_operations = possible.iter().take_while(|step| !step.is_commit).count();
        for (position, &step) in possible.iter().enumerate() {
            let write = automata.write_of(step);
            let written = write.map_or(LocSet::default(), |(loc, value)| {
                let set = LocSet::of(loc).intersection(live);
                let changes = automata.memory_at(row, loc) != value;
                let is_shared = || self.others(step.thread).any(|future| future.writes().meets(set));
                if changes || is_shared() { set } else { LocSet::default() }
            });
            let parts = &mut self.parts[step.thread as usize];
            let effect = if step.is_commit {
                extend(&mut parts.commits, position);
                let commit = write.map_or(LocSet::default(), |(loc, _)| LocSet::of(loc));
                Effect { access: Access::write(written), commit }
            } else {
                extend(&mut parts.operations, position);
                let read = automata.local(row, step.thread as usize).reads_now;
                Effect { access: Access { read, written }, commit: LocSet::default() }
            };
            self.effects.push(effect);
        }
    }

    fn others(&self, thread: u32) -> impl Iterator<Item = &Footprint> {
        self.futures.iter().enumerate().filter(move |(index, _)| *index != thread as usize).map(|(_, future)| future)
    }

    /// A step, or all ways of an operation, that commutes with everything that others may still do.
    fn alone<'s, S: ExplicitState, M: Model>(&self, state: &State<'s, S, M>) -> Option<&'s [Possible]> {
        let possible = state.possible;
        let mut first = 0;
        while first < possible.len() {
            let count = group(&possible[first..]);
            let thread = possible[first].thread;
            let effects = &self.effects[first..first + count];
            let is_free = |future: &Footprint| effects.iter().all(|effect| !conflict(effect.access, future));
            if self.others(thread).all(is_free) {
                return Some(&possible[first..first + count]);
            }
            first += count;
        }
        None
    }

    /// The set with the fewest steps that can be grown from a process, if one leaves something out.
    fn smallest<S: ExplicitState, M: Model>(&mut self, state: &State<'_, S, M>) -> Option<Processes> {
        let possible = state.possible;
        if !self.find_needs(state) {
            return None;
        }
        let next = |first: usize| Some(first + group(&possible[first..])).filter(|&next| next < possible.len());
        let seeds = std::iter::successors(Some(0), |&first| next(first)).map(|first| self.process(possible, first));
        let needs = |process: u32| Some(self.needs[process as usize]).filter(|&needed| needed != EVERYTHING);
        smallest(seeds, possible.len(), |seed| grow(seed, needs), |set| self.count_steps(set))
    }

    /// The process of a possible step.
    fn process(&self, possible: &[Possible], position: usize) -> Processes {
        let step = possible[position];
        if step.is_commit { 1 << (self.n_threads() + position - self.n_operations) } else { 1 << step.thread }
    }

    fn n_threads(&self) -> usize {
        self.futures.len()
    }

    /// How many of the possible steps are in a set.
    fn count_steps(&self, set: Processes) -> usize {
        let operations = self.parts.iter().enumerate().filter(|(index, _)| set & 1 << index != 0);
        let operations: usize = operations.map(|(_, parts)| parts.operations.len()).sum();
        let n_commits = self.effects.len() - self.n_operations;
        let commits = set >> self.n_threads() & !(Processes::MAX << n_commits);
        operations + commits.count_ones() as usize
    }

    /// Finds what each process needs; not if there are too many.
    fn find_needs<S: ExplicitState, M: Model>(&mut self, state: &State<'_, S, M>) -> bool {
        let (n_threads, n_operations) = (self.n_threads(), self.n_operations);
        if 2 * n_threads + self.effects.len() - n_operations >= Processes::BITS as usize {
            return false;
        }
        self.needs.clear();
        for index in 0..n_threads {
            self.needs.push(self.needed_by_thread(state, index));
        }
        for position in n_operations..self.effects.len() {
            let thread = state.possible[position].thread as usize;
            self.needs.push(self.conflicts(state, self.effects[position].access, thread));
        }
        // What cannot leave yet waits for others of its buffer.
        for index in 0..n_threads {
            self.needs.push(self.buffer(state, index, LocSet::ALL));
        }
        true
    }

    /// Whatever the operation of a thread depends on, or what may make it possible.
    fn needed_by_thread<S: ExplicitState, M: Model>(&self, state: &State<'_, S, M>, index: usize) -> Processes {
        let local = state.automata.local(state.row, index);
        match local.standing {
            Standing::Ready => {}
            // Who starts it is not known here.
            Standing::NotStarted => return EVERYTHING,
            Standing::Ended | Standing::Over | Standing::Endless(_) => return 0,
        }
        let operations = self.parts[index].operations.clone();
        if !operations.is_empty() {
            let conflicts = operations.map(|position| self.conflicts(state, self.effects[position].access, index));
            return conflicts.fold(0, |all, some| all | some);
        }
        let by_others = match local.look {
            Look::HasEnded(child) => 1 << child.index() | self.buffer(state, child.index(), LocSet::ALL),
            Look::Lock(loc) => match self.holder(index, LocSet::of(loc), state.automata.value_at(state.row, loc)) {
                Some(holder) => 1 << holder,
                None => self.conflicts(state, Access::read(local.reads_now), index),
            },
            _ => self.conflicts(state, Access::read(local.reads_now), index),
        };
        by_others | self.buffer(state, index, LocSet::ALL)
    }

    /// The holder of the lock that thread `index` waits for, if nobody else can free it.
    fn holder(&self, index: usize, lock: LocSet, value: Value) -> Option<usize> {
        let by_locking = |future: &Footprint| !future.pending.union(future.beside_locks).meets(lock);
        let holder = usize::try_from(value).ok()?.checked_sub(1)?;
        (holder < self.futures.len() && self.others(index as u32).all(by_locking)).then_some(holder)
    }

    /// The part of the buffer of a thread that concerns these locations.
    fn buffer<S: ExplicitState, M: Model>(&self, state: &State<'_, S, M>, index: usize, wanted: LocSet) -> Processes {
        let (n_threads, n_operations) = (self.n_threads(), self.n_operations);
        let commits = self.parts[index].commits.clone();
        let wanted_commits = commits.filter(|&position| wanted.meets(self.effects[position].commit));
        let set = wanted_commits.fold(0, |set, position| set | 1 << (n_threads + position - n_operations));
        let is_held = wanted.meets(state.automata.local(state.row, index).held);
        set | Processes::from(is_held) << (n_threads + self.effects.len() - n_operations + index)
    }

    /// Every process of another thread that may depend on `access`.
    fn conflicts<S: ExplicitState, M: Model>(
        &self,
        state: &State<'_, S, M>,
        access: Access,
        thread: usize,
    ) -> Processes {
        let touched = access.touched();
        let mut set = 0;
        for (index, future) in self.futures.iter().enumerate().filter(|(index, _)| *index != thread) {
            if access.conflicts(future.reads, future.writes_at_once.union(future.stores)) {
                set |= 1 << index;
            }
            let pending = touched.intersection(future.pending);
            if !pending.is_empty() {
                set |= self.buffer(state, index, pending);
            }
        }
        set
    }
}

/// Adds the next position to a stretch.
fn extend(stretch: &mut Range<usize>, position: usize) {
    let start = if stretch.start == stretch.end { position } else { stretch.start };
    *stretch = start..position + 1;
}

/// How many of the first steps are ways of one operation.
fn group(possible: &[Possible]) -> usize {
    let first = possible[0];
    if first.is_commit {
        return 1;
    }
    possible.iter().take_while(|step| !step.is_commit && step.thread == first.thread).count()
}

fn conflict(access: Access, future: &Footprint) -> bool {
    access.conflicts(future.reads, future.writes())
}
