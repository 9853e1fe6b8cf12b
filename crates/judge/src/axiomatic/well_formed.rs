//! What every trace fulfils, whatever the model: reads return what was written, and each event is what its kind says.

use teetotal_memory::{Event, EventKind, Source, Trace};
use teetotal_program::{Loc, Value};

use crate::axiomatic::rejection::Rejection;

/// Whether each event of `trace` makes sense on its own and with its source.
pub(super) fn is_well_formed(trace: &Trace, initial: impl Fn(Loc) -> Value, locks: Locks) -> Result<(), Rejection> {
    for (id, event) in trace.ids() {
        let fault = wrong_parts(event, locks).or_else(|| wrong_source(trace, event, &initial));
        if let Some(what) = fault {
            return Err(Rejection::Malformed { event: id, what });
        }
    }
    Ok(())
}

/// What locks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Locks {
    /// Free, or held by one thread.
    Held,
    /// Whatever the code makes of them.
    OfCode,
}

/// What an event of its kind lacks or should not have.
fn wrong_parts(event: &Event, locks: Locks) -> Option<&'static str> {
    let (accesses, reads, writes) = match event.kind {
        EventKind::Load | EventKind::FailedRmw => (true, true, false),
        EventKind::Store => (true, false, true),
        EventKind::Rmw | EventKind::Lock | EventKind::Unlock => (true, true, true),
        EventKind::Choose => return event.loc.map(|_| "is a choice but has a location"),
        EventKind::Fence | EventKind::GlobalFence | EventKind::Spawn(_) | EventKind::Join(_) => (false, false, false),
    };
    let holder = Some(event.thread.as_holder());
    match event.kind {
        _ if event.loc.is_some() != accesses => {
            Some("has a location where its kind has none, or none where it has one")
        }
        _ if event.read.is_some() != reads || event.source.is_some() != reads => Some("reads against its kind"),
        _ if event.written.is_some() != writes => Some("writes against its kind"),
        _ if locks == Locks::OfCode => None,
        EventKind::Lock if (event.read, event.written) != (Some(0), holder) => Some("takes a lock that is not free"),
        EventKind::Unlock if (event.read, event.written) != (holder, Some(0)) => Some("frees a lock it does not hold"),
        _ => None,
    }
}

/// What is wrong with where it read from.
fn wrong_source(trace: &Trace, event: &Event, initial: impl Fn(Loc) -> Value) -> Option<&'static str> {
    let (source, loc) = (event.source?, event.loc?);
    let found = match source {
        Source::Initial => initial(loc),
        Source::Write(write) => match trace.events().get(write.index()) {
            Some(write) if write.loc == Some(loc) && write.written.is_some() => write.written?,
            _ => return Some("reads from something that is no write to its location"),
        },
    };
    (event.read != Some(found)).then_some("does not read the value that its source wrote")
}
