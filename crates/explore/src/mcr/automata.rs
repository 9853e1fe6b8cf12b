//! Each thread with its buffer as an automaton, learnt step by step from the real system.
//!
//! A state is a row of numbers: the local state of each thread, the thread that asks for no switch, and the value of
//! each location. What a step does to its thread follows from the local state and from what it finds in the rest; the
//! first time, the system is put into the state and performs it, after that it is known.

use teetotal_memory::{Model, Step};
use teetotal_program::{Foresight, Loc, LocSet, Op, Rewind, Status, Subject, ThreadId};

use super::history::{Histories, HistoryId};
use super::intern::{Interned, Values};
use super::local::{Footprint, Local, Locals, Look, Noted, Outcome, Standing, look, standing};
use crate::system::System;

/// What the search asks of a subject.
pub trait Learnable: Subject + Rewind + Foresight {}

impl<S: Subject + Rewind + Foresight> Learnable for S {}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Where its thread is then.
    pub(super) next: u32,
    pub(super) alternative: u32,
    /// What it writes to memory at once: the location and the number of the value.
    pub(super) write: Option<(Loc, u32)>,
    /// The thread that it starts, and where that is then.
    started: Option<(ThreadId, u32)>,
}

/// A store that may leave its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) loc: Loc,
    pub(super) value: u32,
    /// Where its thread is then, once that is known.
    next: u32,
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

const UNKNOWN: u32 = u32::MAX;

/// So many operations follow a step at once at most.
const FOLLOW: u32 = 64;

/// The automata of all threads, and the system that they are learnt from.
pub(super) struct Automata<S, M> {
    system: System<S, M>,
    pub(super) n_threads: usize,
    n_locations: usize,
    /// Whether operations that nobody can tell the time of follow at once.
    pub(super) reduces: bool,
    /// The locations that an outcome or a condition shows.
    seen_at_end: Vec<bool>,
    seen_set: LocSet,
    histories: Histories,
    locals: Vec<Locals>,
    outcomes: Vec<Outcome>,
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

impl<S: Learnable, M: Model> Automata<S, M> {
    /// At the beginning of `system`; an outcome or a condition shows the locations `seen`.
    pub(super) fn new(system: System<S, M>, seen: &[Loc]) -> Self {
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
            seen_at_end,
            seen_set,
            histories: Histories::new(width),
            locals: (0..n_threads).map(|_| Locals::new()).collect(),
            outcomes: Vec::with_capacity(64),
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
        locals + self.histories.memory() + self.edges.capacity() * size_of::<Edge>()
    }

