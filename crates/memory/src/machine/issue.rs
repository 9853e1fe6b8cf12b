//! When an operation is possible, and what it does.

use teetotal_program::{Loc, OnFailure, Op, Order, Status, Subject, ThreadId, Value};

use super::{Machine, Recorder, Seen};
use crate::event::{Event, EventKind};
use crate::model::Model;

impl<M: Model> Machine<M> {
    /// Whether `thread` can perform `op` now.
    pub(super) fn may_issue(&mut self, subject: &impl Subject, thread: ThreadId, op: Op) -> bool {
        let buffer = &self.buffers[thread.index()];
        if buffer.is_draining() {
            return false;
        }
        match op {
            Op::Load { .. } | Op::Choose { .. } => true,
            Op::Store { .. } => {
                let full = self.is_full(thread);
                self.limit_reached |= full;
                !full
            }
            Op::Rmw { loc, order, on_failure } => {
                M::may_update(buffer, Some(loc), order)
                    || self.fails_as_load(subject, thread, loc, on_failure).is_some()
            }
            Op::Fence { order } => order != Order::SeqCst || buffer.is_empty(),
            Op::GlobalFence => self.is_drained(),
            Op::Lock { loc, order } => {
                M::may_update(buffer, Some(loc), order) && subject.modify(thread, self.memory(loc)).is_some()
            }
            Op::Unlock { loc, order } => M::may_update(buffer, Some(loc), order),
            Op::Spawn { order, .. } => M::may_update(buffer, None, order),
            Op::Join { thread: child, order } => {
                let ended = subject.status(child) == Status::Finished && self.buffers[child.index()].is_empty();
                ended && M::may_join(buffer, order)
            }
            Op::Await { alternatives, .. } => {
                self.look_at_awaited(subject, thread);
                (0..alternatives).any(|alternative| self.may_take(subject, thread, alternative))
            }
        }
    }

    /// Whether the await of `thread`, of which the scratch holds what it reads now, may take `alternative`.
    pub(super) fn may_take(&mut self, subject: &impl Subject, thread: ThreadId, alternative: u32) -> bool {
        let values = &self.scratch.2;
        if !subject.accepts(thread, values, alternative) {
            return false;
        }
        let held_back = self.is_full(thread) && subject.stores(thread, values, alternative).is_some();
        self.limit_reached |= held_back;
        !held_back
    }

    /// What a read-modify-write sees if it fails on that and is then a load.
    fn fails_as_load(
        &self,
        subject: &impl Subject,
        thread: ThreadId,
        loc: Loc,
        on_failure: OnFailure,
    ) -> Option<(Seen, Order)> {
        let OnFailure::Load(order) = on_failure else { return None };
        let seen = self.seen(thread, loc);
        (M::FAILURE_IS_LOAD && subject.modify(thread, seen.value).is_none()).then_some((seen, order))
    }

    /// Puts what the await of `thread` reads now into the scratch.
    fn look_at_awaited(&mut self, subject: &impl Subject, thread: ThreadId) {
        let (mut locations, mut seen, mut values) = std::mem::take(&mut self.scratch);
        locations.clear();
        subject.awaited(thread, &mut locations);
        seen.clear();
        seen.extend(locations.iter().map(|&loc| self.seen(thread, loc)));
        values.clear();
        values.extend(seen.iter().map(|s| s.value));
        self.scratch = (locations, seen, values);
    }

    /// Performs `op`, which is possible, and lets the thread go on.
    #[inline]
    pub(super) fn issue<S: Subject, R: Recorder>(
        &mut self,
        subject: &mut S,
        thread: ThreadId,
        op: Op,
        alternative: u32,
        recorder: &mut R,
    ) {
        let blank = self.blank(subject, thread);
        match op {
            Op::Load { loc, order } => {
                let seen = self.sources(thread, loc).nth(alternative as usize).expect("an enabled load has a source");
                recorder.event(read(Event { kind: EventKind::Load, order, ..blank }, loc, seen));
                resume_with(subject, thread, seen, recorder);
            }
            Op::Store { loc, value, order } => {
                self.store(Event { order, ..blank }, loc, value, recorder);
                subject.resume(thread, &[]);
            }
            Op::Rmw { loc, order, on_failure } => match self.fails_as_load(subject, thread, loc, on_failure) {
                Some((seen, order)) => {
                    recorder.event(read(Event { kind: EventKind::Load, order, ..blank }, loc, seen));
                    resume_with(subject, thread, seen, recorder);
                }
                None => {
                    let written = subject.modify(thread, self.memory(loc));
                    let kind = if written.is_some() { EventKind::Rmw } else { EventKind::FailedRmw };
                    let fails_as_load = matches!(on_failure, OnFailure::Load(_));
                    self.update(subject, Event { kind, written, order, fails_as_load, ..blank }, loc, recorder);
                }
            },
            Op::Lock { loc, order } => {
                let written = subject.modify(thread, self.memory(loc));
                self.update(subject, Event { kind: EventKind::Lock, written, order, ..blank }, loc, recorder);
            }
            Op::Unlock { loc, order } => {
                let written = subject.modify(thread, self.memory(loc));
                let kind = if written.is_some() { EventKind::Unlock } else { EventKind::FailedRmw };
                self.update(subject, Event { kind, written, order, ..blank }, loc, recorder);
            }
            Op::Choose { .. } => {
                recorder.event(Event { kind: EventKind::Choose, read: Some(alternative.into()), ..blank });
                subject.resume(thread, &[alternative.into()]);
            }
            Op::Await { alternatives, .. } => {
                let choice = (alternatives > 1).then_some(alternative);
                self.read_together(subject, blank, choice, recorder);
            }
            Op::Fence { .. } | Op::GlobalFence | Op::Spawn { .. } | Op::Join { .. } => {
                self.order(blank, op, recorder);
                subject.resume(thread, &[]);
            }
        }
    }

