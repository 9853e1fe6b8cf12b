//! Each thread with its buffer as an automaton, learnt step by step from the real system.
//!
//! A state is a row of numbers: the local state of each thread, the thread that asks for no switch, and the value of
//! each location. What a step does to its thread follows from the local state and from what it finds in the rest; the
//! first time, the system is put into the state and performs it, after that it is known.

mod learning;

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};
use teetotal_engine::System;
use teetotal_memory::{Model, Step};
use teetotal_program::{ExplicitState, Loc, LocSet, ThreadId};

use super::history::Histories;
use super::intern::{Interned, Values};
use super::local::{Local, Locals, Look, Noted, Outcome, Standing, place};

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Where its thread is then.
    pub(super) next: u32,
    pub(super) alternative: u32,
    /// What it writes to memory at once: the location and the number of the value.
    pub(super) write: Option<(Loc, u32)>,
    /// How many operations of the same thread follow at once.
    follow: u32,
    /// The thread that it starts, where that is then, and how many operations it performs at once.
    started: Option<(ThreadId, Settled)>,
    /// Whether a thread goes back in a loop.
    goes_back: bool,
}

/// Where a thread has come to.
#[derive(Clone, Copy, Debug)]
struct Settled {
    local: u32,
    /// How many operations that nobody can tell the time of it has performed.
    follow: u32,
    /// Whether it went back in a loop by one of them.
    goes_back: bool,
}

/// A store that may leave its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) loc: Loc,
    pub(super) value: u32,
    /// Where its thread is then, once that is known, and how many operations of it follow at once.
    next: u32,
    follow: u32,
    goes_back: bool,
}

/// A step that is possible in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Possible {
    pub(super) thread: u32,
    pub(super) is_commit: bool,
    /// Which [`Edge`] or [`Leaving`].
    index: u32,
}

/// A step that was taken, with the operations that follow it because nobody can tell when they happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    step: Step,
    /// How many operations of the same thread follow.
    follow: u32,
    /// A thread that was started, and how many operations it performs at once.
    started: Option<(ThreadId, u32)>,
    /// Whether a thread went back in a loop.
    pub(super) goes_back: bool,
}

impl Taken {
    /// How many steps it stands for.
    pub(super) fn len(&self) -> u64 {
        1 + u64::from(self.follow) + self.started.map_or(0, |(_, count)| count.into())
    }

    /// Appends these steps.
    pub(super) fn push_to(&self, steps: &mut Vec<Step>) {
        steps.push(self.step);
        push_issues(self.step.thread(), self.follow, steps);
        if let Some((thread, count)) = self.started {
            push_issues(thread, count, steps);
        }
    }
}

fn push_issues(thread: ThreadId, count: u32, steps: &mut Vec<Step>) {
    steps.extend((0..count).map(|_| Step::Issue { thread, alternative: 0 }));
}

/// What a thread does next was not learnt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unlearnt {
    thread: usize,
}

const UNKNOWN: u32 = u32::MAX;

/// So many operations follow a step at once at most.
const FOLLOW: u32 = 64;

/// So many things that an operation may find are kept in a row, the others in a table.
const FEW_OUTCOMES: u32 = 8;

/// What tells local states of a thread apart, beside the pending stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    /// All that it has read: the classes of programs that end.
    Histories,
    /// Where it is and what its registers hold, however often it has gone round: for programs that do not end.
    Places,
}

/// The automata of all threads, and the system that they are learnt from.
pub(super) struct Automata<S, M> {
    system: System<S, M>,
    pub(super) n_threads: usize,
    n_locations: usize,
    /// Whether operations that nobody can tell the time of follow at once.
    pub(super) reduces: bool,
    pub(super) memory_of: Memory,
    /// No buffer holds more stores than this.
    buffer_limit: usize,
    /// The locations that an outcome or a condition shows.
    seen_at_end: Vec<bool>,
    seen_set: LocSet,
    histories: Histories,
    locals: Vec<Locals>,
    outcomes: Vec<Outcome>,
    /// By thread, local state and what is found.
    more_outcomes: FxHashMap<(u32, u32, u32), (u32, u32)>,
    edges: Vec<Edge>,
    leavings: Vec<Leaving>,
    values: Values,
    lists: Vec<Vec<Loc>>,
    tuples: Interned<Vec<u32>>,
    /// The local state in which each thread of the system is, if it is known.
    loaded: Vec<u32>,
    noted: Noted,
    steps: Vec<Step>,
}

