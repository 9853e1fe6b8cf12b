//! A trace laid out for judging: places, coherence positions, and the order that a model makes of them.

use std::collections::VecDeque;

use teetotal_memory::relations::{self, Relation};
use teetotal_memory::{EventId, EventKind, ModelId, Source, Trace};
use teetotal_program::Loc;

use crate::axiomatic::global_fence;
use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::placed::{Placed, place_all};
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Which program order from a store to a later event of its thread a model keeps.
pub(crate) type Keeps = fn(&Placed, &Placed) -> bool;

/// What the axioms look at.
pub(super) struct Facts<'t> {
    trace: &'t Trace,
    placed: Vec<Placed>,
    /// For each thread its events in program order.
    threads: Vec<Vec<EventId>>,
    /// For each write its position in the coherence order of its location, from 1.
    positions: Vec<usize>,
}

impl<'t> Facts<'t> {
    pub(super) fn new(model: ModelId, trace: &'t Trace) -> Self {
        let mut threads = vec![Vec::new(); trace.n_threads()];
        trace.ids().for_each(|(id, event)| threads[event.thread.index()].push(id));
        let mut positions = vec![0; trace.events().len()];
        for loc in 0..trace.n_locations() {
            let writes = trace.coherence(Loc::at(loc));
            writes.iter().enumerate().for_each(|(position, write)| positions[write.index()] = position + 1);
        }
        Facts { trace, placed: place_all(model, trace), threads, positions }
    }

    /// What is judged.
    pub(super) fn trace(&self) -> &Trace {
        self.trace
    }

    /// Whether no communication goes against program order on one location: TSO2 of [SOBER, Def. 3].
    pub(super) fn is_coherent(&self) -> Result<(), Rejection> {
        for thread in &self.threads {
            for (index, &first) in thread.iter().enumerate() {
                if self.placed[first.index()].event.loc.is_none() {
                    continue;
                }
                if let Some(&second) = thread[index + 1..].iter().find(|&&second| self.communicates(second, first)) {
                    return Err(Rejection::Cyclic { axiom: Axiom::Coherence, events: vec![first, second] });
                }
            }
        }
        Ok(())
    }

    /// Whether `to` comes after `from` in reads-from, coherence or from-read.
    fn communicates(&self, from: EventId, to: EventId) -> bool {
        let (a, b) = (self.trace.event(from), self.trace.event(to));
        if a.loc != b.loc {
            return false;
        }
        let seen = |source| match source {
            Source::Initial => 0,
            Source::Write(write) => self.positions[write.index()],
        };
        let after = self.positions[to.index()];
        let reads_from = b.source == Some(Source::Write(from));
        let coherence = b.is_write() && a.is_write() && self.positions[from.index()] < after;
        let from_read = b.is_write() && a.source.is_some_and(|source| seen(source) < after);
        reads_from || coherence || from_read
    }

    /// Whether the order that `keeps` makes of the trace has no cycle.
    pub(super) fn is_acyclic(&self, axiom: Axiom, keeps: Keeps) -> Result<(), Rejection> {
        let order = self.order(keeps);
        match order.cycle() {
            None => Ok(()),
            Some(cycle) => Err(Rejection::Cyclic { axiom, events: shortest_through(&order, cycle[0]) }),
        }
    }

    /// Whether the stores of other threads can be placed around each global fence. The order has no cycle.
    pub(super) fn fits_global_fences(&self, keeps: Keeps) -> Result<(), Rejection> {
        let events = self.trace.ids().filter(|(_, event)| event.kind == EventKind::GlobalFence);
        let fences: Vec<EventId> = events.map(|(id, _)| id).collect();
        if fences.is_empty() || self.fits_as_performed(keeps, &fences) {
            return Ok(());
        }
        let mut order = PartialOrder::new(self.placed.len());
        for (from, to) in self.order(keeps).pairs() {
            let fits = order.add(from.index(), to.index());
            assert!(fits, "an order was found to have no cycle, but has one");
        }
        if global_fence::fits(&self.placed, order) { Ok(()) } else { Err(Rejection::PendingAtGlobalFence { fences }) }
    }

