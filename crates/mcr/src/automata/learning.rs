//! What a step does, learnt from the system the first time.

use teetotal_memory::{Model, Step, StoreBuffer};
use teetotal_program::{ExplicitState, Loc, LocSet, Op, Status, ThreadId};

use super::super::history::HistoryId;
use super::super::local::{Footprint, Local, Look, Outcome, Standing, look, standing};
use super::{Automata, Edge, FEW_OUTCOMES, FOLLOW, Leaving, Memory, Settled, UNKNOWN};

impl<S: ExplicitState, M: Model> Automata<S, M> {
    /// Performs the operation of a thread in the system, in every way that is possible, and keeps what it does.
    #[cold]
    pub(super) fn learn(&mut self, row: &[u32], index: usize) {
        let key = match self.local(row, index).look {
            Look::Several(list) => self.tuples.number(self.found_at(row, list)),
            other => self.key(row, other),
        };
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
        local.n_outcomes += 1;
        if local.n_outcomes > FEW_OUTCOMES {
            self.more_outcomes.insert((index as u32, row[index], key), (first, end));
        } else {
            self.outcomes.push(Outcome { key, first, end, other: local.outcome });
            local.outcome = newest;
        }
    }

    /// Performs one operation in the system, which is in the state `row`.
    fn perform(&mut self, row: &[u32], step: Step, history: HistoryId) -> Edge {
        let Step::Issue { thread, alternative } = step else { unreachable!("only operations are learnt this way") };
        let child = match self.local(row, thread.index()).look {
            Look::IsFresh(child) if self.local(row, child.index()).standing == Standing::NotStarted => Some(child),
            _ => None,
        };
        let before = self.system.subject().position(thread);
        self.noted.clear();
        self.system.perform(step, &mut self.noted);
        let write = self.noted.write.map(|(loc, value)| (loc, self.values.number(value)));
        let goes_back = self.system.subject().position(thread) <= before;
        let next = self.extend(history, true);
        let next = self.settle(thread, next);
        let started = child.map(|child| {
            let root = self.local(row, child.index()).history;
            let begun = self.extend(root, false);
            (child, self.settle(child, begun))
        });
        let goes_back = goes_back || next.goes_back || started.is_some_and(|(_, settled)| settled.goes_back);
        Edge { next: next.local, alternative, write, follow: next.follow, started, goes_back }
    }

    /// The history with one more operation, which read what was noted or nothing.
    fn extend(&mut self, history: HistoryId, has_read: bool) -> HistoryId {
        let answers: &[_] = if has_read { &self.noted.reads } else { &[] };
        match self.memory_of {
            Memory::Histories => self.histories.extend(history, answers),
            Memory::Places => history,
        }
    }

    /// Lets `thread` of the system, which has just come here, perform what nobody can tell the time of; gives where it
    /// is then.
    pub(super) fn settle(&mut self, thread: ThreadId, mut history: HistoryId) -> Settled {
        self.loaded[thread.index()] = UNKNOWN;
        let (mut follow, mut goes_back) = (0, false);
        // A thread may store without end; what follows is then a step of its own.
        for _ in 0..FOLLOW {
            if !self.reduces || !self.is_silent(thread) {
                break;
            }
            let op = Step::Issue { thread, alternative: 0 };
            let before = self.system.subject().position(thread);
            self.noted.clear();
            self.system.perform(op, &mut self.noted);
            goes_back |= self.system.subject().position(thread) <= before;
            follow += 1;
            history = self.extend(history, false);
        }
        let local = self.intern(thread, history);
        self.loaded[thread.index()] = local;
        Settled { local, follow, goes_back }
    }

    /// Whether the operation of `thread` of the system is possible and concerns nobody else: a store that joins its
    /// buffer, or a fence.
    fn is_silent(&self, thread: ThreadId) -> bool {
        let Status::Ready(op) = self.system.subject().status(thread) else { return false };
        let buffer = self.system.machine().buffer(thread);
        match op {
            Op::Store { .. } => M::BUFFERS && !buffer.is_draining() && !self.is_full(buffer),
            Op::Fence { order } => {
                buffer.is_empty() || !buffer.is_draining() && order != teetotal_program::Order::SeqCst
            }
            _ => false,
        }
    }

    pub(super) fn is_full(&self, buffer: &StoreBuffer) -> bool {
        M::BUFFERS && buffer.pending().len() >= self.buffer_limit
    }

    /// The local state in which `thread` of the system is.
    pub(super) fn intern(&mut self, thread: ThreadId, history: HistoryId) -> u32 {
        let subject = self.system.subject();
        let save = |words: &mut [_]| subject.save_thread(thread, words);
        let history = match self.memory_of {
            Memory::Histories => history,
            Memory::Places => self.histories.at_place(thread, save),
        };
        let buffer = self.system.machine().buffer(thread);
        if let Some(known) = self.locals[thread.index()].find(history, buffer) {
            return known;
        }
        self.histories.keep(history, save);
        let first = self.leavings.len() as u32;
        if M::BUFFERS {
            for (position, store) in buffer.pending().iter().enumerate() {
                if M::may_leave(buffer, position) {
                    let value = self.values.number(store.value);
                    let loc = store.loc;
                    self.leavings.push(Leaving { loc, value, next: UNKNOWN, follow: 0, goes_back: false });
                }
            }
        }
        let leaving = &self.leavings[first as usize..];
        let is_held = |loc: Loc| leaving.iter().all(|leaving| leaving.loc != loc);
        let held = buffer.pending().iter().map(|store| store.loc).filter(|&loc| is_held(loc));
        let held = held.fold(LocSet::default(), |set, loc| set.union(LocSet::of(loc)));
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
            has_failed: matches!(status, Status::Failed(_)),
            look,
            reads_now,
            future: Footprint::new::<M>(subject.future(thread), buffer),
            held,
            is_exclusive: subject.asks_for_no_switch(thread),
            outcome: UNKNOWN,
            n_outcomes: 0,
            commits: first..self.leavings.len() as u32,
        };
        self.locals[thread.index()].add(local)
    }
}