impl<S: ExplicitState, M: Model> Automata<S, M> {
    /// At the beginning of `system`; an outcome or a condition shows the locations `seen`.
    pub(super) fn new(mut system: System<S, M>, seen: &[Loc], memory_of: Memory, buffer_limit: Option<u64>) -> Self {
        let buffer_limit = buffer_limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        system.limit_buffers(buffer_limit);
        let subject = system.subject();
        let (n_threads, n_locations) = (subject.n_threads(), subject.n_locations());
        let is_local = |index| !subject.future(ThreadId::at(index)).is_global;
        let reduces = n_threads <= 64 && (0..n_threads).all(is_local);
        let width = subject.thread_words();
        let mut seen_at_end = vec![false; n_locations];
        seen.iter().for_each(|loc| seen_at_end[loc.index()] = true);
        let seen_set = seen.iter().fold(LocSet::default(), |set, &loc| set.union(LocSet::of(loc)));
        Automata {
            system,
            n_threads,
            n_locations,
            reduces,
            memory_of,
            buffer_limit,
            seen_at_end,
            seen_set,
            histories: Histories::new(width),
            locals: (0..n_threads).map(|_| Locals::new()).collect(),
            outcomes: Vec::with_capacity(64),
            more_outcomes: FxHashMap::default(),
            edges: Vec::with_capacity(64),
            leavings: Vec::new(),
            values: Values::new(),
            lists: Vec::new(),
            tuples: Interned::default(),
            loaded: vec![UNKNOWN; n_threads],
            noted: Noted::default(),
            steps: Vec::new(),
        }
    }

    pub(super) fn row_length(&self) -> usize {
        self.n_threads + 1 + self.n_locations
    }

    /// How much memory all that was learnt takes.
    pub(super) fn memory(&self) -> usize {
        let locals: usize = self.locals.iter().map(Locals::memory).sum();
        let edges = self.edges.capacity() * size_of::<Edge>() + self.leavings.capacity() * size_of::<Leaving>();
        let outcomes = self.outcomes.capacity() * size_of::<Outcome>() + self.more_outcomes.capacity() * 21;
        locals + self.histories.memory() + edges + outcomes
    }

    /// Whether a store was held back by the limit on buffers.
    pub(super) fn limit_reached(&self) -> bool {
        self.system.machine().limit_reached()
    }

    /// How many stores the buffer of a thread holds.
    pub(super) fn n_pending(&self, row: &[u32], thread: u32) -> usize {
        self.local(row, thread as usize).buffer.pending().len()
    }

    /// The system, as it was put last.
    pub(super) fn system(&self) -> &System<S, M> {
        &self.system
    }

    /// A number for what the state is however its threads came there; equal states have equal ones, and others hardly.
    pub(super) fn place(&self, row: &[u32]) -> u64 {
        let mut hasher = FxHasher::default();
        for index in 0..self.n_threads {
            let local = self.local(row, index);
            hasher.write_u64(place(self.histories.words(local.history), &local.buffer));
        }
        row[self.n_threads..].iter().for_each(|&word| hasher.write_u32(word));
        hasher.finish()
    }

