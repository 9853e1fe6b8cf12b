//! The part of an execution that its failure depends on.

use teetotal_engine::Move;
use teetotal_memory::{EventId, EventKind, Family, ModelId, Source, Trace};
use teetotal_program::ThreadId;

/// Returns the steps of `trace` that the last operations of `threads` depend on.
///
/// What remains is an execution: with each read the write that it reads from is kept, and with each event those before
/// it in its thread. A smaller execution of the same graph violates no order that the larger one keeps.
pub(super) fn past_of(model: ModelId, threads: &[ThreadId], trace: &Trace) -> Vec<Move> {
    let keeps = kept(threads, trace);
    let steps = trace.steps().iter().filter(|record| keeps[record.event.index()]);
    let moves = steps.map(|record| (record.event, Move::of(record, trace)));
    match model.info().family {
        Family::Buffers(_) => moves.map(|(_, step)| step).collect(),
        Family::Graphs => moves.map(|(event, step)| among_kept(event, step, trace, &keeps)).collect(),
    }
}

/// A step of a model of graphs, whose alternative counts the writes after its place: of those, only the kept ones.
fn among_kept(id: EventId, step: Move, trace: &Trace, keeps: &[bool]) -> Move {
    let event = trace.event(id);
    let (Move::Issue { thread, child, .. }, Some(loc)) = (step, event.loc) else { return step };
    let writes = trace.coherence(loc);
    let position_of = |write: EventId| writes.iter().position(|&other| other == write).map_or(0, |at| at + 1);
    let place = match event.source {
        Some(Source::Initial) => 0,
        Some(Source::Write(source)) => position_of(source),
        None => position_of(id),
    };
    let followers = writes[place..].iter().filter(|&&write| write < id && keeps[write.index()]);
    Move::Issue { thread, alternative: followers.count() as u32, child }
}

/// Returns whether each event is kept.
fn kept(threads: &[ThreadId], trace: &Trace) -> Vec<bool> {
    let mut keeps = vec![false; trace.events().len()];
    let lasts = threads.iter().filter_map(|&thread| last_of(thread, trace));
    let mut next: Vec<EventId> = lasts.collect();
    // A thread that fails before its first operation must still be started.
    next.extend(threads.iter().filter_map(|&thread| start_of(thread, trace)));
    while let Some(id) = next.pop() {
        if std::mem::replace(&mut keeps[id.index()], true) {
            continue;
        }
        let event = trace.event(id);
        let before = trace.ids().filter(|(_, other)| other.thread == event.thread && other.index + 1 == event.index);
        next.extend(before.map(|(id, _)| id));
        if event.index == 0 {
            next.extend(start_of(event.thread, trace));
        }
        if let Some(Source::Write(source)) = event.source {
            next.push(source);
        }
        if let EventKind::Join(thread) = event.kind {
            next.extend(last_of(thread, trace));
            next.extend(start_of(thread, trace));
        }
    }
    keeps
}

fn last_of(thread: ThreadId, trace: &Trace) -> Option<EventId> {
    trace.ids().filter(|(_, event)| event.thread == thread).last().map(|(id, _)| id)
}

/// Returns the operation that started `thread`.
fn start_of(thread: ThreadId, trace: &Trace) -> Option<EventId> {
    trace.ids().find(|(_, event)| event.kind == EventKind::Spawn(thread)).map(|(id, _)| id)
}