    /// The state at the beginning, and the operations that the threads perform before anything else.
    pub(super) fn start(&mut self) -> (Vec<u32>, Vec<Step>) {
        let (mut row, mut before) = (Vec::with_capacity(self.row_length()), Vec::new());
        for index in 0..self.n_threads {
            let thread = ThreadId::at(index);
            let root = self.histories.root();
            let local = self.settle(thread, root);
            row.push(local);
            push_issues(thread, self.issues(index, local), &mut before);
        }
        row.push(0);
        for index in 0..self.n_locations {
            let value = self.system.machine().memory(Loc::at(index));
            row.push(self.values.number(value));
        }
        self.forget_dead(&mut row);
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
    pub(super) fn possible(&mut self, row: &[u32], possible: &mut Vec<Possible>) {
        let exclusive = row[self.n_threads];
        for index in 0..self.n_threads {
            if exclusive == 0 || exclusive as usize == index + 1 {
                let (first, end) = self.outcome(row, index);
                let thread = index as u32;
                possible.extend((first..end).map(|index| Possible { thread, is_commit: false, index }));
            }
        }
        if M::BUFFERS {
            for thread in 0..self.n_threads as u32 {
                let commits = self.local(row, thread as usize).commits.clone();
                possible.extend(commits.map(|index| Possible { thread, is_commit: true, index }));
            }
        }
    }

    /// What the operation of a thread leads to in a state: a stretch of the edges.
    #[inline]
    fn outcome(&mut self, row: &[u32], index: usize) -> (u32, u32) {
        let local = self.local(row, index);
        if local.standing != Standing::Ready {
            return (0, 0);
        }
        let key = match local.look {
            Look::Nothing => 0,
            Look::Memory(loc) | Look::Lock(loc) => self.memory_at(row, loc),
            other => self.key(row, other),
        };
        let mut at = self.local(row, index).outcome;
        while at != UNKNOWN {
            let outcome = &self.outcomes[at as usize];
            if outcome.key == key {
                return (outcome.first, outcome.end);
            }
            at = outcome.other;
        }
        self.learn(row, index, key)
    }

    /// What the operation finds, as a number, where that is not just one location.
    fn key(&mut self, row: &[u32], look: Look) -> u32 {
        match look {
            Look::Nothing => 0,
            Look::Memory(loc) | Look::Lock(loc) => self.memory_at(row, loc),
            Look::Several(list) => {
                let found = self.lists[list as usize].iter().map(|&loc| self.memory_at(row, loc)).collect();
                self.tuples.number(found)
            }
            Look::IsFresh(thread) => u32::from(self.local(row, thread.index()).standing == Standing::NotStarted),
            Look::HasEnded(thread) => u32::from(self.local(row, thread.index()).standing == Standing::Ended),
            Look::AllDrained => u32::from((0..self.n_threads).all(|index| self.local(row, index).buffer.is_empty())),
        }
    }

    /// Performs the operation of a thread in the system, in every way that is possible, and keeps what it does.
    #[cold]
    fn learn(&mut self, row: &[u32], index: usize, key: u32) -> (u32, u32) {
        let thread = ThreadId::at(index);
        let history = self.local(row, index).history;
        self.load(row);
        let mut steps = std::mem::take(&mut self.steps);
        self.system.issues_of(thread, &mut steps);
        let first = self.edges.len() as u32;
        for (position, &step) in steps.iter().enumerate() {
            if position > 0 {
                self.load(row);
            }
            let edge = self.perform(row, step, history);
            self.edges.push(edge);
        }
        self.steps = steps;
        let end = self.edges.len() as u32;
        let newest = self.outcomes.len() as u32;
        let local = self.locals[index].get_mut(row[index]);
        self.outcomes.push(Outcome { key, first, end, other: local.outcome });
        local.outcome = newest;
        (first, end)
    }

    /// Performs one operation in the system, which is in the state `row`.
    fn perform(&mut self, row: &[u32], step: Step, history: HistoryId) -> Edge {
        let Step::Issue { thread, alternative } = step else { unreachable!("only operations are learnt this way") };
        let child = match self.local(row, thread.index()).look {
            Look::IsFresh(child) if self.local(row, child.index()).standing == Standing::NotStarted => Some(child),
            _ => None,
        };
        self.noted.clear();
        self.system.perform(step, &mut self.noted);
        let write = self.noted.write.map(|(loc, value)| (loc, self.values.number(value)));
        let next = self.histories.extend(history, &self.noted.reads);
        let next = self.settle(thread, next);
        let started = child.map(|child| {
            let root = self.local(row, child.index()).history;
            let begun = self.histories.extend(root, &[]);
            (child, self.settle(child, begun))
        });
        Edge { next, alternative, write, started }
    }

    /// Lets `thread` of the system, which has just come here, perform what nobody can tell the time of; gives where it
    /// is then.
    fn settle(&mut self, thread: ThreadId, mut history: HistoryId) -> u32 {
        self.loaded[thread.index()] = UNKNOWN;
        // A thread may store without end; what follows is then a step of its own.
        for _ in 0..FOLLOW {
            if !self.reduces || !self.is_silent(thread) {
                break;
            }
            let op = Step::Issue { thread, alternative: 0 };
            self.noted.clear();
            self.system.perform(op, &mut self.noted);
            history = self.histories.extend(history, &[]);
        }
        let local = self.intern(thread, history);
        self.loaded[thread.index()] = local;
        local
    }

    /// Whether the operation of `thread` of the system is possible and concerns nobody else: a store that joins its
    /// buffer, or a fence.
    fn is_silent(&self, thread: ThreadId) -> bool {
        let Status::Ready(op) = self.system.subject().status(thread) else { return false };
        let buffer = self.system.machine().buffer(thread);
        match op {
            Op::Store { .. } => M::BUFFERS && !buffer.is_draining(),
            Op::Fence { order } => {
                buffer.is_empty() || !buffer.is_draining() && order != teetotal_program::Order::SeqCst
            }
            _ => false,
        }
    }

    /// The local state in which `thread` of the system is.
    fn intern(&mut self, thread: ThreadId, history: HistoryId) -> u32 {
        let buffer = self.system.machine().buffer(thread);
        if let Some(known) = self.locals[thread.index()].find(history, buffer) {
            return known;
        }
        let subject = self.system.subject();
        self.histories.keep(history, |words| subject.save_thread(thread, words));
        let first = self.leavings.len() as u32;
        if M::BUFFERS {
            for (position, store) in buffer.pending().iter().enumerate() {
                if M::may_leave(buffer, position) {
                    let value = self.values.number(store.value);
                    self.leavings.push(Leaving { loc: store.loc, value, next: UNKNOWN });
                }
            }
        }
        let status = subject.status(thread);
        let lists = &mut self.lists;
        let several = |locations: Vec<Loc>| {
            lists.push(locations);
            lists.len() as u32 - 1
        };
        let (look, reads_now) = match status {
            Status::Ready(op) => look(subject, thread, op, buffer, several),
            _ => (Look::Nothing, LocSet::default()),
        };
        let local = Local {
            history,
            buffer: buffer.clone(),
            standing: standing(status, buffer.is_empty()),
            look,
            reads_now,
            future: Footprint::new::<M>(subject.future(thread), buffer),
            is_exclusive: subject.asks_for_no_switch(thread),
            outcome: UNKNOWN,
            commits: first..self.leavings.len() as u32,
        };
        self.locals[thread.index()].add(local)
    }

    /// Takes a step from `row` to `next`.
    pub(super) fn take(&mut self, row: &[u32], step: Possible, next: &mut Vec<u32>) -> Taken {
        let index = step.thread as usize;
        let thread = ThreadId::at(index);
        next.clear();
        next.extend_from_slice(row);
        let (step, started) = if step.is_commit {
            let leaving = self.leavings[step.index as usize];
            next[index] = if leaving.next == UNKNOWN { self.learn_commit(row, step) } else { leaving.next };
            next[self.n_threads + 1 + leaving.loc.index()] = leaving.value;
            (Step::Commit { thread, loc: leaving.loc }, None)
        } else {
            let Edge { next: to, alternative, write, started } = self.edges[step.index as usize];
            next[index] = to;
            if let Some((loc, value)) = write {
                next[self.n_threads + 1 + loc.index()] = value;
            }
            if let Some((child, local)) = started {
                next[child.index()] = local;
            }
            next[self.n_threads] = if self.locals[index].get(to).is_exclusive { index as u32 + 1 } else { 0 };
            (Step::Issue { thread, alternative }, started)
        };
        self.let_others_go_on(next);
        self.forget_dead(next);
        let performed = self.issues(index, next[index]) - self.issues(index, row[index]);
        let follow = performed - u32::from(!step.is_commit());
        let started = started.map(|(child, local)| (child, self.issues(child.index(), local) - 1));
        Taken { step, follow, started }
    }

    /// Lets a store leave its buffer in the system, and keeps where its thread is then.
    #[cold]
    fn learn_commit(&mut self, row: &[u32], step: Possible) -> u32 {
        let thread = ThreadId::at(step.thread as usize);
        let Leaving { loc, .. } = self.leavings[step.index as usize];
        let history = self.local(row, thread.index()).history;
        self.load(row);
        self.system.perform(Step::Commit { thread, loc }, &mut self.noted);
        let next = self.settle(thread, history);
        self.leavings[step.index as usize].next = next;
        next
    }

    /// Ends a stretch without a switch where its thread cannot go on.
    fn let_others_go_on(&mut self, row: &mut [u32]) {
        let exclusive = row[self.n_threads] as usize;
        if exclusive != 0 {
            let (first, end) = self.outcome(row, exclusive - 1);
            let can_go_on = self.local(row, exclusive - 1).standing != Standing::Ready || first < end;
            if !can_go_on {
                row[self.n_threads] = 0;
            }
        }
    }

    /// Forgets what nobody can look at any more.
    fn forget_dead(&self, row: &mut [u32]) {
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

    /// How many operations a thread has performed in a local state; starting it counts as one.
    fn issues(&self, thread: usize, local: u32) -> u32 {
        self.histories.issues(self.locals[thread].get(local).history)
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
