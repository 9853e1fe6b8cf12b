//! The events of a cycle: where they are, what they write, and what each read is to find.

use crate::litmus::cycles::CycleError;
use crate::litmus::cycles::edge::{Access, Barrier, Edge, Relation};

/// The execution that a cycle describes, as far as it describes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Skeleton {
    /// In the order of the cycle, and so in program order inside a thread.
    pub(super) events: Vec<Event>,
    pub(super) places: Vec<Location>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Event {
    pub(super) access: Access,
    pub(super) thread: usize,
    pub(super) location: usize,
    /// 0 where it writes nothing.
    pub(super) value: u64,
    /// What the condition says that it reads, if it says anything.
    pub(super) read: Option<Source>,
    /// The fence between it and the next event of its thread.
    pub(super) barrier: Option<Barrier>,
}

/// Where a read gets its value from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    /// The initial value, which is 0.
    Initial,
    /// The event with this number.
    Event(usize),
}

/// A location with the events that write it, at most two.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Location {
    /// In the order of their values.
    pub(super) writes: Vec<usize>,
    /// Whether the condition says that the last of them wrote last.
    pub(super) is_final_shown: bool,
}

/// Pairs of writes, the first of which is to come first.
type Orders = Vec<(usize, usize)>;

impl Skeleton {
    /// Of edges that fit each other, the last of which leads to another thread.
    pub(super) fn new(edges: &[Edge]) -> Result<Self, CycleError> {
        let n_locations = edges.iter().filter(|edge| edge.leaves_location()).count();
        if n_locations == 1 {
            return Err(CycleError::NoWayBack);
        }
        let n_locations = n_locations.max(1);
        let mut events = blank_events(edges, n_locations);
        let locations: Vec<usize> = events.iter().map(|event| event.location).collect();
        let mut places = vec![Location::default(); n_locations];
        for (at, event) in events.iter().enumerate().filter(|(_, event)| event.access.writes()) {
            places[event.location].writes.push(at);
        }
        if places.iter().any(|place| place.writes.len() > 2) {
            return Err(CycleError::ManyWrites);
        }
        // Round one location, what was there before may be what comes after; then a read finds the initial value.
        let (sources, orders) = [nearest_sources(edges, &events), far_sources(edges)]
            .into_iter()
            .find_map(|sources| orders(edges, &sources).map(|orders| (sources, orders)))
            .ok_or(CycleError::Contradiction)?;
        for (first, second) in orders {
            places[locations[first]] = Location { writes: vec![first, second], is_final_shown: true };
        }
        for place in &places {
            for (&at, value) in place.writes.iter().zip(1..) {
                events[at].value = value;
            }
        }
        for (at, event) in events.iter_mut().enumerate() {
            let shown = event.access == Access::Read || into(edges, at).relation == Relation::ReadsFrom;
            event.read = sources[at].filter(|_| shown && event.access.reads());
        }
        Ok(Skeleton { events, places })
    }

    /// The value of a source.
    pub(super) fn value(&self, source: Source) -> u64 {
        match source {
            Source::Initial => 0,
            Source::Event(at) => self.events[at].value,
        }
    }
}

/// The edge that leads to event `at`.
fn into(edges: &[Edge], at: usize) -> Edge {
    edges[(at + edges.len() - 1) % edges.len()]
}

/// Threads and locations alone.
fn blank_events(edges: &[Edge], n_locations: usize) -> Vec<Event> {
    let (mut thread, mut location) = (0, 0);
    let mut events = Vec::new();
    for edge in edges {
        let barrier = match edge.relation {
            Relation::ProgramOrder(_, barrier) => barrier,
            _ => None,
        };
        events.push(Event { access: edge.from, thread, location, value: 0, read: None, barrier });
        thread += usize::from(edge.is_external());
        location = (location + usize::from(edge.leaves_location())) % n_locations;
    }
    events
}

/// Each read finds the nearest write before it in the cycle.
fn nearest_sources(edges: &[Edge], events: &[Event]) -> Vec<Option<Source>> {
    let mut sources = vec![None; edges.len()];
    // Begin where a location does, so that what is before an event is known.
    let start = edges.iter().position(Edge::leaves_location).map_or(0, |at| at + 1);
    let mut before = Source::Initial;
    for at in (0..edges.len()).map(|offset| (start + offset) % edges.len()) {
        if into(edges, at).leaves_location() {
            before = Source::Initial;
        }
        if into(edges, at).relation == Relation::ReadsFrom {
            before = Source::Event((at + edges.len() - 1) % edges.len());
        }
        if events[at].access.reads() {
            sources[at] = Some(before);
        }
        if events[at].access.writes() {
            before = Source::Event(at);
        }
    }
    sources
}

/// Each read finds the initial value, unless an edge says otherwise.
fn far_sources(edges: &[Edge]) -> Vec<Option<Source>> {
    let source = |at: usize| match into(edges, at).relation {
        Relation::ReadsFrom => Source::Event((at + edges.len() - 1) % edges.len()),
        _ => Source::Initial,
    };
    (0..edges.len()).map(|at| edges[at].from.reads().then(|| source(at))).collect()
}

/// The orders of writes that the edges demand, none of them both ways; `None` where they contradict each other.
fn orders(edges: &[Edge], sources: &[Option<Source>]) -> Option<Orders> {
    let mut orders = Orders::new();
    for (at, edge) in edges.iter().enumerate() {
        let next = (at + 1) % edges.len();
        let first = match (edge.relation, sources[at]) {
            (Relation::Coherence, _) => at,
            (Relation::FromRead, Some(Source::Event(source))) => source,
            _ => continue,
        };
        if first == next || orders.contains(&(next, first)) {
            return None;
        }
        orders.push((first, next));
    }
    Some(orders)
}
