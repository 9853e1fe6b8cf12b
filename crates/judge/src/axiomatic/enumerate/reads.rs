//! What a read may return: each source that is there, or one that is still to come.

use std::ops::ControlFlow;

use teetotal_memory::{Event, EventKind, Source};
use teetotal_program::{Loc, OnFailure, Op, Status, Subject, ThreadId, Value};

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::enumerate::Execution;
use crate::axiomatic::enumerate::search::{Search, State, Stop};

impl<V: FnMut(Execution) -> ControlFlow<()>> Search<V> {
    /// Visits every execution that continues `state`, in which `thread` stands at a read.
    pub(super) fn read(&mut self, mut state: State, thread: ThreadId) -> Result<(), Stop> {
        let Status::Ready(op) = state.subject.status(thread) else { unreachable!("the thread stands at a read") };
        let locations = state.locations_read(thread, op);
        let since = state.waiting[thread.index()];
        for sources in combinations(&state, &locations) {
            // A choice of sources that were all there when the thread began to wait has been made then.
            let is_new = |source: &Source| matches!(source, Source::Write(w) if since.is_some_and(|s| w.index() >= s));
            if since.is_some() && !sources.iter().any(is_new) {
                continue;
            }
            let alternatives = if let Op::Await { alternatives, .. } = op { alternatives } else { 1 };
            for alternative in 0..alternatives {
                let mut branch = state.clone();
                if branch.read_from(self, &Reading { thread, op, alternative }, &locations, &sources) {
                    self.grow(branch)?;
                }
            }
        }
        let can_block = matches!(op, Op::Lock { .. } | Op::Await { .. });
        if can_block || locations.iter().any(|&loc| state.may_be_written(loc, thread)) {
            state.waiting[thread.index()] = Some(state.graph.next_id());
            return self.grow(state);
        }
        Ok(())
    }
}

/// Who reads, and which alternative it takes.
struct Reading {
    thread: ThreadId,
    op: Op,
    alternative: u32,
}

impl State {
    /// Performs a read with these sources, if it can have them.
    fn read_from<V>(&mut self, search: &Search<V>, reading: &Reading, locations: &[Loc], sources: &[Source]) -> bool {
        let Reading { thread, op, alternative } = *reading;
        let mut values: Vec<Value> =
            locations.iter().zip(sources).map(|(&loc, &source)| self.value(loc, source)).collect();
        if matches!(op, Op::Await { .. }) && !self.subject.accepts(thread, &values, alternative) {
            return false;
        }
        let issued = self.graph.next_id();
        for (index, (&loc, &source)) in locations.iter().zip(sources).enumerate() {
            let read = Event { loc: Some(loc), read: Some(values[index]), source: Some(source), ..self.blank(thread) };
            let Some(event) = self.completed(search.axioms, op, read) else { return false };
            if !self.graph.push(event, issued, search.axioms.keeps) {
                return false;
            }
        }
        if let Op::Await { alternatives, .. } = op {
            let [choice, store] = self.after_reads(reading, &values);
            let further = choice.filter(|_| alternatives > 1).into_iter().chain(store);
            if !further.into_iter().all(|event| self.graph.push(event, issued, search.axioms.keeps)) {
                return false;
            }
            values.extend((alternatives > 1).then_some(Value::from(alternative)));
        }
        self.waiting[thread.index()] = None;
        self.subject.resume(thread, &values);
        true
    }

    /// What an await does after it has read `values`: takes an alternative, and stores.
    fn after_reads(&self, reading: &Reading, values: &[Value]) -> [Option<Event>; 2] {
        let Reading { thread, alternative, .. } = *reading;
        let choice = Event { kind: EventKind::Choose, read: Some(alternative.into()), ..self.blank(thread) };
        let store = self.subject.stores(thread, values, alternative).map(|(loc, value)| {
            let blank = self.blank(thread);
            Event { kind: EventKind::Store, loc: Some(loc), written: Some(value), ..blank }
        });
        [Some(choice), store]
    }

    fn value(&self, loc: Loc, source: Source) -> Value {
        match source {
            Source::Initial => self.subject.initial(loc),
            Source::Write(write) => self.graph.events[write.index()].event.written.expect("a source writes"),
        }
    }

    /// The event of `op` when it reads as `read` does, or nothing if it then is not possible.
    fn completed(&self, axioms: &Axioms, op: Op, read: Event) -> Option<Event> {
        let thread = read.thread;
        let old = read.read.expect("a read has a value");
        Some(match op {
            Op::Load { order, .. } => Event { kind: EventKind::Load, order, ..read },
            Op::Await { .. } => read,
            Op::Lock { order, .. } if old == 0 => {
                Event { kind: EventKind::Lock, order, written: Some(thread.as_holder()), ..read }
            }
            Op::Unlock { order, .. } => {
                let written = self.subject.modify(thread, old);
                let kind = if written.is_some() { EventKind::Unlock } else { EventKind::FailedRmw };
                Event { kind, order, written, ..read }
            }
            Op::Rmw { order, on_failure, .. } => match (self.subject.modify(thread, old), on_failure) {
                (Some(new), _) => Event { kind: EventKind::Rmw, order, written: Some(new), ..read },
                (None, OnFailure::Load(order)) if axioms.failure_is_load => Event { order, ..read },
                (None, _) => Event { kind: EventKind::FailedRmw, order, ..read },
            },
            _ => return None,
        })
    }
}

/// Every choice of one source for each location.
fn combinations(state: &State, locations: &[Loc]) -> Vec<Vec<Source>> {
    locations.iter().fold(vec![Vec::new()], |chosen, &loc| {
        let extend = |sources: Vec<Source>| {
            state.graph.sources(loc).map(move |source| sources.iter().copied().chain([source]).collect())
        };
        chosen.into_iter().flat_map(extend).collect()
    })
}
