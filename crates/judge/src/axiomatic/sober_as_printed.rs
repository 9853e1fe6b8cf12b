//! The axioms of TSO exactly as Sober prints them, to show what they miss: the machine's own trace of n6, and others.
//!
//! Definition: [SOBER, Def. 3]. Clause (2) of conflict puts a load after every write up to the one it read from. That is
//! too strict where the load forwards a store of its own thread: foreign writes that reach memory before that store may
//! do so after the load. Use [`crate::axiomatic::accepts`] for the corrected axioms.

use teetotal_memory::relations::{Relation, program_order};
use teetotal_memory::{Event, EventId, EventKind, Source, Trace};
use teetotal_program::Loc;

/// Whether [SOBER, Def. 3] as printed allows `trace`.
///
/// It knows stores, loads and interlocked operations; other events are ordered as interlocked operations without a
/// location.
#[must_use]
pub fn accepts_as_sober_printed(trace: &Trace) -> bool {
    let order = program_order(trace);
    let conflict = conflict_order(trace);
    let goes_back = order.pairs().any(|(first, second)| conflict.has(second, first));
    let mut relaxed = Relation::empty(trace.events().len());
    for (first, second) in order.pairs().chain(conflict.pairs()) {
        let (store, later) = (trace.event(first), trace.event(second));
        let is_passed = later.kind == EventKind::Load || later.is_acquiring_join() && later.thread == store.thread;
        let store_then_load = store.is_store() && is_passed;
        if !(store_then_load && order.has(first, second)) {
            relaxed.add(first, second);
        }
    }
    !goes_back && relaxed.is_acyclic()
}

/// `e →c e'`: one location, and (1) `e'` writes and `c(e) < c(e')`, or (2) `e` writes, `e'` loads and `c(e) ≤ c(e')`.
fn conflict_order(trace: &Trace) -> Relation {
    let mut conflict = Relation::empty(trace.events().len());
    for loc in (0..trace.n_locations()).map(Loc::at) {
        let writes = trace.coherence(loc);
        let index = |id: EventId, event: &Event| coherence_index(&writes, id, event);
        for (a, first) in trace.ids().filter(|(_, e)| e.loc == Some(loc)) {
            for (b, second) in trace.ids().filter(|(_, e)| e.loc == Some(loc)) {
                let (before, after) = (index(a, first), index(b, second));
                let to_write = second.is_write() && before < after;
                let to_load = first.is_write() && !second.is_write() && before <= after;
                if to_write || to_load {
                    conflict.add(a, b);
                }
            }
        }
    }
    conflict
}

/// `c(e)`: the position of a write among the writes to its location, from 1; for a load that of its source, or 0.
fn coherence_index(writes: &[EventId], id: EventId, event: &Event) -> usize {
    let position = |write| writes.iter().position(|&w| w == write).map_or(0, |position| position + 1);
    match event.source {
        _ if event.is_write() => position(id),
        Some(Source::Write(write)) => position(write),
        _ => 0,
    }
}
