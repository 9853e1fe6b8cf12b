//! The memory of RC11: the execution graph so far.
//!
//! Definition: [RC11, Def. 1]. We differ in three ways:
//! 1. A release sequence is that of C++20 and Rust: a write and the read-modify-writes that read from it in a chain.
//! 2. A read-modify-write is one event; given atomicity the axioms say the same of it.
//! 3. Events are added in an order that respects program order and reads-from, so that no value comes out of thin air.
//!
//! Happens-before does not depend on modification order, so each event keeps its own prefix, and coherence comes down to
//! positions in modification order: what happens-before an access bounds its position from below. An event that reads
//! from the newest write, or becomes it, comes before nothing in any relation and breaks no axiom; only for the others
//! the SC axiom is checked; see `psc.rs`.

mod psc;
mod set;

use teetotal_program::{Loc, Order, ThreadId, Value};

use self::set::EventSet;
use crate::event::{EventId, EventKind, Source};

/// The graph of an execution, up to now.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutionGraph {
    events: Vec<GraphEvent>,
    threads: Vec<ThreadView>,
    /// For each location its writes in modification order, without the initial one.
    locations: Vec<Vec<usize>>,
}

/// An event of the graph.
#[derive(Clone, Debug)]
struct GraphEvent {
    thread: ThreadId,
    kind: EventKind,
    loc: Option<Loc>,
    order: Order,
    written: Option<Value>,
    /// Of a read: the position in modification order of the write it read from, by that write; none is the initial one.
    source: Option<usize>,
    reads: bool,
    /// Everything that happens-before it, and itself.
    hb: EventSet,
    /// What an acquire that reads from it synchronizes with, and all that happens-before that.
    released: EventSet,
    /// What the recorder calls it.
    id: EventId,
}

/// What a thread has seen.
#[derive(Clone, Debug, Default)]
struct ThreadView {
    /// What happens-before its next event.
    hb: EventSet,
    /// What its reads have read that did not acquire, and no acquire fence has taken up.
    read: EventSet,
    /// What its newest release fence releases with every later store.
    fenced: EventSet,
}

/// What an event of a location is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewAccess {
    pub(crate) thread: ThreadId,
    pub(crate) kind: EventKind,
    pub(crate) loc: Loc,
    pub(crate) order: Order,
    /// Whether it reads from the write at the position.
    pub(crate) reads: bool,
    /// What it writes directly after the write at the position.
    pub(crate) written: Option<Value>,
    /// A position in modification order: 0 is the initial write.
    pub(crate) position: usize,
}

