//! RC11: coherence, atomicity, sequential consistency of SC events, and no values out of thin air.
//!
//! It orders events by what is written (`sb`, `sw`, `hb`) and by what was seen (`rf`, `co`, `fr`, `eco`), and has four
//! axioms: the two orders agree at each location (coherence), nothing comes between the halves of a read-modify-write
//! (atomicity), the sequentially consistent events have an order (SC), and no value comes out of thin air.
//!
//! Definition: [RC11, Def. 1]. We differ in six ways:
//! 1. A read-modify-write is one event and not two; given atomicity, the axioms say the same of it.
//! 2. Initial writes are implicit: they come before everything and nothing before them, so they are on no cycle.
//! 3. A release sequence is that of C++20 and Rust: a write and the read-modify-writes that read from it in a chain. The
//!    paper lets later writes of the same thread continue it.
//! 4. A plain access counts as relaxed, since races are not the question here.
//! 5. A spawn comes before all of its thread and a join after it; a lock acquires and an unlock releases at least. The
//!    beginning and the end of a thread are events without a location. An await is one load for each of its locations and
//!    a global fence is a full one, which allows more than they do.
//! 6. Choices are no events. Exclusive stretches are not looked at; they only take executions away.

use teetotal_memory::relations::{Relation, coherence, from_read, reads_from};
use teetotal_memory::{Event, EventId, EventKind, ModelId, Trace};
use teetotal_program::{Order, ThreadId};

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::rejection::{Axiom, Rejection};

/// Its row.
pub(super) const AXIOMS: Axioms = Axioms {
    model: ModelId::Rc11,
    has_moments: false,
    stores_wait: false,
    failure_is_load: true,
    keeps: |_, _| true,
    judge: |facts| judge(facts.trace(), &order_of),
};

/// Whether RC11 allows `trace`, in which each event has the ordering `order_of` it. [RC11, Def. 1]
pub(super) fn judge(trace: &Trace, order_of: &dyn Fn(&Event) -> Order) -> Result<(), Rejection> {
    let x = Execution::new(trace, order_of);
    let forbid = |axiom, events| Err(Rejection::Cyclic { axiom, events });
    if let Some((a, b)) = x.hb.pairs().find(|&(a, b)| a == b || x.eco.has(b, a)) {
        return forbid(Axiom::Coherence, vec![a, b]);
    }
    if let Some((a, b)) = x.fr.pairs().find(|&(a, b)| x.co.has(b, a)) {
        return forbid(Axiom::Atomicity, vec![a, b]);
    }
    if let Some(events) = x.partial_sc().cycle() {
        return forbid(Axiom::PartialSc, events);
    }
    if let Some(events) = union(&[&x.sb, &x.threads, &x.rf]).cycle() {
        return forbid(Axiom::NoThinAir, events);
    }
    Ok(())
}

/// A trace and its relations.
struct Execution<'t> {
    trace: &'t Trace,
    /// One for each event.
    orders: Vec<Order>,
    /// Sequenced-before: the order within each thread.
    sb: Relation,
    /// What spawns and joins add to it.
    threads: Relation,
    rf: Relation,
    co: Relation,
    fr: Relation,
    /// Happens-before, closed.
    hb: Relation,
    /// Extended coherence: `rf`, `co` and `fr`, closed.
    eco: Relation,
}

impl<'t> Execution<'t> {
    fn new(trace: &'t Trace, order_of: &dyn Fn(&Event) -> Order) -> Self {
        let (rf, co, fr) = (reads_from(trace), coherence(trace), from_read(trace));
        let sb = pairs_where(trace, |(_, a), (_, b)| a.thread == b.thread && a.index < b.index);
        let orders = trace.events().iter().map(order_of).collect();
        let (threads, eco) = (across_threads(trace), union(&[&rf, &co, &fr]).closure());
        let mut execution = Execution { trace, orders, hb: sb.clone(), sb, threads, rf, co, fr, eco };
        execution.hb = union(&[&execution.sb, &execution.threads, &execution.synchronizes_with()]).closure();
        execution
    }

    fn order(&self, id: EventId) -> Order {
        self.orders[id.index()]
    }

    /// Synchronizes-with (`sw`): from a release to an acquire that reads from its release sequence.
    fn synchronizes_with(&self) -> Relation {
        // What is released by which write, and what acquires by which read.
        let releases = pairs_where(self.trace, |(a, event), (write, written)| {
            let by_fence = is_fence(event) && self.sb.has(a, write);
            written.is_write() && self.order(a).releases() && (a == write || by_fence)
        });
        let acquires = pairs_where(self.trace, |(read, seen), (b, event)| {
            let by_fence = is_fence(event) && self.sb.has(read, b);
            seen.is_read() && self.order(b).acquires() && (read == b || by_fence)
        });
        let mut sequences = filter(&self.rf, |_, b| self.trace.event(b).is_write()).closure();
        self.trace.ids().for_each(|(id, _)| sequences.add(id, id));
        compose(&compose(&compose(&releases, &sequences), &self.rf), &acquires)
    }

    /// Partial SC order (`psc`): what the order of sequentially consistent events has to respect.
    fn partial_sc(&self) -> Relation {
        let is_sc = |id| self.order(id) == Order::SeqCst;
        let is_sc_fence = |(id, event): (EventId, &Event)| is_sc(id) && is_fence(event);
        let same_loc = |a, b| self.trace.event(a).loc.is_some_and(|loc| self.trace.event(b).loc == Some(loc));

        let around = self.around_happens_before();
        let here = filter(&self.hb, same_loc);
        // SC-before (`scb`).
        let before = union(&[&self.sb, &around, &here, &self.co, &self.fr]);

        let first = pairs_where(self.trace, |a, (b, _)| a.0 == b && is_sc(b) || is_sc_fence(a) && self.hb.has(a.0, b));
        let last = pairs_where(self.trace, |(a, _), b| a == b.0 && is_sc(a) || is_sc_fence(b) && self.hb.has(a, b.0));
        let base = compose(&compose(&first, &before), &last);

        let seen = compose(&compose(&self.hb, &self.eco), &self.hb);
        let fence = filter(&union(&[&self.hb, &seen]), |a, b| {
            [a, b].into_iter().all(|id| is_sc_fence((id, self.trace.event(id))))
        });
        union(&[&base, &fence])
    }
}