    /// The state at the beginning, and the operations that the threads perform before anything else.
    pub(super) fn start(&mut self) -> (Vec<u32>, Vec<Step>) {
        let (mut row, mut before) = (Vec::with_capacity(self.row_length()), Vec::new());
        for index in 0..self.n_threads {
            let thread = ThreadId::at(index);
            let root = self.histories.root();
            let Settled { local, follow, .. } = self.settle(thread, root);
            row.push(local);
            push_issues(thread, follow, &mut before);
        }
        row.push(0);
        for index in 0..self.n_locations {
            let value = self.system.machine().memory(Loc::at(index));
            row.push(self.values.number(value));
        }
        self.forget_all_dead(&mut row);
        (row, before)
    }

    #[inline]
    pub(super) fn local(&self, row: &[u32], thread: usize) -> &Local {
        self.locals[thread].get(row[thread])
    }

    /// What a location holds, as a number.
    #[inline]
    pub(super) fn memory_at(&self, row: &[u32], loc: Loc) -> u32 {
        row[self.n_threads + 1 + loc.index()]
    }

    /// What a location holds.
    pub(super) fn value_at(&self, row: &[u32], loc: Loc) -> u64 {
        self.values.value(self.memory_at(row, loc))
    }

    /// What a step writes to memory, if it does.
    #[inline]
    pub(super) fn write_of(&self, step: Possible) -> Option<(Loc, u32)> {
        if step.is_commit {
            let leaving = &self.leavings[step.index as usize];
            return Some((leaving.loc, leaving.value));
        }
        self.edges[step.index as usize].write
    }

    /// Every location that somebody may still look at.
    #[inline]
    pub(super) fn live(&self, row: &[u32]) -> LocSet {
        (0..self.n_threads).fold(self.seen_set, |set, index| set.union(self.local(row, index).future.reads))
    }

    /// Puts every possible step of a state into `possible`, which is empty before: operations by thread, then commits.
    #[inline]
    pub(super) fn possible(&mut self, row: &[u32], possible: &mut Vec<Possible>) {
        while let Err(Unlearnt { thread }) = self.possible_if_known(row, possible) {
            self.learn(row, thread);
        }
    }

    /// The same, if all that the threads do there was learnt.
    #[inline]
    pub(super) fn possible_if_known(&self, row: &[u32], possible: &mut Vec<Possible>) -> Result<(), Unlearnt> {
        possible.clear();
        let exclusive = row[self.n_threads];
        for index in 0..self.n_threads {
            if exclusive == 0 || exclusive as usize == index + 1 {
                let (first, end) = self.outcome(row, index)?;
                let thread = index as u32;
                // Mostly none or one, for which a loop takes half the time of `extend`.
                for index in first..end {
                    possible.push(Possible { thread, is_commit: false, index });
                }
            }
        }
        if M::BUFFERS {
            for thread in 0..self.n_threads as u32 {
                for index in self.local(row, thread as usize).commits.clone() {
                    possible.push(Possible { thread, is_commit: true, index });
                }
            }
        }
        Ok(())
    }

    /// Whether a step lets a store leave for a location that is not `live`: nobody can tell when.
    #[inline]
    pub(super) fn is_unseen_commit(&self, step: Possible, live: LocSet) -> bool {
        step.is_commit && !live.has(self.leavings[step.index as usize].loc)
    }

    /// What the operation of a thread leads to in a state, if it was learnt: a stretch of the edges.
    #[inline]
    fn outcome(&self, row: &[u32], index: usize) -> Result<(u32, u32), Unlearnt> {
        let local = self.local(row, index);
        if local.standing != Standing::Ready {
            return Ok((0, 0));
        }
        let unlearnt = Unlearnt { thread: index };
        let key = match local.look {
            Look::Nothing => 0,
            Look::Memory(loc) | Look::Lock(loc) => self.memory_at(row, loc),
            Look::Several(list) => self.tuples.find(&self.found_at(row, list)).ok_or(unlearnt)?,
            other => self.key(row, other),
        };
        let mut at = local.outcome;
        while at != UNKNOWN {
            let outcome = &self.outcomes[at as usize];
            if outcome.key == key {
                return Ok((outcome.first, outcome.end));
            }
            at = outcome.other;
        }
        if local.n_outcomes <= FEW_OUTCOMES {
            return Err(unlearnt);
        }
        self.more_outcomes.get(&(index as u32, row[index], key)).copied().ok_or(unlearnt)
    }

