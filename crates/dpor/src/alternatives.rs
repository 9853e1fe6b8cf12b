//! The alternatives of a level: in which ways the next event of a graph can be added.

use teetotal_program::{Op, Status, ThreadId};

use super::answer::{Answer, Reading, answer};
use super::bits::Bits;
use super::consistency::{Consistency, NewRead};
use super::graph::{NONE, Role, Slot};
use super::walk::{Rewindable, Task, Walk, Write};

/// One way to add the next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alternative {
    /// There is only one.
    Only,
    /// A choice of the program.
    Choose(u32),
    /// A read reads from this write.
    Source(Slot),
    /// A write follows this one in coherence.
    After(Slot),
    /// A write is added, and this older read is made to read from it.
    Revisit(Slot),
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// Lists the ways to do `task`, the maximal one first.
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
            Task::Revisit { thread, read } => self.list_revisit_places(thread, read),
        }
    }

    /// Lists the sources of the read that `thread` performs with `op`.
    fn list_sources(&mut self, thread: ThreadId, op: Op) {
        let reading = self.reading(thread, op);
        let loc = reading.loc.index();
        let last_tried = self.last_tried(thread);
        let (graph, maximal) = (&self.graph, &mut self.maximal);
        let events = graph.events(thread);
        let view = graph.view(thread);
        let access = C::access(&view, Some(reading.loc), reading.order);
        let own_prefix = graph.porf_prefix_after(events.last, events);
        let (subject, alternatives) = (&self.subject, &mut self.alternatives);
        let newest = graph.location(loc).newest;
        let first = alternatives.len();
        let may_be_update = !matches!(op, Op::Load { .. } | Op::Await { .. });
        let mut is_new = true;
        C::sources(graph, thread, &view, access, may_be_update, |write, may_update| {
            is_new &= Some(write) != last_tried;
            let answer = answer(subject, graph.rules, thread, op, graph.value_of(write, loc));
            let fits = match answer {
                Answer::Load(_) | Answer::Failed | Answer::Updated(_) if !is_new => false,
                Answer::Load(_) => true,
                Answer::Failed => may_update,
                // A blocked read goes on only if it reads something else, so it may as well read the newest.
                Answer::Blocked => write == newest,
                Answer::Updated(_) => {
                    may_update
                        && (!graph.is_updated(write, loc) || {
                            let prefix = own_prefix | if write == NONE { Bits::EMPTY } else { graph.node(write).porf };
                            let rival = graph.node(graph.follower(write, loc)).before;
                            let mut can_be_revisited = false;
                            graph.backward_revisits(loc, prefix, maximal, |read| can_be_revisited |= read == rival);
                            can_be_revisited
                        })
                }
            };
            if fits {
                alternatives.push(Alternative::Source(write));
            }
        });
        self.leave_out_sources(first, thread, op, own_prefix);
    }

    /// Lists the places in coherence of the write that `thread` is about to add, and the reads that it may revisit.
    fn list_places(&mut self, thread: ThreadId) {
        let Write { node, source } = self.write_of(thread);
        let loc = node.loc();
        let (graph, alternatives) = (&self.graph, &mut self.alternatives);
        let first = alternatives.len();
        match source {
            Some(source) if graph.is_updated(source, loc) => {}
            Some(source) => alternatives.push(Alternative::After(source)),
            None => C::coherence_places(graph, &node, |write| {
                if !graph.is_updated(write, loc) {
                    alternatives.push(Alternative::After(write));
                }
            }),
        }
        // A rival for the source must be deleted or read from this one.
        let rival = source.filter(|&source| graph.is_updated(source, loc));
        let rival = rival.map(|source| graph.node(graph.node(graph.follower(source, loc)).before).stamp);
        graph.backward_revisits(loc, node.porf, &mut self.maximal, |read| {
            if rival.is_none_or(|stamp| graph.node(read).stamp <= stamp) {
                alternatives.push(Alternative::Revisit(read));
            }
        });
        self.drop_blocked(first, thread, loc, source.is_some());
        self.leave_out_revisits(first, thread);
    }

    /// Drops the places that leave a thread blocked forever which could go on, where no other thread can change that.
    ///
    /// An update may be part of a failed await itself, which leaves everything as it was.
    fn drop_blocked(&mut self, first: usize, thread: ThreadId, loc: usize, is_update: bool) {
        if self.graph.n_waiting == 0 && !S::RUNS_AGAIN {
            return;
        }
        let is_waiting = |&other: &ThreadId| {
            let last = self.graph.events(other).last;
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
        let newest = self.graph.location(loc).newest;
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

    /// Lists the places of the write of `thread` in a graph in which `read` reads from it.
    fn list_revisit_places(&mut self, thread: ThreadId, read: Slot) {
        let Write { node, source } = self.write_of(thread);
        let loc = node.loc();
        let graph = &self.graph;
        let reader = graph.node(read).thread;
        let Status::Ready(op) = self.subject.status(reader) else { unreachable!("a read was performed here") };
        let revisited = answer(&self.subject, graph.rules, reader, op, node.written);
        let read = self.new_read(reader, op, revisited);
        let is_blocked = revisited == Answer::Blocked;
        let newest = graph.location(loc).newest;
        let alternatives = &mut self.alternatives;
        C::coherence_places_of_revisit(graph, &node, &read, |write| {
            let fits = source.is_none_or(|source| source == write)
                && !graph.is_updated(write, loc)
                && (!is_blocked || write == newest);
            if fits {
                alternatives.push(Alternative::After(write));
            }
        });
    }

    /// The read that `thread` performs next with `op`, if this becomes of it.
    pub(super) fn new_read(&self, thread: ThreadId, op: Op, answer: Answer) -> NewRead {
        let reading = self.reading(thread, op);
        let access = C::access(&self.graph.view(thread), Some(reading.loc), reading.order);
        NewRead { thread, access, kind: answer.kind() }
    }

    /// The location and order of an operation that reads.
    pub(super) fn reading(&self, thread: ThreadId, op: Op) -> Reading {
        match op {
            Op::Load { loc, order } | Op::Rmw { loc, order, .. } => Reading { loc, order },
            Op::Lock { loc, order } | Op::Unlock { loc, order } => Reading { loc, order },
            Op::Await { order, .. } => {
                let mut locations = Vec::with_capacity(1);
                self.subject.awaited(thread, &mut locations);
                Reading { loc: locations[0], order }
            }
            _ => unreachable!("{op:?} reads nothing"),
        }
    }
}
