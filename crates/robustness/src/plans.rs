//! Delays in an execution of any subject, and executions of the model to try for each.

use teetotal_judge::monitors::robustness::{Attempt, Borderline, Delay, Site, Waits};
use teetotal_memory::{EventId, ModelId, Step, Trace};

use super::past::Past;
use super::plan::{Trial, plan};
use super::waiters::Waiter;

/// Every delay in `trace`, an execution of sequential consistency at whose end `waiters` wait.
#[must_use]
pub fn watch(model: ModelId, trace: &Trace, n_threads: usize, waiters: &[Waiter]) -> Vec<Delay> {
    if !model.rules().has_buffers {
        return Vec::new();
    }
    let waited_for = waiters.iter().map(|waiter| waiter.loc.index() + 1).max().unwrap_or(0);
    let n_threads = n_threads.max(trace.n_threads());
    let mut algorithm = Borderline::with_room(model, n_threads, trace.n_locations().max(waited_for));
    let mut found = Vec::new();
    let mut add = |store: Option<EventId>, attempt: &Attempt, place: u32, index: u32| {
        found.extend(store.map(|store| {
            let event = trace.event(store);
            Delay {
                store,
                store_at: Site { thread: event.thread, place: event.place },
                access_at: Site { thread: attempt.thread, place },
                loc: attempt.loc,
                index,
                waits: attempt.waits_to_write,
                fence_helps: Some(true),
            }
        }));
    };
    let mut counts = vec![0; n_threads];
    for (id, event) in trace.ids() {
        if let Some(attempt) = Attempt::of(model, event) {
            add(algorithm.overtaken(&attempt), &attempt, event.place, event.index);
        }
        algorithm.perform(id, event);
        counts[event.thread.index()] += 1;
    }
    for &Waiter { thread, loc, kind, order, place } in waiters {
        let waits = Waits::of_kind(model, kind, order);
        let attempt = Attempt { thread, loc, waits, waits_to_write: waits, is_store: false };
        add(algorithm.overtaken(&attempt), &attempt, place, counts[thread.index()]);
    }
    found
}

/// Calls `attempt` with one execution of `model` after the other in which the access of `delay` goes first, the
/// likeliest first, until it says that it has what it wants.
///
/// Whether the steps are possible is for the machine to say. `is_store` says whether the access is a store.
pub fn plans(
    model: ModelId,
    trace: &Trace,
    delay: &Delay,
    is_store: bool,
    mut attempt: impl FnMut(&[Step]) -> bool,
) -> bool {
    let past = Past::before(trace, delay.access_at.thread, delay.index, model);
    let Some(store) = past.place_of(delay.store) else { return false };
    let trials = Trial::all(&past, delay, store);
    trials.into_iter().any(|trial| {
        let planned = plan(model, &past, delay, is_store, trial);
        planned.is_some_and(|planned| attempt(&planned.steps))
    })
}
