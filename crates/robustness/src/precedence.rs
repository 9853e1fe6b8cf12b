//! What each step that is not over yet comes before, in happens-before between steps.
//!
//! In an execution of a model with buffers, happens-before grows where a step is new, and where a store leaves its
//! buffer: then it comes after what has accessed its location. So a cycle can only close at a step with a store in a
//! buffer, or at an atomic section that goes on. It is enough to know, of each of these, which of the places
//! from which happens-before can go on come after it: the newest step of each thread, the newest write of each location
//! and the reads since, the reads of stores that are still in their buffers, and the other steps that are not over.
//!
//! An await, a guarded step with its store, and an atomic section are one step each, as they are one moment
//! under sequential consistency.

use teetotal_memory::{Event, EventKind};
use teetotal_program::{Loc, ThreadId};

/// Something there comes after the step, and is not of it.
const AFTER: u8 = 1;
/// Something there is of the step.
const ITSELF: u8 = 2;

/// That happens-before has a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cyclic;

/// Every step that is not over, and what it comes before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Precedence {
    open: Vec<Open>,
    /// For each thread, the steps of its pending stores, oldest first.
    pending: Vec<Vec<usize>>,
    /// For each thread, its newest step if that goes on with the next operation.
    sections: Vec<Option<usize>>,
}

/// A step that is not over.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Open {
    /// The newest step of each thread.
    threads: Vec<u8>,
    /// The newest write of each location in memory, and the reads since.
    writes: Vec<u8>,
    reads: Vec<u8>,
    /// For each thread and each of its pending stores, the loads that forwarded it.
    forwards: Vec<Vec<u8>>,
    /// Which other steps that are not over come after it.
    others: Vec<bool>,
}

/// A step of a thread as it is issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued<'e> {
    pub(super) thread: ThreadId,
    pub(super) events: &'e [Event],
    /// Whether it goes on with the atomic section that its thread is in.
    pub(super) continues: bool,
    /// Whether the next operation will go on with it.
    pub(super) stays_open: bool,
    /// The thread that it starts.
    pub(super) starts: Option<ThreadId>,
}

impl Precedence {
    /// At the beginning of an execution.
    pub(super) fn new(n_threads: usize) -> Self {
        Precedence { open: Vec::new(), pending: vec![Vec::new(); n_threads], sections: vec![None; n_threads] }
    }

