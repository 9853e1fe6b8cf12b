//! Which of the possible steps are worth taking first, because the others can wait without loss.
//!
//! As in `stateful::reduction` the set chosen is persistent [PERSISTENT]. It sees more: a location that nobody looks at
//! any more is in nobody's way, a write that changes nothing is none while nobody else writes the location, and each
//! location of a buffer is a process of its own, so that a store stays pending until somebody is about to look.
//! The argument is in `docs/theory/mcr.md`.

use teetotal_memory::Model;
use teetotal_program::{LocSet, Value};

use super::automata::{Automata, Learnable, Memory, Possible};
use super::local::{Footprint, Look, Standing};

/// Chooses persistent sets; kept between states to save allocations.
#[derive(Default)]
pub(super) struct Reduction {
    /// What each thread may still do, as far as somebody looks at it.
    futures: Vec<Footprint>,
    /// What each possible step reads and writes in memory.
    accesses: Vec<Access>,
    /// The set that is grown, and the best so far.
    set: Processes,
    /// The part of it that everything was added for.
    done: Processes,
    best: Processes,
}

/// Threads as bits, and for each thread the locations of its buffer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Processes {
    threads: u64,
    buffers: Vec<LocSet>,
}

#[derive(Clone, Copy, Default)]
struct Access {
    read: LocSet,
    written: LocSet,
    /// The location of the buffer that it is a commit of; nothing for an operation.
    commit: LocSet,
}

impl Access {
    fn read(read: LocSet) -> Self {
        Access { read, ..Access::default() }
    }
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
    pub(super) fn choose<S: Learnable, M: Model>(
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

    fn choose_persistent<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>, chosen: &mut Vec<Possible>) {
        self.look_ahead(state);
        if let Some(alone) = self.alone(state) {
            chosen.extend_from_slice(alone);
        } else if self.grow_smallest(state) {
            let steps = state.possible.iter().zip(&self.accesses);
            chosen.extend(steps.filter(|(step, access)| self.best.has(**step, **access)).map(|(step, _)| *step));
        } else {
            chosen.extend_from_slice(state.possible);
        }
    }

