//! When an operation is possible, and what it does.

use super::{Event, EventKind, Loc, Machine, Model, OnFailure, Op, Order, Recorder, Seen, Status, Subject, ThreadId};

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
                let fits = !M::BUFFERS || buffer.pending().len() < self.buffer_limit;
                self.limit_reached |= !fits;
                fits
            }
            Op::Rmw { loc, order, on_failure } => {
                M::may_update(buffer, Some(loc), order)
                    || self.fails_as_load(subject, thread, loc, on_failure).is_some()
            }
            Op::Fence { order } => order != Order::SeqCst || buffer.is_empty(),
            Op::GlobalFence => self.is_drained(),
            Op::Lock { loc, order } => self.memory(loc) == 0 && M::may_update(buffer, Some(loc), order),
            Op::Unlock { loc, order } => M::may_update(buffer, Some(loc), order),
            Op::Spawn { order, .. } => M::may_update(buffer, None, order),
            Op::Join { thread: child, order } => {
                let ended = subject.status(child) == Status::Finished && self.buffers[child.index()].is_empty();
                ended && M::may_update(buffer, None, order)
            }
            Op::Await => {
                self.look_at_awaited(subject, thread);
                subject.accepts(thread, &self.scratch.2)
            }
        }
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
                subject.resume(thread, &[seen.value]);
            }
            Op::Store { loc, value, order } => {
                let store = Event { kind: EventKind::Store, loc: Some(loc), written: Some(value), order, ..blank };
                let event = recorder.event(store);
                if M::BUFFERS {
                    let buffer = &mut self.buffers[thread.index()];
                    buffer.push(loc, value, event, order.releases());
                    if order == Order::SeqCst {
                        buffer.drain_before_next();
                    }
                } else {
                    self.write(loc, value, event);
                    recorder.committed(event);
                }
                subject.resume(thread, &[]);
            }
            Op::Rmw { loc, order, on_failure } => {
                if let Some((seen, order)) = self.fails_as_load(subject, thread, loc, on_failure) {
                    recorder.event(read(Event { kind: EventKind::Load, order, ..blank }, loc, seen));
                    return subject.resume(thread, &[seen.value]);
                }
                let kind = (EventKind::Rmw, EventKind::FailedRmw);
                self.update(subject, Event { order, ..blank }, kind, loc, recorder);
            }
            Op::Lock { loc, order } => {
                let seen = self.seen(thread, loc);
                let written = Some(thread.as_holder());
                let event = recorder.event(read(Event { kind: EventKind::Lock, written, order, ..blank }, loc, seen));
                self.write(loc, thread.as_holder(), event);
                recorder.committed(event);
                subject.resume(thread, &[seen.value]);
            }
            Op::Unlock { loc, order } => {
                let kind = (EventKind::Unlock, EventKind::FailedRmw);
                self.update(subject, Event { order, ..blank }, kind, loc, recorder);
            }
            Op::Fence { order } => {
                recorder.event(Event { kind: EventKind::Fence, order, ..blank });
                if matches!(order, Order::Release | Order::AcqRel) {
                    self.epochs[thread.index()] += 1;
                    if M::BARRIERS {
                        self.buffers[thread.index()].pass_barrier();
                    }
                }
                subject.resume(thread, &[]);
            }
            Op::GlobalFence => {
                recorder.event(Event { kind: EventKind::GlobalFence, order: Order::SeqCst, ..blank });
                subject.resume(thread, &[]);
            }
            Op::Spawn { thread: child, order } => {
                recorder.event(Event { kind: EventKind::Spawn(child), order, ..blank });
                subject.resume(thread, &[]);
            }
            Op::Join { thread: child, order } => {
                recorder.event(Event { kind: EventKind::Join(child), order, ..blank });
                subject.resume(thread, &[]);
            }
            Op::Choose { .. } => {
                recorder.event(Event { kind: EventKind::Choose, read: Some(alternative.into()), ..blank });
                subject.resume(thread, &[alternative.into()]);
            }
            Op::Await => {
                self.look_at_awaited(subject, thread);
                let (locations, seen, values) = std::mem::take(&mut self.scratch);
                for (&loc, &seen) in locations.iter().zip(&seen) {
                    recorder.event(read(blank, loc, seen));
                }
                subject.resume(thread, &values);
                self.scratch = (locations, seen, values);
            }
        }
    }

    /// Reads `loc` in memory and writes what the subject makes of it; `kinds` are those of success and of failure.
    fn update<S: Subject, R: Recorder>(
        &mut self,
        subject: &mut S,
        blank: Event,
        kinds: (EventKind, EventKind),
        loc: Loc,
        recorder: &mut R,
    ) {
        let thread = blank.thread;
        let seen = self.seen(thread, loc);
        let written = subject.modify(thread, seen.value);
        let kind = if written.is_some() { kinds.0 } else { kinds.1 };
        let event = recorder.event(read(Event { kind, written, ..blank }, loc, seen));
        if let Some(value) = written {
            self.write(loc, value, event);
            recorder.committed(event);
        }
        subject.resume(thread, &[seen.value]);
    }

    /// An event of `thread` where it stands, without content.
    fn blank(&self, subject: &impl Subject, thread: ThreadId) -> Event {
        Event {
            thread,
            index: 0,
            kind: EventKind::Load,
            loc: None,
            read: None,
            written: None,
            source: None,
            forwarded: false,
            order: Order::Plain,
            epoch: self.epochs[thread.index()],
            place: subject.place(thread),
            step: 0,
            committed: None,
        }
    }
}

/// `event` as a read of `loc` that saw `seen`.
fn read(event: Event, loc: Loc, seen: Seen) -> Event {
    Event { loc: Some(loc), read: Some(seen.value), source: Some(seen.source), forwarded: seen.forwarded, ..event }
}