    /// As bytes; equal ones have equal bytes.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        for (pending, section) in self.pending.iter().zip(&self.sections) {
            out.push(pending.len() as u8);
            out.extend(pending.iter().map(|&step| step as u8));
            out.push(section.map_or(u8::MAX, |step| step as u8));
        }
        for open in &self.open {
            out.extend_from_slice(&open.threads);
            out.extend(open.writes.iter().zip(&open.reads).map(|(write, read)| write | read << 2));
            open.forwards.iter().for_each(|forwards| out.extend_from_slice(forwards));
            out.extend(open.others.iter().map(|&after| u8::from(after)));
        }
    }

    /// A step is issued; `newest` is the position of the newest pending store of the thread to a location.
    pub(super) fn issue(
        &mut self,
        issued: &Issued<'_>,
        newest: impl Fn(Loc) -> Option<usize>,
        n_locations: usize,
    ) -> Result<(), Cyclic> {
        let current = self.sections[issued.thread.index()].filter(|_| issued.continues);
        let comes_after = |open: &Open| open.sees(issued, current.is_some());
        if current.is_some_and(|step| comes_after(&self.open[step]) & AFTER != 0) {
            return Err(Cyclic);
        }
        let mut before: Vec<bool> = self.open.iter().map(|open| comes_after(open) != 0).collect();
        let stores = issued.events.iter().any(Event::is_store);
        let step = match current {
            Some(step) => {
                before[step] = false;
                self.put_before(step, &before);
                before = (0..self.open.len()).map(|other| self.open[other].others[step]).collect();
                Some(step)
            }
            None if stores || issued.stays_open => Some(self.begin(&mut before, n_locations)),
            None => None,
        };
        for (index, open) in self.open.iter_mut().enumerate() {
            let mark = match (Some(index) == step, before[index]) {
                (true, _) => ITSELF,
                (false, true) => AFTER,
                (false, false) => 0,
            };
            open.take_in(issued, mark, &newest);
        }
        if let (true, Some(step)) = (stores, step) {
            let stored = issued.events.iter().filter(|event| event.is_store()).count();
            self.pending[issued.thread.index()].extend(std::iter::repeat_n(step, stored));
        }
        self.sections[issued.thread.index()] = step.filter(|_| issued.stays_open);
        self.forget();
        Ok(())
    }

    /// The store of `thread` at `position` of its buffer reaches memory at `loc`.
    pub(super) fn commit(&mut self, thread: ThreadId, position: usize, loc: Loc) -> Result<(), Cyclic> {
        let (thread, loc) = (thread.index(), loc.index());
        let step = self.pending[thread].remove(position);
        if (self.open[step].writes[loc] | self.open[step].reads[loc]) & AFTER != 0 {
            return Err(Cyclic);
        }
        let accessed = |open: &Open| (open.writes[loc] | open.reads[loc]) != 0;
        let mut before: Vec<bool> = self.open.iter().map(accessed).collect();
        before[step] = false;
        self.put_before(step, &before);
        for (index, open) in self.open.iter_mut().enumerate() {
            open.writes[loc] = match index == step {
                true => ITSELF,
                false => u8::from(open.others[step]) * AFTER,
            };
            open.reads[loc] = open.forwards[thread].remove(position);
        }
        self.forget();
        Ok(())
    }

    /// Whether `thread` is in an atomic section that goes on with its next operation.
    pub(super) fn is_in_section(&self, thread: ThreadId) -> bool {
        self.sections[thread.index()].is_some()
    }

    /// Adds a step that comes after those in `before`, of which it is then one that is not.
    fn begin(&mut self, before: &mut Vec<bool>, n_locations: usize) -> usize {
        for (open, &is_before) in self.open.iter_mut().zip(before.iter()) {
            open.others.push(is_before);
        }
        self.open.push(Open {
            threads: vec![0; self.pending.len()],
            writes: vec![0; n_locations],
            reads: vec![0; n_locations],
            forwards: self.pending.iter().map(|pending| vec![0; pending.len()]).collect(),
            others: vec![false; self.open.len() + 1],
        });
        before.push(false);
        self.open.len() - 1
    }

    /// Lets the steps in `before`, with all that comes before them, come before `step`.
    fn put_before(&mut self, step: usize, before: &[bool]) {
        let added = self.open[step].clone();
        for (open, _) in self.open.iter_mut().zip(before).filter(|(_, is_before)| **is_before) {
            open.absorb(&added);
            open.others[step] = true;
        }
    }

    /// Drops the steps that are over, and puts the others in the order of their stores.
    fn forget(&mut self) {
        let mut kept: Vec<usize> = Vec::new();
        for &step in self.pending.iter().flatten().chain(self.sections.iter().flatten()) {
            if !kept.contains(&step) {
                kept.push(step);
            }
        }
        let place = |step: &usize| kept.iter().position(|other| other == step).unwrap_or(0);
        self.pending.iter_mut().flatten().for_each(|step| *step = place(step));
        self.sections.iter_mut().flatten().for_each(|step| *step = place(step));
        self.open = kept.iter().map(|&step| self.open[step].clone()).collect();
        for open in &mut self.open {
            open.others = kept.iter().map(|&step| open.others[step]).collect();
        }
    }
}

impl Open {
    /// Whether this step comes before the one that is issued; `AFTER` where by way of another.
    fn sees(&self, issued: &Issued<'_>, continues: bool) -> u8 {
        let mut seen = if continues { 0 } else { self.threads[issued.thread.index()] };
        for event in issued.events {
            match (event.kind, event.loc.map(Loc::index)) {
                (EventKind::Join(child), _) => seen |= self.threads[child.index()],
                (_, None) => {}
                (_, Some(_)) if event.is_store() || event.forwarded => {}
                (_, Some(loc)) if event.is_write() => seen |= self.writes[loc] | self.reads[loc],
                (_, Some(loc)) => seen |= self.writes[loc],
            }
        }
        seen
    }

    /// Takes in the step that is issued, which is marked so from here.
    fn take_in(&mut self, issued: &Issued<'_>, mark: u8, newest: &impl Fn(Loc) -> Option<usize>) {
        let thread = issued.thread.index();
        self.threads[thread] = mark;
        if let Some(child) = issued.starts {
            self.threads[child.index()] |= u8::from(mark != 0) * AFTER;
        }
        for event in issued.events {
            let Some(loc) = event.loc else { continue };
            if event.is_store() {
                self.forwards[thread].push(0);
            } else if event.is_write() {
                self.writes[loc.index()] = mark;
                self.reads[loc.index()] = 0;
            } else if event.forwarded {
                if let Some(position) = newest(loc) {
                    self.forwards[thread][position] |= mark;
                }
            } else {
                self.reads[loc.index()] |= mark;
            }
        }
    }

    /// Comes before everything that `other` comes before, and before what is of it.
    fn absorb(&mut self, other: &Open) {
        let add = |to: &mut [u8], from: &[u8]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to |= u8::from(*from != 0) * AFTER);
        };
        add(&mut self.threads, &other.threads);
        add(&mut self.writes, &other.writes);
        add(&mut self.reads, &other.reads);
        self.forwards.iter_mut().zip(&other.forwards).for_each(|(to, from)| add(to, from));
        self.others.iter_mut().zip(&other.others).for_each(|(to, from)| *to |= from);
    }
}