    /// What an operation finds in the locations of a list.
    fn found_at(&self, row: &[u32], list: u32) -> Vec<u32> {
        self.lists[list as usize].iter().map(|&loc| self.memory_at(row, loc)).collect()
    }

    /// What the operation finds of other threads, as a number.
    fn key(&self, row: &[u32], look: Look) -> u32 {
        match look {
            Look::Nothing | Look::Several(_) => 0,
            Look::Memory(loc) | Look::Lock(loc) => self.memory_at(row, loc),
            Look::IsFresh(thread) => u32::from(self.local(row, thread.index()).standing == Standing::NotStarted),
            Look::HasEnded(thread) => u32::from(self.local(row, thread.index()).standing == Standing::Ended),
            Look::AllDrained => u32::from((0..self.n_threads).all(|index| self.local(row, index).buffer.is_empty())),
        }
    }

    /// Takes a step from `row` to `next`.
    #[inline]
    pub(super) fn take(&mut self, row: &[u32], step: Possible, next: &mut Vec<u32>) -> Taken {
        loop {
            match self.take_if_known(row, step, next) {
                Ok(taken) => return taken,
                Err(_) if self.is_unlearnt_commit(step) => self.learn_commit(row, step),
                // What a thread does that asks for no switch has to be known in the next state.
                Err(Unlearnt { thread }) => self.learn(&next.clone(), thread),
            }
        }
    }

    /// The same, if what it does was learnt.
    #[inline]
    pub(super) fn take_if_known(&self, row: &[u32], step: Possible, next: &mut Vec<u32>) -> Result<Taken, Unlearnt> {
        let index = step.thread as usize;
        let thread = ThreadId::at(index);
        next.clear();
        next.extend_from_slice(row);
        let mut written = None;
        let taken = if step.is_commit {
            let Leaving { loc, value, next: to, follow, goes_back } = self.leavings[step.index as usize];
            if to == UNKNOWN {
                return Err(Unlearnt { thread: index });
            }
            next[index] = to;
            next[self.n_threads + 1 + loc.index()] = value;
            written = Some(loc);
            Taken { step: Step::Commit { thread, loc }, follow, started: None, goes_back }
        } else {
            let Edge { next: to, alternative, write, follow, started, goes_back } = self.edges[step.index as usize];
            next[index] = to;
            if let Some((loc, value)) = write {
                next[self.n_threads + 1 + loc.index()] = value;
                written = Some(loc);
            }
            if let Some((child, settled)) = started {
                next[child.index()] = settled.local;
            }
            next[self.n_threads] = if self.locals[index].get(to).is_exclusive { index as u32 + 1 } else { 0 };
            let started = started.map(|(child, settled)| (child, settled.follow));
            Taken { step: Step::Issue { thread, alternative }, follow, started, goes_back }
        };
        self.let_others_go_on(next)?;
        self.forget_dead(row, next, written);
        Ok(taken)
    }

    /// Lets a store leave its buffer in the system, and keeps where its thread is then.
    #[cold]
    fn learn_commit(&mut self, row: &[u32], step: Possible) {
        let thread = ThreadId::at(step.thread as usize);
        let Leaving { loc, .. } = self.leavings[step.index as usize];
        let history = self.local(row, thread.index()).history;
        self.load(row);
        self.system.perform(Step::Commit { thread, loc }, &mut self.noted);
        let Settled { local, follow, goes_back } = self.settle(thread, history);
        let leaving = &mut self.leavings[step.index as usize];
        *leaving = Leaving { next: local, follow, goes_back, ..*leaving };
    }

    /// Finds out what a commit from `row` does, if that is not known.
    pub(super) fn learn_if_commit(&mut self, row: &[u32], step: Possible) {
        if self.is_unlearnt_commit(step) {
            self.learn_commit(row, step);
        }
    }

