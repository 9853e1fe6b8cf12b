//! A trace laid out for judging: places, coherence positions, and the order that a model makes of them.

use teetotal_memory::relations::{self, Relation};
use teetotal_memory::{EventId, EventKind, Source, Trace};
use teetotal_program::Loc;

use crate::axiomatic::global_fence;
use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::placed::{Placed, place_all};
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Which program order from a store to a later event of its thread a model keeps.
pub(super) type Keeps = fn(&Placed, &Placed) -> bool;

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
    pub(super) fn new(trace: &'t Trace) -> Self {
        let mut threads = vec![Vec::new(); trace.n_threads()];
        trace.ids().for_each(|(id, event)| threads[event.thread.index()].push(id));
        let mut positions = vec![0; trace.events().len()];
        for loc in 0..trace.n_locations() {
            let writes = trace.coherence(Loc::at(loc));
            writes.iter().enumerate().for_each(|(position, write)| positions[write.index()] = position + 1);
        }
        Facts { trace, placed: place_all(trace), threads, positions }
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
        let is_fence = |placed: &&Placed| placed.event.kind == EventKind::GlobalFence;
        if !self.placed.iter().any(|placed| is_fence(&placed)) {
            return Ok(());
        }
        let mut order = PartialOrder::new(self.placed.len());
        for (from, to) in self.order(keeps).pairs() {
            let fits = order.add(from.index(), to.index());
            assert!(fits, "an order was found to have no cycle, but has one");
        }
        if global_fence::fits(&self.placed, order) {
            return Ok(());
        }
        let fences = self.trace.ids().filter(|(_, event)| event.kind == EventKind::GlobalFence);
        Err(Rejection::PendingAtGlobalFence { fences: fences.map(|(id, _)| id).collect() })
    }

    /// The order of moments: kept program order, spawn and join, external reads-from, coherence, from-read.
    fn order(&self, keeps: Keeps) -> Relation {
        let mut order = Relation::empty(self.placed.len());
        let mut relate = |from: EventId, to: EventId| {
            let (from, to) = (self.placed[from.index()].moment, self.placed[to.index()].moment);
            order.add(EventId::at(from), EventId::at(to));
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
        self.forks().for_each(|(from, to)| relate(from, to));
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
    fn forks(&self) -> impl Iterator<Item = (EventId, EventId)> + '_ {
        let none: &[EventId] = &[];
        let events = move |thread: usize| self.threads.get(thread).map_or(none, Vec::as_slice).iter().copied();
        let is_spawn = |event: &teetotal_memory::Event, child| event.kind == EventKind::Spawn(child);
        self.trace.ids().flat_map(move |(id, event)| {
            let (child, is_join) = match event.kind {
                EventKind::Spawn(child) => (child, false),
                EventKind::Join(child) => (child, true),
                _ => (event.thread, false),
            };
            let own = child == event.thread;
            let first = events(child.index()).next();
            let earlier = &self.trace.events()[..id.index()];
            let late = !is_join && (first.is_some_and(|f| f < id) || earlier.iter().any(|e| is_spawn(e, child)));
            let related = events(if own || late { usize::MAX } else { child.index() });
            related.map(move |other| if is_join { (other, id) } else { (id, other) })
        })
    }
}

/// The shortest cycle through `start`, which lies on one.
fn shortest_through(relation: &Relation, start: EventId) -> Vec<EventId> {
    let mut previous: Vec<Option<EventId>> = vec![None; relation.n_events()];
    let mut queue = std::collections::VecDeque::from([start]);
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
