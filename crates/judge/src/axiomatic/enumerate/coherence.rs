//! Chooses the order in which writes reach memory, and hands over the executions that come of it.

use std::ops::ControlFlow;

use teetotal_memory::{Event, EventId, EventKind, Recorder, Source, Step, Trace};
use teetotal_program::{Loc, Op, Subject, Value};

use crate::axiomatic::enumerate::Execution;
use crate::axiomatic::enumerate::search::{Search, State, Stop};
use crate::axiomatic::global_fence;
use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::rc11;

/// For each location the writes to it, in the order in which they reach memory.
type Coherence = Vec<Vec<usize>>;

impl<V: FnMut(Execution) -> ControlFlow<()>> Search<V> {
    /// Visits every execution with the events and sources of `state`.
    pub(super) fn choose_coherence(&mut self, state: &State) -> Result<(), Stop> {
        let mut left: Coherence = (0..self.n_locations).map(|loc| state.graph.writes(Loc::at(loc)).collect()).collect();
        let mut chosen = vec![Vec::new(); self.n_locations];
        self.place_next(state, state.graph.order.clone(), &mut left, &mut chosen)
    }

    /// Places each of the writes `left` that may be next after those `chosen`, location by location.
    fn place_next(
        &mut self,
        state: &State,
        order: PartialOrder,
        left: &mut Coherence,
        chosen: &mut Coherence,
    ) -> Result<(), Stop> {
        let Some(loc) = left.iter().position(|writes| !writes.is_empty()) else {
            return self.hand_over(state, order, chosen);
        };
        for index in 0..left[loc].len() {
            let write = left[loc][index];
            let moment = |write: usize| state.graph.moment(write);
            let waits = |&other: &usize| order.precedes(moment(other), moment(write));
            if state.has_moments() && left[loc].iter().any(waits) {
                continue;
            }
            let mut order = order.clone();
            if !state.put_next(&mut order, Loc::at(loc), chosen[loc].last().copied(), write) {
                continue;
            }
            left[loc].remove(index);
            chosen[loc].push(write);
            self.place_next(state, order, left, chosen)?;
            chosen[loc].pop();
            left[loc].insert(index, write);
        }
        Ok(())
    }

    fn hand_over(&mut self, state: &State, order: PartialOrder, coherence: &Coherence) -> Result<(), Stop> {
        let fences = !self.axioms.stores_wait || global_fence::fits(&state.graph.events, order);
        if !fences || !state.is_blocked_at(coherence) {
            return Ok(());
        }
        let execution = Execution { trace: recorded(state, coherence), subject: state.subject.clone() };
        if !state.has_moments() && rc11::judge(&execution.trace, &rc11::order_of).is_err() {
            return Ok(());
        }
        match (self.visit)(execution) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Visitor),
        }
    }
}

impl State {
    fn has_moments(&self) -> bool {
        self.graph.has_moments
    }

    /// Lets `write` be the one after `previous` in the coherence order of `loc`, so that what read that comes before it.
    fn put_next(&self, order: &mut PartialOrder, loc: Loc, previous: Option<usize>, write: usize) -> bool {
        let source = previous.map_or(Source::Initial, |previous| Source::Write(EventId::at(previous)));
        if !self.has_moments() {
            // A read-modify-write comes directly after what it reads from.
            return self.graph.events[write].event.source.is_none_or(|read| read == source);
        }
        let readers = self.graph.events.iter();
        let write = self.graph.moment(write);
        let mut readers =
            readers.filter(|e| e.event.loc == Some(loc) && e.event.source == Some(source) && e.moment != write);
        previous.is_none_or(|previous| order.add(self.graph.moment(previous), write))
            && readers.all(|e| order.add(e.moment, write))
    }

    /// Whether each thread that has not ended stands at something that the final memory makes impossible.
    fn is_blocked_at(&self, coherence: &Coherence) -> bool {
        let memory = |loc: Loc| -> Value {
            let last = coherence[loc.index()].last();
            last.map_or(self.subject.initial(loc), |&w| self.graph.events[w].event.written.expect("a write writes"))
        };
        self.ready().all(|(thread, op)| match op {
            Op::Lock { loc, .. } => memory(loc) != 0,
            Op::Await { alternatives, .. } => {
                let values: Vec<Value> = self.locations_read(thread, op).into_iter().map(memory).collect();
                !(0..alternatives).any(|alternative| self.subject.accepts(thread, &values, alternative))
            }
            // It goes on as soon as the thread has finished, so that one has not.
            Op::Join { .. } => true,
            _ => false,
        })
    }
}

/// The trace of an execution: all events, then all commits.
fn recorded(state: &State, coherence: &Coherence) -> Trace {
    let mut trace = Trace::default();
    for (id, placed) in state.graph.events.iter().enumerate() {
        if placed.issued == id {
            trace.step(issue(&placed.event));
        }
        Recorder::event(&mut trace, placed.event);
    }
    for (loc, writes) in coherence.iter().enumerate() {
        for &write in writes {
            trace.step(Step::Commit { thread: state.graph.events[write].event.thread, loc: Loc::at(loc) });
            trace.committed(EventId::at(write));
        }
    }
    trace
}

fn issue(event: &Event) -> Step {
    let alternative = match event.kind {
        EventKind::Choose => event.read.unwrap_or(0) as u32,
        _ => 0,
    };
    Step::Issue { thread: event.thread, alternative }
}