    fn is_unlearnt_commit(&self, step: Possible) -> bool {
        step.is_commit && self.leavings[step.index as usize].next == UNKNOWN
    }

    /// Whether a thread goes back in a loop by a step, which was learnt.
    pub(super) fn goes_back(&self, step: Possible) -> bool {
        let index = step.index as usize;
        if step.is_commit { self.leavings[index].goes_back } else { self.edges[index].goes_back }
    }

    /// Ends a stretch without a switch where its thread cannot go on.
    fn let_others_go_on(&self, row: &mut [u32]) -> Result<(), Unlearnt> {
        let exclusive = row[self.n_threads] as usize;
        if exclusive != 0 {
            let (first, end) = self.outcome(row, exclusive - 1)?;
            let local = self.local(row, exclusive - 1);
            // One that only finds its buffer full goes on when it is not.
            let can_go_on = local.standing != Standing::Ready || first < end || self.is_full(&local.buffer);
            if !can_go_on {
                row[self.n_threads] = 0;
            }
        }
        Ok(())
    }

    /// Forgets what nobody can look at any more in `next`, which came from `row` by a step that wrote a location.
    fn forget_dead(&self, row: &[u32], next: &mut [u32], written: Option<Loc>) {
        let may_read = |row: &[u32], index: usize| self.local(row, index).future.reads;
        let is_same = |index| row[index] == next[index] || may_read(row, index) == may_read(next, index);
        if !(0..self.n_threads).all(is_same) {
            return self.forget_all_dead(next);
        }
        // What was dead still is, and was forgotten.
        if let Some(loc) = written
            && !self.live(next).has(loc)
        {
            next[self.n_threads + 1 + loc.index()] = 0;
        }
    }

    fn forget_all_dead(&self, row: &mut [u32]) {
        let live = self.live(row);
        if live == LocSet::ALL {
            return;
        }
        for index in 0..self.n_locations {
            if !live.has(Loc::at(index)) {
                row[self.n_threads + 1 + index] = 0;
            }
        }
    }

    /// What is left of a state in which nothing is possible: its class.
    pub(super) fn class_of(&self, row: &[u32], class: &mut Vec<u32>) {
        class.clear();
        class.extend_from_slice(row);
        for index in 0..self.n_locations {
            let loc = Loc::at(index);
            if !self.seen_at_end[index] && !(0..self.n_threads).any(|thread| self.looks_at(row, thread, loc)) {
                class[self.n_threads + 1 + index] = 0;
            }
        }
    }

    /// Whether a thread waits for something that `loc` may decide.
    fn looks_at(&self, row: &[u32], thread: usize, loc: Loc) -> bool {
        let local = self.local(row, thread);
        let waits = local.standing == Standing::Ready;
        waits
            && match local.look {
                Look::Memory(own) | Look::Lock(own) => own == loc,
                Look::Several(list) => self.lists[list as usize].contains(&loc),
                _ => false,
            }
    }

    /// The threads that have failed in a state.
    pub(super) fn failed(&self, row: &[u32]) -> impl Iterator<Item = (usize, u32)> {
        let locals = (0..self.n_threads).map(|index| (index, row[index]));
        locals.filter(|&(index, local)| self.locals[index].get(local).has_failed)
    }

    /// Puts the system into a state, and gives it.
    pub(super) fn load(&mut self, row: &[u32]) -> &System<S, M> {
        for (index, (loaded, &wanted)) in self.loaded.iter_mut().zip(row).enumerate() {
            if *loaded != wanted {
                let local = self.locals[index].get(wanted);
                let words = self.histories.words(local.history);
                self.system.put_thread(ThreadId::at(index), words, &local.buffer);
                *loaded = wanted;
            }
        }
        for index in 0..self.n_locations {
            let value = self.values.value(row[self.n_threads + 1 + index]);
            self.system.put_memory(Loc::at(index), value);
        }
        &self.system
    }
}
