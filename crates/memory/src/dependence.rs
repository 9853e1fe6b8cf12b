//! Which steps of an execution may not be swapped.
//!
//! Dependence is decided on performed steps. Swapping neighbors that are not dependent keeps the trace (po, rf, co), and
//! every execution with the same trace is reached by such swaps.

use crate::event::{Event, EventKind, Source};
use crate::model::Model;
use crate::step::Step;
use crate::trace::{StepRecord, Trace};
use teetotal_program::Order;

/// Whether step `later` depends on step `earlier`, both given by their positions, `earlier < later`.
#[must_use]
pub fn depends<M: Model>(trace: &Trace, earlier: usize, later: usize) -> bool {
    debug_assert!(earlier < later, "dependence is asked of two steps in order");
    let (first, second) = (&trace.steps()[earlier], &trace.steps()[later]);
    match (first.step.is_commit(), second.step.is_commit()) {
        (true, true) => commits_depend::<M>(trace.event(first.event), trace.event(second.event)),
        (true, false) => events_of(trace, second).iter().any(|e| commit_then_issue::<M>(trace, first, e)),
        (false, true) => events_of(trace, first).iter().any(|e| issue_then_commit(trace, e, second)),
        (false, false) => {
            let later_events = events_of(trace, second);
            events_of(trace, first).iter().any(|a| later_events.iter().any(|b| issues_depend::<M>(trace, a, b)))
        }
    }
}

/// The events that a step issued.
fn events_of<'t>(trace: &'t Trace, record: &StepRecord) -> &'t [Event] {
    let Step::Issue { .. } = record.step else { return &[] };
    let start = record.event.index();
    let step = trace.events().get(start).map(|e| e.step);
    let length = trace.events()[start..].iter().take_while(|e| Some(e.step) == step).count();
    &trace.events()[start..start + length]
}

/// Two stores leave buffers: they depend if they are to one location, or of one thread and always in this order.
fn commits_depend<M: Model>(first: &Event, second: &Event) -> bool {
    let in_program_order = first.thread == second.thread && first.index < second.index;
    first.loc == second.loc || (in_program_order && M::keeps_order(first.access(), second.access()))
}

/// A store leaves its buffer, then a thread performs an operation.
fn commit_then_issue<M: Model>(trace: &Trace, commit: &StepRecord, event: &Event) -> bool {
    let store = trace.event(commit.event);
    if store.thread == event.thread {
        return waits_for::<M>(trace, store, event);
    }
    match event.kind {
        EventKind::GlobalFence => true,
        EventKind::Join(child) => child == store.thread,
        // It only joins a buffer.
        EventKind::Store => false,
        _ if event.loc != store.loc => false,
        _ => !comes_before_own_source(trace, event, store.committed),
    }
}

/// A thread performs an operation, then a store leaves a buffer.
fn issue_then_commit(trace: &Trace, event: &Event, commit: &StepRecord) -> bool {
    let store = trace.event(commit.event);
    if store.thread == event.thread {
        return store.index == event.index;
    }
    match event.kind {
        EventKind::GlobalFence => true,
        EventKind::Store => false,
        _ if event.loc != store.loc => false,
        _ => !comes_before_own_source(trace, event, store.committed),
    }
}

/// Whether `read` is a load of what its own thread stored, and a foreign write at step `write` comes before that store.
///
/// Such a load may forward, so it counts as placed just after the commit of its source, wherever it stands: foreign
/// writes before that commit do not matter to it, those after it do.
fn comes_before_own_source(trace: &Trace, read: &Event, write: Option<u32>) -> bool {
    let Some(Source::Write(source)) = read.source else { return false };
    let source = trace.event(source);
    if read.kind != EventKind::Load || source.thread != read.thread || !source.is_store() {
        return false;
    }
    match (source.committed, write) {
        (None, _) => true,
        (Some(source), Some(write)) => write < source,
        (Some(_), None) => false,
    }
}

/// Whether `event` was possible only because `store`, an earlier one of its thread, had reached memory.
fn waits_for<M: Model>(trace: &Trace, store: &Event, event: &Event) -> bool {
    let after_seq_cst_store = || {
        let own = trace.events().iter().filter(|e| e.thread == event.thread && e.index < event.index);
        own.max_by_key(|e| e.index).is_some_and(|e| e.is_store() && e.order == Order::SeqCst)
    };
    let held_back = match event.kind {
        EventKind::Load | EventKind::Store | EventKind::Choose => false,
        EventKind::Fence => event.order == Order::SeqCst,
        EventKind::GlobalFence => true,
        // An access that writes memory at once is ordered after a store as a later store would be.
        EventKind::Rmw | EventKind::FailedRmw | EventKind::Lock | EventKind::Unlock => {
            M::keeps_order(store.access(), event.access())
        }
        EventKind::Join(_) if event.is_acquiring_join() => false,
        EventKind::Spawn(_) | EventKind::Join(_) => M::keeps_order(store.access(), event.access()),
    };
    held_back || after_seq_cst_store()
}

/// Two operations, neither of them the drain of a buffer.
fn issues_depend<M: Model>(trace: &Trace, first: &Event, second: &Event) -> bool {
    if first.thread == second.thread
        || first.kind == EventKind::Spawn(second.thread)
        || second.kind == EventKind::Join(first.thread)
    {
        return true;
    }
    // A store that is issued makes a global fence impossible until it is committed.
    let fence_and_store = |a: &Event, b: &Event| a.kind == EventKind::GlobalFence && b.is_store();
    if M::BUFFERS && (fence_and_store(first, second) || fence_and_store(second, first)) {
        return true;
    }
    let joins_buffer = |event: &Event| M::BUFFERS && event.is_store();
    if first.loc.is_none() || first.loc != second.loc || joins_buffer(first) || joins_buffer(second) {
        return false;
    }
    if !first.is_write() && !second.is_write() {
        return false;
    }
    !comes_before_own_source(trace, first, Some(second.step))
        && !comes_before_own_source(trace, second, Some(first.step))
}