    /// Whether each store may be in memory at those global fences that come after it in the trace.
    ///
    /// This is one way to place the stores, and the right one where the order of the trace is that of an execution, so
    /// that no search is needed to accept a long one.
    fn fits_as_performed(&self, keeps: Keeps, fences: &[EventId]) -> bool {
        let mut order = self.order(keeps);
        let moment = |id: EventId| EventId::at(self.placed[id.index()].moment);
        for &fence in fences {
            let own = self.trace.event(fence).thread;
            for (_, thread) in self.threads.iter().enumerate().filter(|(index, _)| *index != own.index()) {
                let is_store = |&&id: &&EventId| self.trace.event(id).is_store();
                thread.iter().filter(is_store).filter(|&&id| id < fence).for_each(|&id| order.add(id, fence));
                // What is issued with the first store after the fence comes after the fence too.
                let next = thread.iter().find(|id| is_store(id) && **id > fence);
                let issued = next.map_or(usize::MAX, |id| self.placed[id.index()].issued);
                thread.iter().filter(|id| id.index() >= issued).for_each(|&id| order.add(fence, moment(id)));
            }
        }
        order.is_acyclic()
    }

    /// The order of moments: kept program order, spawn and join, external reads-from, coherence, from-read.
    pub(super) fn order(&self, keeps: Keeps) -> Relation {
        let mut order = Relation::empty(self.placed.len());
        let mut relate = |from: EventId, to: EventId| {
            let (from, to) = (self.placed[from.index()].moment, self.placed[to.index()].moment);
            // What happens at one moment cannot be out of order with itself.
            if from != to {
                order.add(EventId::at(from), EventId::at(to));
            }
        };
        for thread in &self.threads {
            for (index, &first) in thread.iter().enumerate() {
                let earlier = &self.placed[first.index()];
                for &second in &thread[index + 1..] {
                    let later = &self.placed[second.index()];
                    if earlier.moment != later.moment && (earlier.is_immediate() || keeps(earlier, later)) {
                        relate(first, second);
                    }
                }
            }
        }
        self.forks().into_iter().for_each(|(from, to)| relate(from, to));
        let external =
            |(write, read): &(EventId, EventId)| self.trace.event(*write).thread != self.trace.event(*read).thread;
        relations::reads_from(self.trace).pairs().filter(external).for_each(|(from, to)| relate(from, to));
        relations::coherence(self.trace).pairs().for_each(|(from, to)| relate(from, to));
        relations::from_read(self.trace).pairs().for_each(|(from, to)| relate(from, to));
        order
    }

    /// From each spawn to what the thread does, and from what a thread did to each join.
    ///
    /// A spawn that comes too late, because the thread runs already, starts nothing; that is the one place where the
    /// order of the trace counts.
    fn forks(&self) -> Vec<(EventId, EventId)> {
        let mut started = vec![false; self.threads.len()];
        let mut forks = Vec::new();
        for (id, event) in self.trace.ids() {
            started[event.thread.index()] = true;
            let (EventKind::Spawn(child) | EventKind::Join(child)) = event.kind else { continue };
            let Some(events) = self.threads.get(child.index()) else { continue };
            if event.kind == EventKind::Join(child) {
                forks.extend(events.iter().map(|&earlier| (earlier, id)));
            } else if !std::mem::replace(&mut started[child.index()], true) {
                forks.extend(events.iter().map(|&later| (id, later)));
            }
        }
        forks
    }
}

/// The shortest cycle through `start`, which lies on one.
fn shortest_through(relation: &Relation, start: EventId) -> Vec<EventId> {
    let mut previous: Vec<Option<EventId>> = vec![None; relation.n_events()];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for to in (0..relation.n_events()).map(EventId::at).filter(|&to| relation.has(at, to)) {
            if to == start {
                let mut cycle: Vec<EventId> =
                    std::iter::successors(Some(at), |&e| (e != start).then(|| previous[e.index()]).flatten()).collect();
                cycle.reverse();
                return cycle;
            }
            if previous[to.index()].is_none() {
                previous[to.index()] = Some(at);
                queue.push_back(to);
            }
        }
    }
    vec![start]
}
