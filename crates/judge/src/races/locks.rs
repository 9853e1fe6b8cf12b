//! Which locks each event of a trace is performed under.

use std::collections::BTreeSet;

use teetotal_memory::{EventKind, Trace};
use teetotal_program::Loc;

/// For each event the locks that its thread holds.
pub(super) fn held(trace: &Trace) -> Vec<BTreeSet<Loc>> {
    let mut holding: Vec<BTreeSet<Loc>> = vec![BTreeSet::new(); trace.n_threads()];
    let mut held = Vec::with_capacity(trace.events().len());
    for event in trace.events() {
        let own = &mut holding[event.thread.index()];
        match (event.kind, event.loc) {
            (EventKind::Lock, Some(loc)) => drop(own.insert(loc)),
            (EventKind::Unlock, Some(loc)) => drop(own.remove(&loc)),
            _ => {}
        }
        held.push(own.clone());
    }
    held
}
