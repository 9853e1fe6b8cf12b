//! How much of a trace events need, by what was read in it.

use teetotal_memory::{EventId, EventKind, Source, Trace};

/// How many events each thread performs so that these events of the trace are the next of their threads, or are
/// performed where `included` says so, and every read before them still finds the write that it took its value from.
///
/// Nothing if one of those that are not included is needed for another.
#[must_use]
pub fn needed(trace: &Trace, included: &[EventId], excluded: &[EventId]) -> Option<Vec<u32>> {
    let mut counts = vec![0; trace.n_threads()];
    let upto = |id: &EventId, extra: u32| (trace.event(*id).thread.index(), trace.event(*id).index + extra);
    let mut open: Vec<(usize, u32)> = included.iter().map(|id| upto(id, 1)).collect();
    open.extend(excluded.iter().map(|id| upto(id, 0)));
    let mut events = vec![Vec::new(); trace.n_threads()];
    trace.events().iter().for_each(|event| events[event.thread.index()].push(event));
    let starter = |thread: usize| {
        let starts = |kind| matches!(kind, EventKind::Spawn(child) if child.index() == thread);
        trace.events().iter().find(|event| starts(event.kind))
    };
    while let Some((thread, count)) = open.pop() {
        let is_out = |id: &&EventId| trace.event(**id).thread.index() == thread && trace.event(**id).index < count;
        if excluded.iter().find(is_out).is_some() {
            return None;
        }
        let from = counts[thread];
        if count <= from {
            continue;
        }
        counts[thread] = count;
        for event in &events[thread][from as usize..(count as usize).min(events[thread].len())] {
            if let Some(Source::Write(write)) = event.source {
                open.push((trace.event(write).thread.index(), trace.event(write).index + 1));
            }
            if let EventKind::Join(child) = event.kind
                && let Some(all) = events.get(child.index())
            {
                open.push((child.index(), all.len() as u32));
            }
        }
        open.extend(starter(thread).map(|spawn| (spawn.thread.index(), spawn.index + 1)));
    }
    Some(counts)
}
