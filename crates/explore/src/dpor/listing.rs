//! In which ways the next event of a graph can be added.

use teetotal_memory::{Access, Model};
use teetotal_program::{Op, Order, Status, ThreadId, Value};

use super::alternatives::{Alternative, Lazy};
use super::answer::{Answer, Reading, answer};
use super::bits::Bits;
use super::graph::{NONE, Progress, Role, Slot};
use super::walk::{Rewindable, Task, Walk, Write};

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// Lists the ways to do `task`, the default first.
    pub(super) fn list(&mut self, task: Task) {
        match task {
            Task::Perform(thread, op) => match op {
                Op::Load { .. } | Op::Rmw { .. } | Op::Lock { .. } | Op::Unlock { .. } | Op::Await { .. } => {
                    self.list_sources(thread, op);
                }
                Op::Store { .. } => self.list_places(thread),
                Op::Choose { alternatives } => {
                    let count = if self.subject.takes_the_first(thread) { 1 } else { alternatives };
                    self.alternatives.extend((0..count).map(Alternative::Choose));
                }
                _ => self.alternatives.push(Alternative::Only),
            },
            Task::Complete(thread) => self.list_places(thread),
            Task::Replant { thread, read } => self.list_replants(thread, read),
        }
    }

    fn list_sources(&mut self, thread: ThreadId, op: Op) {
        let reading = self.reading(thread, op);
        let loc = reading.loc.index();
        let graph = &self.graph;
        let strand = graph.strand(thread);
        let progress = graph.progress(thread);
        let own_past = graph.past_after(strand.last, strand);
        let held_back = self.held_back(progress, reading.access(progress));
        let looked = self.looked(thread);
        let mut before_update = Lazy::new(graph, progress.floor | held_back);
        let (subject, alternatives) = (&self.subject, &mut self.alternatives);
        let newest = graph.cell(loc).newest;
        let first = alternatives.len();
        let may_be_update = !matches!(op, Op::Load { .. } | Op::Await { .. });
        let mut may_update = true;
        let mut is_new = true;
        graph.newest_writes(loc, Some(thread), progress.floor, |write| {
            is_new &= Some(write) != looked;
            let answer = answer::<S, M>(subject, thread, op, graph.value_of(write, loc));
            let fits = match answer {
                Answer::Load(_) | Answer::Failed | Answer::Updated(_) if !is_new => false,
                Answer::Load(_) => true,
                Answer::Failed => may_update,
                // What waits goes on only if it reads something else, so it may as well read the newest.
                Answer::Blocked => write == newest,
                Answer::Updated(_) => {
                    may_update
                        && (!graph.is_updated(write, loc) || {
                            let past = own_past | if write == NONE { Bits::EMPTY } else { graph.node(write).past };
                            let rival = graph.node(graph.follower(write, loc)).before;
                            let mut can_be_revisited = false;
                            graph.revisitable(loc, past, |read| can_be_revisited |= read == rival);
                            can_be_revisited
                        })
                }
            };
            if fits {
                alternatives.push(Alternative::Source(write));
            }
            may_update = may_update && may_be_update && write != NONE && !before_update.has(write);
        });
        self.leave_out_sources(first, thread, op, own_past);
    }

    /// What of the pending stores must be in memory before an event.
    pub(super) fn held_back(&self, progress: Progress<N>, access: Access) -> Bits<N> {
        let mut held_back = Bits::EMPTY;
        for store in progress.pending.iter() {
            if M::keeps_order(self.graph.node(store).access, access) {
                held_back.insert(store);
            }
        }
        held_back
    }

    fn list_places(&mut self, thread: ThreadId) {
        let Write { node, source } = self.write_of(thread);
        let loc = node.loc();
        let (graph, alternatives) = (&self.graph, &mut self.alternatives);
        let first = alternatives.len();
        match source {
            Some(source) if graph.is_updated(source, loc) => {}
            Some(source) => alternatives.push(Alternative::After(source)),
            None => graph.newest_writes(loc, None, node.order, |write| {
                if !graph.is_updated(write, loc) {
                    alternatives.push(Alternative::After(write));
                }
            }),
        }
        // A rival for the source must be given up or read from this one.
        let rival = source.filter(|&source| graph.is_updated(source, loc));
        let rival = rival.map(|source| graph.node(graph.node(graph.follower(source, loc)).before).stamp);
        graph.revisitable(loc, node.past, |read| {
            if rival.is_none_or(|stamp| graph.node(read).stamp <= stamp) {
                alternatives.push(Alternative::Revisit(read));
            }
        });
        self.drop_vain(first, thread, loc, source.is_some());
        self.leave_out_revisits(first, thread);
    }

    /// Drops the ways that leave a thread waiting for good which could go on, where nobody can change that.
    ///
    /// An update may be part of a failed await itself, which leaves everything as it was.
    fn drop_vain(&mut self, first: usize, thread: ThreadId, loc: usize, is_update: bool) {
        if self.graph.n_waiting == 0 && !S::RUNS_AGAIN {
            return;
        }
        let is_waiting = |&other: &ThreadId| {
            let last = self.graph.strand(other).last;
            let read = if last != NONE && self.graph.node(last).role == Role::Blocked {
                Some(last)
            } else {
                self.failed_read(other).filter(|_| other != thread && !is_update)
            };
            read.is_some_and(|read| self.graph.node(read).loc() == loc)
        };
        let Some(waiting) = self.threads().find(is_waiting) else { return };
        if self.threads().any(|other| other != thread && other != waiting && self.subject.may_write(other)) {
            return;
        }
        let newest = self.graph.cell(loc).newest;
        let mut at = 0;
        let (kept, listed) = (first, self.alternatives.len());
        for index in kept..listed {
            let alternative = self.alternatives[index];
            if alternative != Alternative::After(newest) {
                self.alternatives[first + at] = alternative;
                at += 1;
            }
        }
        self.alternatives.truncate(first + at);
    }

    fn list_replants(&mut self, thread: ThreadId, read: Slot) {
        let Write { node, source } = self.write_of(thread);
        let loc = node.loc();
        let reader = self.graph.node(read).thread;
        let (op, planted) = self.planted(reader, read, node.written);
        let graph = &self.graph;
        let is_blocked = matches!(planted, Answer::Blocked);
        let reading = self.reading(reader, op);
        let progress = graph.progress(reader);
        let held_back = match planted {
            Answer::Load(_) | Answer::Blocked => Bits::EMPTY,
            Answer::Failed | Answer::Updated(_) => self.held_back(progress, reading.access(progress)),
        };
        let stop = node.order | progress.floor | held_back;
        let newest = graph.cell(loc).newest;
        let alternatives = &mut self.alternatives;
        graph.newest_writes(loc, Some(reader), stop, |write| {
            let fits = source.is_none_or(|source| source == write)
                && !graph.is_updated(write, loc)
                && (!is_blocked || write == newest);
            if fits {
                alternatives.push(Alternative::After(write));
            }
        });
    }

    /// The operation of `reader`, whose newest node is not there, and what becomes of it when it reads `value`.
    fn planted(&mut self, reader: ThreadId, _read: Slot, value: Value) -> (Op, Answer) {
        let Status::Ready(op) = self.subject.status(reader) else { unreachable!("a read was performed here") };
        (op, answer::<S, M>(&self.subject, reader, op, value))
    }

    /// The location and order of an operation that reads.
    pub(super) fn reading(&self, thread: ThreadId, op: Op) -> Reading {
        match op {
            Op::Load { loc, order } | Op::Rmw { loc, order, .. } => Reading { loc, order },
            Op::Lock { loc, order } | Op::Unlock { loc, order } => Reading { loc, order },
            Op::Await { .. } => {
                let mut locations = Vec::with_capacity(1);
                self.subject.awaited(thread, &mut locations);
                Reading { loc: locations[0], order: Order::Plain }
            }
            _ => unreachable!("{op:?} reads nothing"),
        }
    }
}
