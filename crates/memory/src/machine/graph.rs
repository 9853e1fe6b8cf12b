//! Steps of a model of graphs: an event joins the graph in every way that leaves it consistent.
//!
//! The alternative of a step says where: a read takes its value from, and a write comes directly after, the write that so
//! many writes to its location follow in modification order.

use teetotal_program::{Loc, OnFailure, Op, Order, Status, Subject, ThreadId, Value};

use super::issue::{read, resume_with};
use super::{Machine, Recorder, Seen};
use crate::event::{Event, EventKind};
use crate::execution_graph::NewAccess;
use crate::model::Model;
use crate::step::Step;

impl<M: Model> Machine<M> {
    /// Adds the steps in which `thread` performs `op`.
    pub(super) fn push_graph_issues(
        &mut self,
        subject: &impl Subject,
        thread: ThreadId,
        op: Op,
        steps: &mut Vec<Step>,
    ) {
        let Some(loc) = location_of(subject, thread, op) else {
            let alternatives = match op {
                Op::Choose { alternatives } => alternatives,
                Op::Join { thread: child, .. } => u32::from(subject.status(child) == Status::Finished),
                _ => 1,
            };
            steps.extend((0..alternatives).map(|alternative| Step::Issue { thread, alternative }));
            return;
        };
        let newest = self.graph.newest(loc);
        for position in (self.graph.floor(thread, loc)..=newest).rev() {
            let access = self.access_at(subject, thread, op, loc, position);
            if access.is_some_and(|access| self.graph.allows(access)) {
                steps.push(Step::Issue { thread, alternative: (newest - position) as u32 });
            }
        }
    }

    /// What `op`, an access of `loc`, is at a position of modification order, unless its thread would have to wait.
    fn access_at(
        &self,
        subject: &impl Subject,
        thread: ThreadId,
        op: Op,
        loc: Loc,
        position: usize,
    ) -> Option<NewAccess> {
        let access = |kind, order, reads, written| NewAccess { thread, kind, loc, order, reads, written, position };
        let value = self.value_at(subject, loc, position);
        match op {
            Op::Store { value, order, .. } => Some(access(EventKind::Store, order, false, Some(value))),
            Op::Load { order, .. } => Some(access(EventKind::Load, order, true, None)),
            Op::Await { order, .. } => {
                subject.accepts(thread, &[value], 0).then(|| access(EventKind::Load, order, true, None))
            }
            Op::Lock { order, .. } => {
                let written = subject.modify(thread, value)?;
                Some(access(EventKind::Lock, at_least(order, Order::Acquire), true, Some(written)))
            }
            Op::Unlock { order, .. } => {
                let written = subject.modify(thread, value);
                let kind = if written.is_some() { EventKind::Unlock } else { EventKind::FailedRmw };
                Some(access(kind, at_least(order, Order::Release), true, written))
            }
            Op::Rmw { order, on_failure, .. } => Some(match (subject.modify(thread, value), on_failure) {
                (Some(written), _) => access(EventKind::Rmw, order, true, Some(written)),
                (None, OnFailure::Load(order)) => access(EventKind::Load, order, true, None),
                (None, OnFailure::Locked) => access(EventKind::FailedRmw, order, true, None),
            }),
            _ => None,
        }
    }

    fn value_at(&self, subject: &impl Subject, loc: Loc, position: usize) -> Value {
        self.graph.write_at(loc, position).map_or_else(|| subject.initial(loc), |(value, _)| value)
    }

    /// Performs `op`, which is possible in this alternative, and lets the thread go on.
    pub(super) fn issue_in_graph<S: Subject, R: Recorder>(
        &mut self,
        subject: &mut S,
        thread: ThreadId,
        op: Op,
        alternative: u32,
        recorder: &mut R,
    ) {
        let blank = self.blank(subject, thread);
        let Some(loc) = location_of(subject, thread, op) else {
            let event = match op {
                Op::Choose { .. } => Event { kind: EventKind::Choose, read: Some(alternative.into()), ..blank },
                Op::Fence { order } => Event { kind: EventKind::Fence, order, ..blank },
                Op::Spawn { thread: child, order } => Event { kind: EventKind::Spawn(child), order, ..blank },
                Op::Join { thread: child, order } => Event { kind: EventKind::Join(child), order, ..blank },
                _ => Event { kind: EventKind::GlobalFence, order: Order::SeqCst, ..blank },
            };
            let id = recorder.event(event);
            self.graph.other(thread, event.kind, event.order, id);
            subject.resume(thread, event.read.as_slice());
            return;
        };
        let position = self.graph.newest(loc).checked_sub(alternative as usize).expect("an enabled step has a place");
        let access = self.access_at(subject, thread, op, loc, position).expect("an enabled step is possible");
        let seen = Seen {
            value: self.value_at(subject, loc, position),
            source: self.graph.source_at(loc, position),
            forwarded: false,
        };
        let event = Event { kind: access.kind, loc: Some(loc), order: access.order, written: access.written, ..blank };
        let event = if access.reads { read(event, loc, seen) } else { event };
        let followers = self.graph.newest(loc) - position;
        let id = recorder.event(event);
        self.graph.access(access, id);
        if let Some(value) = access.written {
            recorder.committed(id);
            recorder.placed(id, followers);
            if followers == 0 {
                self.write(loc, value, id);
            }
        }
        if access.reads {
            resume_with(subject, thread, seen, recorder);
        } else {
            subject.resume(thread, &[]);
        }
    }
}

/// The location that `op` accesses, if it accesses one. An await of several is refused before anything is searched.
fn location_of(subject: &impl Subject, thread: ThreadId, op: Op) -> Option<Loc> {
    match op {
        Op::Load { loc, .. } | Op::Store { loc, .. } | Op::Rmw { loc, .. } => Some(loc),
        Op::Lock { loc, .. } | Op::Unlock { loc, .. } => Some(loc),
        Op::Await { .. } => {
            let mut locations = Vec::with_capacity(1);
            subject.awaited(thread, &mut locations);
            locations.first().copied()
        }
        _ => None,
    }
}

/// The ordering of an operation that has at least `least`, acquire or release, whatever its source says.
fn at_least(order: Order, least: Order) -> Order {
    match order {
        Order::Plain | Order::Relaxed => least,
        Order::Acquire | Order::Release if order != least => Order::AcqRel,
        order => order,
    }
}