impl ExecutionGraph {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.threads.clear();
        self.locations.clear();
    }

    fn make_room(&mut self, thread: ThreadId, loc: Option<Loc>) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadView::default);
        }
        if let Some(loc) = loc
            && self.locations.len() <= loc.index()
        {
            self.locations.resize_with(loc.index() + 1, Vec::new);
        }
    }

    /// The newest position in the modification order of `loc`.
    pub(crate) fn newest(&self, loc: Loc) -> usize {
        self.writes(loc).len()
    }

    fn writes(&self, loc: Loc) -> &[usize] {
        self.locations.get(loc.index()).map_or(&[], Vec::as_slice)
    }

    /// What the write at `position` wrote, if it is not the initial one, and what the recorder calls it.
    pub(crate) fn write_at(&self, loc: Loc, position: usize) -> Option<(Value, EventId)> {
        let event = &self.events[*self.writes(loc).get(position.checked_sub(1)?)?];
        Some((event.written?, event.id))
    }

    /// The position of what an event has accessed: of its own write, else of what it read.
    fn position_of(&self, event: usize) -> usize {
        let GraphEvent { loc, written, source, .. } = self.events[event];
        let Some(loc) = loc else { return 0 };
        let write = if written.is_some() { Some(event) } else { source };
        write.map_or(0, |write| self.rank(loc, write))
    }

    /// The position of a write.
    fn rank(&self, loc: Loc, write: usize) -> usize {
        1 + self.writes(loc).iter().position(|&other| other == write).expect("a write is in modification order")
    }

    /// The lowest position that coherence allows the next access of `thread` to `loc`.
    pub(crate) fn floor(&self, thread: ThreadId, loc: Loc) -> usize {
        let Some(view) = self.threads.get(thread.index()) else { return 0 };
        let seen = view.hb.iter().filter(|&event| self.events[event].loc == Some(loc));
        seen.map(|event| self.position_of(event)).max().unwrap_or(0)
    }

    /// Whether a read-modify-write reads from the write at `position`, so that no other write can come directly after it.
    pub(crate) fn is_updated(&self, loc: Loc, position: usize) -> bool {
        self.writes(loc).get(position).is_some_and(|&write| self.events[write].reads)
    }

    /// Whether the graph is consistent with an access whose position is not below the [`ExecutionGraph::floor`].
    pub(crate) fn allows(&mut self, access: NewAccess) -> bool {
        if access.written.is_some() && self.is_updated(access.loc, access.position) {
            return false;
        }
        if access.position == self.newest(access.loc) {
            return true;
        }
        let (thread, loc) = (access.thread, access.loc);
        self.make_room(thread, Some(loc));
        let view = self.threads[thread.index()].clone();
        self.access(access, EventId(u32::MAX));
        let is_consistent = self.is_psc_acyclic();
        self.events.pop();
        self.threads[thread.index()] = view;
        let added = self.events.len();
        self.locations[loc.index()].retain(|&write| write != added);
        is_consistent
    }

    /// Adds an access.
    pub(crate) fn access(&mut self, access: NewAccess, id: EventId) {
        let NewAccess { thread, kind, loc, order, reads, written, position } = access;
        self.make_room(thread, Some(loc));
        let event = self.events.len();
        let source = position.checked_sub(1).map(|at| self.locations[loc.index()][at]).filter(|_| reads);
        let read = source.map(|source| self.events[source].released.clone()).unwrap_or_default();
        let view = &mut self.threads[thread.index()];
        if reads {
            if order.acquires() {
                view.hb.add_all(&read);
            } else {
                view.read.add_all(&read);
            }
        }
        view.hb.insert(event);
        let mut released = EventSet::default();
        if written.is_some() {
            released.add_all(if order.releases() { &view.hb } else { &view.fenced });
            // A read-modify-write continues the release sequence of what it reads from.
            released.add_all(&read);
            self.locations[loc.index()].insert(position, event);
        }
        let hb = view.hb.clone();
        self.events.push(GraphEvent { thread, kind, loc: Some(loc), order, written, source, reads, hb, released, id });
    }

    /// Adds an event without a location.
    pub(crate) fn other(&mut self, thread: ThreadId, kind: EventKind, order: Order, id: EventId) {
        self.make_room(thread, None);
        let joined = match kind {
            EventKind::Join(child) => self.threads.get(child.index()).map(|view| view.hb.clone()),
            _ => None,
        };
        let event = self.events.len();
        let view = &mut self.threads[thread.index()];
        if let Some(joined) = joined {
            view.hb.add_all(&joined);
        }
        if kind == EventKind::Fence && order.acquires() {
            let read = std::mem::take(&mut view.read);
            view.hb.add_all(&read);
        }
        view.hb.insert(event);
        if kind == EventKind::Fence && order.releases() {
            view.fenced = view.hb.clone();
        }
        let hb = view.hb.clone();
        if let EventKind::Spawn(child) = kind {
            self.make_room(child, None);
            self.threads[child.index()].hb.add_all(&hb);
        }
        self.events.push(GraphEvent {
            thread,
            kind,
            loc: None,
            order,
            written: None,
            source: None,
            reads: false,
            hb,
            released: EventSet::default(),
            id,
        });
    }

    /// What `position` of the modification order of `loc` is called as the source of a read.
    pub(crate) fn source_at(&self, loc: Loc, position: usize) -> Source {
        self.write_at(loc, position).map_or(Source::Initial, |(_, id)| Source::Write(id))
    }
}
