//! What an execution leaves behind: its events, its steps, and who read from whom.
//!
//! Definition: [SOBER, Def. 1], [BURNIM, §4.1]: events with program order, the source of each read, and the order in
//! which the writes to each location reached memory. We differ in one way:
//! 1. The steps are kept too, commits among them, so that an execution can be shown and replayed.

use teetotal_program::{Loc, ThreadId, Value};

use crate::event::{Event, EventId, Source};
use crate::machine::Recorder;
use crate::step::Step;

/// An execution as it was performed, whole or up to some step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// In the order of issue.
    events: Vec<Event>,
    steps: Vec<StepRecord>,
    /// How many events each thread has.
    counts: Vec<u32>,
    /// For each location its writes in modification order, where that is not the order in which they reach memory.
    modification: Vec<Vec<EventId>>,
}

/// A step and what it led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepRecord {
    pub step: Step,
    /// The first event that the step issued, or the store that it committed.
    pub event: EventId,
}

impl Recorder for Trace {
    fn event(&mut self, event: Event) -> EventId {
        let id = EventId::at(self.events.len());
        let thread = event.thread.index();
        if self.counts.len() <= thread {
            self.counts.resize(thread + 1, 0);
        }
        self.events.push(Event { index: self.counts[thread], step: self.current_step(), ..event });
        self.counts[thread] += 1;
        id
    }

    fn committed(&mut self, event: EventId) {
        let now = self.current_step();
        self.events[event.index()].committed = Some(now);
        let record = self.steps.last_mut().expect("a commit is part of a step");
        if record.step.is_commit() {
            record.event = event;
        }
    }

    fn placed(&mut self, event: EventId, followers: usize) {
        let Some(loc) = self.events[event.index()].loc.map(Loc::index) else { return };
        if self.modification.len() <= loc {
            self.modification.resize_with(loc + 1, Vec::new);
        }
        let writes = &mut self.modification[loc];
        writes.insert(writes.len() - followers, event);
    }

    fn step(&mut self, step: Step) {
        self.steps.push(StepRecord { step, event: EventId::at(self.events.len()) });
    }

    fn writer(&self, source: Source) -> Option<(ThreadId, u32)> {
        let Source::Write(id) = source else { return None };
        let event = self.event(id);
        Some((event.thread, event.index))
    }
}

impl Trace {
    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.events.clear();
        self.steps.clear();
        self.counts.clear();
        self.modification.clear();
    }

    fn current_step(&self) -> u32 {
        (self.steps.len() - 1) as u32
    }

    /// The events in the order of issue.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    #[must_use]
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// The steps in the order in which they were performed.
    #[must_use]
    pub fn steps(&self) -> &[StepRecord] {
        &self.steps
    }

    /// Replaces every value that is read or written by what `f` makes of it, for showing.
    pub fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
        for event in &mut self.events {
            event.read = event.read.map(&mut f);
            event.written = event.written.map(&mut f);
        }
    }

    /// The same with `event` in the place of the one with this id, to ask whether that could have been.
    #[must_use]
    pub fn with_event(&self, id: EventId, event: Event) -> Trace {
        let mut trace = self.clone();
        trace.events[id.index()] = event;
        trace
    }

    /// The operation of `thread` with this index, if it was performed.
    #[must_use]
    pub fn operation(&self, thread: ThreadId, index: u32) -> Option<&Event> {
        self.events.iter().find(|event| (event.thread, event.index) == (thread, index))
    }

    /// Every event with its id.
    pub fn ids(&self) -> impl Iterator<Item = (EventId, &Event)> {
        self.events.iter().enumerate().map(|(index, event)| (EventId::at(index), event))
    }

    /// One more than the largest thread that has an event.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.counts.len()
    }

    /// One more than the largest location that an event accesses.
    #[must_use]
    pub fn n_locations(&self) -> usize {
        self.events.iter().filter_map(|e| e.loc).map(|loc| loc.index() + 1).max().unwrap_or(0)
    }

    /// The writes to `loc` in the order in which they reach memory: the coherence order. [BURNIM, §4.1]
    ///
    /// Stores that are still pending come last, thread by thread, as if their buffers now drained in that order. Under a
    /// model of graphs it is modification order, which a write may join in the middle.
    #[must_use]
    pub fn coherence(&self, loc: Loc) -> Vec<EventId> {
        if let Some(writes) = self.modification.get(loc.index()).filter(|writes| !writes.is_empty()) {
            return writes.clone();
        }
        let mut writes: Vec<EventId> =
            self.ids().filter(|(_, e)| e.is_write() && e.loc == Some(loc)).map(|(id, _)| id).collect();
        writes.sort_by_key(|&id| {
            let event = self.event(id);
            (event.committed.unwrap_or(u32::MAX), event.thread, event.index)
        });
        writes
    }

    /// The values that each thread read, thread by thread, each list preceded by its length.
    #[must_use]
    pub fn values_key(&self) -> Vec<Value> {
        self.by_thread(|_, event, key| key.push(event.read.unwrap_or(0)), |event| event.read.is_some())
    }

    /// The same and the source of each read: the reads-from class.
    #[must_use]
    pub fn reads_from_key(&self) -> Vec<Value> {
        self.by_thread(
            |trace, event, key| {
                key.push(event.read.unwrap_or(0));
                key.push(match event.source {
                    None | Some(Source::Initial) => 0,
                    Some(Source::Write(id)) => {
                        let write = trace.event(id);
                        1 + (u64::from(write.thread.0) << 32 | u64::from(write.index))
                    }
                });
            },
            |event| event.read.is_some(),
        )
    }

    /// What tells traces apart: the events of each thread, reads-from and coherence.
    ///
    /// Two executions have equal keys exactly when they have the same trace (po, rf, co).
    #[must_use]
    pub fn key(&self) -> Vec<Value> {
        let mut key = self.reads_from_key();
        key.push(u64::MAX);
        key.extend(self.by_thread(
            |_, event, key| {
                key.push(event.loc.map_or(0, |loc| u64::from(loc.0) + 1));
                key.push(event.written.map_or(0, |value| value.wrapping_add(1)));
                key.push(u64::from(event.place));
            },
            |_| true,
        ));
        for loc in 0..self.n_locations() {
            key.push(u64::MAX);
            let writes = self.coherence(Loc::at(loc));
            key.extend(writes.iter().map(|&id| {
                let write = self.event(id);
                u64::from(write.thread.0) << 32 | u64::from(write.index)
            }));
        }
        key
    }

    /// Collects something of every event that `counts`, thread by thread in program order.
    fn by_thread(
        &self,
        mut collect: impl FnMut(&Trace, &Event, &mut Vec<Value>),
        counts: impl Fn(&Event) -> bool,
    ) -> Vec<Value> {
        let mut key = Vec::with_capacity(3 * self.events.len());
        for thread in 0..self.n_threads() {
            let own = self.events.iter().filter(|e| e.thread == ThreadId::at(thread) && counts(e));
            key.push(own.clone().count() as u64);
            own.for_each(|event| collect(self, event, &mut key));
        }
        key
    }
}
