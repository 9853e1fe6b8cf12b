//! The steps of an execution whose moments come in a given order.
//!
//! A thread performs a store as late as it can: when something after it in its thread happens, or when it reaches
//! memory itself. Nobody else can tell.

use teetotal_memory::{EventId, Step};
use teetotal_program::ThreadId;

use super::candidates::Part;
use super::layout::Layout;
use crate::axiomatic::Axioms;

/// The steps that let the moments happen in this order.
pub(super) fn steps(layout: &Layout<'_>, part: &Part, order: &[usize]) -> Vec<Step> {
    let stores_wait = Axioms::of(layout.model).stores_wait;
    let mut issued = vec![0; part.counts.len()];
    let mut steps = Vec::with_capacity(2 * order.len());
    for &moment in order {
        let event = &layout.placed[moment].event;
        let thread = event.thread.index();
        while issued[thread] <= event.index as usize {
            let next = layout.threads[thread][issued[thread]];
            issued[thread] = end_of_step(layout, thread, issued[thread]);
            steps.push(issue(layout, next));
        }
        if let (true, Some(loc)) = (event.is_store() && stores_wait, event.loc) {
            steps.push(Step::Commit { thread: event.thread, loc });
        }
    }
    steps
}

/// Past the events that are performed in the step of the one at `index`.
fn end_of_step(layout: &Layout<'_>, thread: usize, index: usize) -> usize {
    let events = &layout.threads[thread];
    let step = layout.trace.event(events[index]).step;
    let same = events[index..].iter().take_while(|id| layout.trace.event(**id).step == step);
    index + same.count()
}

/// The step that performed this event in the trace.
fn issue(layout: &Layout<'_>, event: EventId) -> Step {
    let event = layout.trace.event(event);
    let recorded = layout.trace.steps().get(event.step as usize).map(|record| record.step);
    let plain = Step::Issue { thread: ThreadId::at(event.thread.index()), alternative: 0 };
    recorded.filter(|step| !step.is_commit()).unwrap_or(plain)
}
