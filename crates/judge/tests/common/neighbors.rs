//! Traces that differ from a performed one in one place, to see that the axioms forbid what the machine does not do.

use teetotal_memory::{Event, EventId, Recorder, Source, Step, Trace};
use teetotal_program::Loc;

/// Calls `visit` with every trace that differs from `trace` by the source of one read, its value unchanged, or by two
/// neighbors in coherence, the final memory unchanged.
///
/// Each is complete: with the same values read, the threads do the same, and those that are blocked still are.
pub(crate) fn for_each_neighbor(trace: &Trace, initial: impl Fn(Loc) -> u64, mut visit: impl FnMut(&Trace)) {
    let events = trace.events();
    let coherence: Vec<Vec<EventId>> = (0..trace.n_locations()).map(|loc| trace.coherence(Loc::at(loc))).collect();
    for (index, event) in events.iter().enumerate() {
        let (Some(source), Some(loc)) = (event.source, event.loc) else { continue };
        let mut others = vec![(Source::Initial, initial(loc))];
        others.extend(coherence[loc.index()].iter().map(|&w| (Source::Write(w), trace.event(w).written.unwrap_or(0))));
        for (other, value) in others {
            if other != source && Some(value) == event.read && other != Source::Write(EventId::at(index)) {
                let mut changed = events.to_vec();
                changed[index].source = Some(other);
                visit(&recorded(&changed, &coherence));
            }
        }
    }
    for (loc, writes) in coherence.iter().enumerate() {
        for first in 1..writes.len() {
            let written = |position: usize| trace.event(writes[position]).written;
            if first + 1 == writes.len() && written(first) != written(first - 1) {
                continue;
            }
            let mut changed = coherence.clone();
            changed[loc].swap(first - 1, first);
            visit(&recorded(events, &changed));
        }
    }
}

/// A trace with these events, step by step as they are, and these orders of writes.
pub(crate) fn recorded(events: &[Event], coherence: &[Vec<EventId>]) -> Trace {
    let mut trace = Trace::default();
    let mut step = None;
    for &event in events {
        if step != Some(event.step) {
            trace.step(Step::Issue { thread: event.thread, alternative: 0 });
        }
        step = Some(event.step);
        Recorder::event(&mut trace, Event { committed: None, ..event });
    }
    for &write in coherence.iter().flatten() {
        let Event { thread, loc, .. } = events[write.index()];
        trace.step(Step::Commit { thread, loc: loc.expect("a write has a location") });
        trace.committed(write);
    }
    trace
}
