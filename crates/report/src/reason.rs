//! Why a stronger model does not allow an execution, in one line.

use teetotal_judge::axiomatic::{Rejection, accepts};
use teetotal_memory::{Event, EventKind, ModelId, Trace};
use teetotal_program::Loc;
use teetotal_program::ir::Program;

use crate::words;

/// Returns why `trace` is impossible under `stronger`; `None` if that model allows it.
///
/// By the axioms of the stronger model there is a cycle in which each event comes before the next. Some events of one
/// thread reached memory in another order than in the cycle: these are named.
pub(crate) fn reason(program: &Program, trace: &Trace, stronger: ModelId) -> Option<String> {
    let initial = |loc: Loc| program.locations[loc.index()].initial;
    let events: Vec<&Event> = match accepts(stronger, trace, initial).err()? {
        Rejection::Cyclic { events, .. } => events.into_iter().map(|id| trace.event(id)).collect(),
        Rejection::PendingAtGlobalFence { .. } => return Some("a store was pending at a global fence".to_owned()),
        Rejection::Malformed { .. } => return None,
    };
    let next = events.iter().cycle().skip(1);
    let turned: Vec<String> = events
        .iter()
        .zip(next)
        .filter(|(first, second)| first.thread == second.thread && moment(first) > moment(second))
        .map(|(first, second)| overtaking(program, first, second))
        .collect();
    let only_writes = events.iter().all(|event| event.is_write() && !event.is_read());
    let remark = if only_writes { "; only the final memory shows it" } else { "" };
    (!turned.is_empty()).then(|| format!("{}{remark}", words::list(&turned)))
}

/// Returns the first store that waited in its buffer while another thread performed something.
///
/// It is the reason if the axioms have none: they do not express that no other thread runs during an atomic section.
pub(crate) fn late_store(program: &Program, trace: &Trace) -> Option<String> {
    let steps = trace.steps();
    let is_late = |event: &&Event| {
        let until = event.committed.map_or(steps.len(), |step| step as usize);
        let waited = steps.get(event.step as usize + 1..until).unwrap_or_default();
        event.is_store() && waited.iter().any(|record| record.step.thread() != event.thread)
    };
    trace.events().iter().find(is_late).map(|store| {
        let place = store.loc.map_or("memory", |loc| program.location_name(loc));
        let thread = &program.threads[store.thread.index()].name;
        format!("the store of {place} in {thread} was still buffered when another thread continued")
    })
}

/// Returns the position of the moment of an event: a store that never left its buffer comes last.
fn moment(event: &Event) -> u32 {
    if event.is_store() { event.committed.unwrap_or(u32::MAX) } else { event.step }
}

/// Describes that `second` came before `first`, an earlier store of the same thread.
fn overtaking(program: &Program, first: &Event, second: &Event) -> String {
    let name = |event: &Event| event.loc.map_or("memory", |loc| program.location_name(loc));
    let thread = &program.threads[first.thread.index()].name;
    let (passed, place) = (name(first), name(second));
    match second.kind {
        EventKind::Load if second.forwarded => {
            format!("the load of {place} in {thread} took the store of {passed} from the buffer")
        }
        EventKind::Load => format!("the load of {place} passed the buffered store of {passed} in {thread}"),
        kind => format!("the {} of {place} overtook the buffered store of {passed} in {thread}", words::kind(kind)),
    }
}