impl Execution<'_> {
    /// `sb≠ ; hb ; sb≠`: program order between different locations around happens-before.
    fn around_happens_before(&self) -> Relation {
        let trace = self.trace;
        let is_event = |id: EventId| trace.event(id).kind != EventKind::Choose;
        let same_loc =
            |a: EventId, b: EventId| trace.event(a).loc.is_some() && trace.event(a).loc == trace.event(b).loc;
        let elsewhere = filter(&self.sb, |a, b| is_event(a) && is_event(b) && !same_loc(a, b));
        let mut around = compose(&compose(&elsewhere, &self.hb), &elsewhere);
        // The beginning and the end of a thread stand beside the spawn and the joins that they are ordered with.
        let of = |thread: ThreadId| move |&(_, event): &(EventId, &Event)| event.thread == thread;
        let threads = || (0..trace.n_threads()).map(ThreadId::at);
        for ended in threads() {
            let joins = trace.ids().filter(|(_, event)| event.kind == EventKind::Join(ended)).map(|(id, _)| id);
            for join in joins {
                for (first, _) in trace.ids().filter(of(ended)).filter(|&(id, _)| is_event(id)) {
                    let later = trace.ids().map(|(id, _)| id).filter(|&id| id == join || self.hb.has(join, id));
                    for (_, last) in later.flat_map(|id| elsewhere.pairs().filter(move |pair| pair.0 == id)) {
                        around.add(first, last);
                    }
                    for begun in threads() {
                        let spawn = trace.ids().find(|(_, event)| event.kind == EventKind::Spawn(begun));
                        if spawn.is_some_and(|(spawn, _)| self.hb.has(join, spawn)) {
                            trace.ids().filter(of(begun)).for_each(|(last, _)| around.add(first, last));
                        }
                    }
                }
            }
        }
        for begun in threads() {
            let Some((spawn, _)) = trace.ids().find(|(_, event)| event.kind == EventKind::Spawn(begun)) else {
                continue;
            };
            for (first, left) in elsewhere.pairs() {
                if left == spawn || self.hb.has(left, spawn) {
                    trace.ids().filter(of(begun)).for_each(|(last, _)| around.add(first, last));
                }
            }
        }
        around
    }
}

/// The ordering of an event: a lock acquires and an unlock releases at least.
pub(super) fn order_of(event: &Event) -> Order {
    match event.kind {
        EventKind::Load | EventKind::Store | EventKind::Rmw | EventKind::FailedRmw => event.order,
        EventKind::Fence | EventKind::GlobalFence => event.order,
        EventKind::Lock => match event.order {
            Order::Plain | Order::Relaxed => Order::Acquire,
            Order::Release => Order::AcqRel,
            order => order,
        },
        EventKind::Unlock => match event.order {
            Order::Plain | Order::Relaxed => Order::Release,
            Order::Acquire => Order::AcqRel,
            order => order,
        },
        EventKind::Spawn(_) | EventKind::Join(_) | EventKind::Choose => Order::Relaxed,
    }
}

fn is_fence(event: &Event) -> bool {
    matches!(event.kind, EventKind::Fence | EventKind::GlobalFence)
}

/// From each spawn to its thread, from that to each join, and from the spawn to the join.
fn across_threads(trace: &Trace) -> Relation {
    // A thread is started once; whoever spawns it again fails.
    let is_start =
        |id, child| trace.ids().find(|(_, e)| e.kind == EventKind::Spawn(child)).is_some_and(|(s, _)| s == id);
    pairs_where(trace, |(a, first), (_, second)| match (first.kind, second.kind) {
        (EventKind::Spawn(child), EventKind::Join(joined)) if child == joined => is_start(a, child),
        (EventKind::Spawn(child), _) if child == second.thread => is_start(a, child),
        (_, EventKind::Join(joined)) => joined == first.thread,
        _ => false,
    })
}

/// The pairs of events that are `related`.
fn pairs_where(trace: &Trace, related: impl Fn((EventId, &Event), (EventId, &Event)) -> bool) -> Relation {
    let mut relation = Relation::empty(trace.events().len());
    for a in trace.ids() {
        trace.ids().filter(|&b| related(a, b)).for_each(|b| relation.add(a.0, b.0));
    }
    relation
}

/// The pairs of `relation` to `keep`.
fn filter(relation: &Relation, keep: impl Fn(EventId, EventId) -> bool) -> Relation {
    let mut kept = Relation::empty(relation.n_events());
    relation.pairs().filter(|&(a, b)| keep(a, b)).for_each(|(a, b)| kept.add(a, b));
    kept
}

fn union(relations: &[&Relation]) -> Relation {
    let mut all = Relation::empty(relations[0].n_events());
    relations.iter().for_each(|relation| all.add_all(relation));
    all
}

/// `first; second`: the pairs with an event between them.
fn compose(first: &Relation, second: &Relation) -> Relation {
    let mut composed = Relation::empty(first.n_events());
    for (a, b) in first.pairs() {
        let ends = (0..first.n_events()).map(EventId::at).filter(|&c| second.has(b, c));
        ends.for_each(|c| composed.add(a, c));
    }
    composed
}