    fn look_ahead<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>) {
        let State { automata, row, possible } = *state;
        let live = automata.live(row);
        self.futures.clear();
        self.futures.extend((0..automata.n_threads).map(|index| automata.local(row, index).future.within(live)));
        self.accesses.clear();
        for &step in possible {
            let read =
                if step.is_commit { LocSet::default() } else { automata.local(row, step.thread as usize).reads_now };
            let written = automata.write_of(step).map_or(LocSet::default(), |(loc, value)| {
                let set = LocSet::of(loc).intersection(live);
                let changes = automata.memory_at(row, loc) != value;
                let is_shared = || self.others(step.thread).any(|future| future.writes().meets(set));
                if changes || is_shared() { set } else { LocSet::default() }
            });
            let loc = automata.write_of(step).filter(|_| step.is_commit).map(|(loc, _)| LocSet::of(loc));
            self.accesses.push(Access { read, written, commit: loc.unwrap_or_default() });
        }
    }

    fn others(&self, thread: u32) -> impl Iterator<Item = &Footprint> {
        self.futures.iter().enumerate().filter(move |(index, _)| *index != thread as usize).map(|(_, future)| future)
    }

    /// A step, or all ways of an operation, that commutes with everything that others may still do.
    fn alone<'s, S: Learnable, M: Model>(&self, state: &State<'s, S, M>) -> Option<&'s [Possible]> {
        let possible = state.possible;
        let mut first = 0;
        while first < possible.len() {
            let count = group(&possible[first..]);
            let thread = possible[first].thread;
            let accesses = &self.accesses[first..first + count];
            let is_free = |future: &Footprint| accesses.iter().all(|access| !conflict(*access, future));
            if self.others(thread).all(is_free) {
                return Some(&possible[first..first + count]);
            }
            first += count;
        }
        None
    }

    /// Grows a set from each process; gives whether one of them leaves something out.
    fn grow_smallest<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>) -> bool {
        let mut fewest = state.possible.len();
        let mut first = 0;
        while first < state.possible.len() {
            if self.grow(state, first) {
                let count = self.steps_in_set(state.possible).filter(|is_in| *is_in).count();
                if count < fewest {
                    fewest = count;
                    std::mem::swap(&mut self.set, &mut self.best);
                }
            }
            if fewest == 1 {
                break;
            }
            first += group(&state.possible[first..]);
        }
        fewest < state.possible.len()
    }

    /// For each possible step whether it is in the set.
    fn steps_in_set(&self, possible: &[Possible]) -> impl Iterator<Item = bool> {
        possible.iter().zip(&self.accesses).map(|(step, access)| self.set.has(*step, *access))
    }

    /// The least set around a step such that nothing outside depends on what is possible inside; not if it is all.
    fn grow<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>, seed: usize) -> bool {
        let n_threads = self.futures.len();
        self.set.clear(n_threads);
        self.set.add(state.possible[seed], self.accesses[seed]);
        self.done.clear(n_threads);
        let mut grows = true;
        while grows {
            grows = false;
            for index in 0..n_threads {
                let is_thread = self.set.threads & !self.done.threads & 1 << index != 0;
                if is_thread {
                    self.done.threads |= 1 << index;
                    if !self.add_around_thread(state, index) {
                        return false;
                    }
                }
                let is_buffer = self.set.buffers[index] != self.done.buffers[index];
                if is_buffer {
                    self.done.buffers[index] = self.set.buffers[index];
                    self.add_around_buffer(state, index);
                }
                grows |= is_thread || is_buffer;
            }
            if grows && self.steps_in_set(state.possible).all(|is_in| is_in) {
                return false;
            }
        }
        true
    }

    /// Adds whatever the operation of a thread in the set depends on, or what may make it possible.
    fn add_around_thread<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>, index: usize) -> bool {
        let local = state.automata.local(state.row, index);
        match local.standing {
            Standing::Ready => {}
            // Who starts it is not known here.
            Standing::NotStarted => return false,
            Standing::Ended | Standing::Over | Standing::Endless(_) => return true,
        }
        let mut is_possible = false;
        for (position, step) in state.possible.iter().enumerate() {
            if !step.is_commit && step.thread as usize == index {
                is_possible = true;
                self.add_conflicts(self.accesses[position], index);
            }
        }
        if is_possible {
            return true;
        }
        self.set.buffers[index] = self.set.buffers[index].union(local.future.pending);
        match local.look {
            Look::HasEnded(child) => {
                self.set.threads |= 1 << child.index();
                let pending = state.automata.local(state.row, child.index()).future.pending;
                self.set.buffers[child.index()] = self.set.buffers[child.index()].union(pending);
            }
            Look::Lock(loc) => match self.holder(index, LocSet::of(loc), state.automata.value_at(state.row, loc)) {
                Some(holder) => self.set.threads |= 1 << holder,
                None => self.add_conflicts(Access::read(local.reads_now), index),
            },
            _ => self.add_conflicts(Access::read(local.reads_now), index),
        }
        true
    }

    /// The holder of the lock that thread `index` waits for, if nobody else can free it.
    fn holder(&self, index: usize, lock: LocSet, value: Value) -> Option<usize> {
        let by_locking = |future: &Footprint| !future.pending.union(future.beside_locks).meets(lock);
        let holder = usize::try_from(value).ok()?.checked_sub(1)?;
        (holder < self.futures.len() && self.others(index as u32).all(by_locking)).then_some(holder)
    }

    /// Adds whatever the stores of a buffer in the set depend on.
    fn add_around_buffer<S: Learnable, M: Model>(&mut self, state: &State<'_, S, M>, index: usize) {
        let local = state.automata.local(state.row, index);
        let is_own = |step: &Possible| step.is_commit && step.thread as usize == index;
        for (position, step) in state.possible.iter().enumerate() {
            if is_own(step) && self.set.has(*step, self.accesses[position]) {
                self.add_conflicts(self.accesses[position], index);
            }
        }
        // What cannot leave yet waits for others of its buffer.
        let leaves = |loc| {
            let commits = state.possible.iter().filter(|step| is_own(step));
            commits.filter_map(|step| state.automata.write_of(*step)).any(|(leaving, _)| leaving == loc)
        };
        let wanted = self.set.buffers[index];
        let mut pending = local.buffer.pending().iter().filter(|store| wanted.has(store.loc));
        if pending.any(|store| !leaves(store.loc)) {
            self.set.buffers[index] = local.future.pending;
        }
    }

    /// Adds every process of another thread that may depend on `access`.
    fn add_conflicts(&mut self, access: Access, thread: usize) {
        let touched = access.read.union(access.written);
        for (index, future) in self.futures.iter().enumerate().filter(|(index, _)| *index != thread) {
            if access.written.meets(future.reads) || touched.meets(future.writes_at_once.union(future.stores)) {
                self.set.threads |= 1 << index;
            }
            let pending = touched.intersection(future.pending);
            self.set.buffers[index] = self.set.buffers[index].union(pending);
        }
    }
}

impl Processes {
    fn clear(&mut self, n_threads: usize) {
        self.threads = 0;
        self.buffers.resize(n_threads, LocSet::default());
        self.buffers.fill(LocSet::default());
    }

    fn add(&mut self, step: Possible, access: Access) {
        let index = step.thread as usize;
        if step.is_commit {
            self.buffers[index] = self.buffers[index].union(access.commit);
        } else {
            self.threads |= 1 << index;
        }
    }

    #[inline]
    fn has(&self, step: Possible, access: Access) -> bool {
        let index = step.thread as usize;
        if step.is_commit { self.buffers[index].meets(access.commit) } else { self.threads & 1 << index != 0 }
    }
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
    access.written.meets(future.reads) || access.read.union(access.written).meets(future.writes())
}