    /// Reads what the await of a thread looks at, takes an alternative if there is a choice, and stores what that says.
    fn read_together<S: Subject, R: Recorder>(
        &mut self,
        subject: &mut S,
        blank: Event,
        choice: Option<u32>,
        recorder: &mut R,
    ) {
        let thread = blank.thread;
        self.look_at_awaited(subject, thread);
        let (locations, seen, mut values) = std::mem::take(&mut self.scratch);
        for (&loc, &seen) in locations.iter().zip(&seen) {
            recorder.event(read(blank, loc, seen));
        }
        let stored = subject.stores(thread, &values, choice.unwrap_or(0));
        if let Some(alternative) = choice.map(Value::from) {
            recorder.event(Event { kind: EventKind::Choose, read: Some(alternative), ..blank });
            values.push(alternative);
        }
        if let Some((loc, value)) = stored {
            self.store(blank, loc, value, recorder);
        }
        if let (true, Some(seen)) = (S::NOTES_SOURCES, seen.first()) {
            subject.reads_from(thread, recorder.writer(seen.source));
        }
        subject.resume(thread, &values);
        self.scratch = (locations, seen, values);
    }

    /// A store joins its buffer, or memory where the model has none.
    fn store<R: Recorder>(&mut self, blank: Event, loc: Loc, value: Value, recorder: &mut R) {
        let store = Event { kind: EventKind::Store, loc: Some(loc), written: Some(value), ..blank };
        let event = recorder.event(store);
        if !M::BUFFERS {
            self.write(loc, value, event);
            recorder.committed(event);
            return;
        }
        let buffer = &mut self.buffers[store.thread.index()];
        buffer.push(loc, value, event, store.order.releases());
        if store.order == Order::SeqCst {
            buffer.drain_before_next();
        }
    }

    /// An operation that accesses no location; what it waits for has come already.
    pub(super) fn order<R: Recorder>(&mut self, blank: Event, op: Op, recorder: &mut R) {
        let (kind, order) = match op {
            Op::Fence { order } => (EventKind::Fence, order),
            Op::Spawn { thread, order } => (EventKind::Spawn(thread), order),
            Op::Join { thread, order } => (EventKind::Join(thread), order),
            _ => (EventKind::GlobalFence, Order::SeqCst),
        };
        recorder.event(Event { kind, order, ..blank });
        if kind == EventKind::Fence && matches!(order, Order::Release | Order::AcqRel) {
            self.epochs[blank.thread.index()] += 1;
            if M::BARRIERS {
                self.buffers[blank.thread.index()].pass_barrier();
            }
        }
    }

    /// Reads `loc` in memory and writes what `event` says, if anything, in the same step.
    fn update<S: Subject, R: Recorder>(&mut self, subject: &mut S, event: Event, loc: Loc, recorder: &mut R) {
        let seen = self.in_memory(loc);
        let id = recorder.event(read(event, loc, seen));
        if let Some(value) = event.written {
            self.write(loc, value, id);
            recorder.committed(id);
        }
        resume_with(subject, event.thread, seen, recorder);
    }

    /// An event of `thread` where it stands, without content.
    pub(super) fn blank(&self, subject: &impl Subject, thread: ThreadId) -> Event {
        Event { epoch: self.epochs[thread.index()], place: subject.place(thread), ..Event::blank(thread) }
    }
}

/// Lets `thread` go on with what it saw.
#[inline]
pub(super) fn resume_with<S: Subject, R: Recorder>(subject: &mut S, thread: ThreadId, seen: Seen, recorder: &R) {
    if S::NOTES_SOURCES {
        subject.reads_from(thread, recorder.writer(seen.source));
    }
    subject.resume(thread, &[seen.value]);
}

/// `event` as a read of `loc` that saw `seen`.
pub(super) fn read(event: Event, loc: Loc, seen: Seen) -> Event {
    Event { loc: Some(loc), read: Some(seen.value), source: Some(seen.source), forwarded: seen.forwarded, ..event }
}
