//! The axiomatic model accepts nothing that its machine does not do.
//!
//! The machine shows only executions to accept. What must be rejected is made of them: the traces of weaker models, and
//! the same events with another order of two writes or another source of a read.

use teetotal_judge::axiomatic::accepts;
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Event, EventId, EventKind, Model, Recorder, Source, Step, Trace};
use teetotal_program::Loc;
use teetotal_program::ir::{Instruction, Program};

use crate::everything::under_every_model;
use crate::{Case, Verdict, has_exclusive};

/// At most this many candidates are judged for one program and model.
const MAX_CANDIDATES: usize = 2_000;

/// Every candidate is accepted exactly if it is a trace of the machine.
pub(super) fn are_told_apart(case: &Case) -> Verdict {
    // The axioms do not know of exclusive stretches, so they accept more.
    if has_exclusive(&case.program) {
        return Ok(());
    }
    told_from_weaker::<Sc, Tso>(case)?;
    told_from_weaker::<Sc, Pso>(case)?;
    told_from_weaker::<Tso, Pso>(case)?;
    under_every_model!(told_from_neighbors, case)
}

/// The axiomatic model of `Strong` accepts a trace of `Weak` exactly if `Strong` has it too.
fn told_from_weaker<Strong: Model, Weak: Model>(case: &Case) -> Verdict {
    for (trace, _) in case.everything::<Weak>().traces.values().take(MAX_CANDIDATES) {
        // A compare-exchange that failed is another kind of event under PSO.
        if !trace.events().iter().any(|event| is_failed_exchange(&case.program, event)) {
            judge::<Strong>(case, trace)?;
        }
    }
    Ok(())
}

fn is_failed_exchange(program: &Program, event: &Event) -> bool {
    let instruction = &program.threads[event.thread.index()].code[event.place as usize];
    event.kind == EventKind::Load && matches!(instruction, Instruction::Rmw { .. })
}

/// Small changes to the traces of the machine are accepted exactly if they lead to others of them.
fn told_from_neighbors<M: Model>(case: &Case) -> Verdict {
    // Where a thread is blocked at the end, the change might let it go on, and the trace would not be whole.
    let whole = case.everything::<M>().traces.values().filter(|(_, end)| end.kind == "completed");
    let neighbors = whole.flat_map(|(trace, _)| swaps(trace).chain(other_sources(trace)));
    neighbors.take(MAX_CANDIDATES).try_for_each(|candidate| judge::<M>(case, &candidate))
}

fn judge<M: Model>(case: &Case, candidate: &Trace) -> Verdict {
    let initial = |loc: Loc| case.program.locations[loc.index()].initial;
    let accepted = accepts(M::ID, candidate, initial).is_ok();
    let is_trace = case.everything::<M>().traces.contains_key(&candidate.key());
    if accepted == is_trace {
        return Ok(());
    }
    let verb = if accepted { "accepts" } else { "rejects" };
    let has = if is_trace { "has" } else { "does not have" };
    Err(format!("the axiomatic model of {} {verb} what the machine {has}: {:?}", M::ID.info().name, candidate.events()))
}

/// The order in which the writes to each location reach memory.
fn coherence(trace: &Trace) -> Vec<Vec<EventId>> {
    (0..trace.n_locations()).map(|loc| trace.coherence(Loc::at(loc))).collect()
}

/// The trace with two writes swapped that reach one location one after the other.
fn swaps(trace: &Trace) -> impl Iterator<Item = Trace> + '_ {
    let orders = coherence(trace);
    let pairs = (0..orders.len()).flat_map({
        let lengths: Vec<usize> = orders.iter().map(Vec::len).collect();
        move |loc| (1..lengths[loc]).map(move |second| (loc, second))
    });
    pairs.map(move |(loc, second)| {
        let mut orders = orders.clone();
        orders[loc].swap(second - 1, second);
        recorded(trace.events().to_vec(), &orders)
    })
}

/// The trace with one read from elsewhere.
fn other_sources(trace: &Trace) -> impl Iterator<Item = Trace> + '_ {
    let reads = trace.ids().filter(|(_, event)| event.source.is_some());
    reads.flat_map(move |(read, event)| {
        let orders = coherence(trace);
        let writes = event.loc.map_or(Vec::new(), |loc| orders[loc.index()].clone());
        let sources = std::iter::once(Source::Initial).chain(writes.into_iter().map(Source::Write));
        let others = sources.filter(move |&source| Some(source) != event.source && source != Source::Write(read));
        others.map(move |source| {
            let mut events = trace.events().to_vec();
            events[read.index()].source = Some(source);
            recorded(events, &orders)
        })
    })
}

/// A trace of these events, which were issued in this order, and then these commits.
fn recorded(events: Vec<Event>, orders: &[Vec<EventId>]) -> Trace {
    let mut trace = Trace::default();
    let mut last = None;
    for event in events {
        if last != Some(event.step) {
            trace.step(Step::Issue { thread: event.thread, alternative: 0 });
            last = Some(event.step);
        }
        Recorder::event(&mut trace, event);
    }
    for (loc, order) in orders.iter().enumerate() {
        for &write in order {
            trace.step(Step::Commit { thread: trace.event(write).thread, loc: Loc::at(loc) });
            trace.committed(write);
        }
    }
    trace
}
