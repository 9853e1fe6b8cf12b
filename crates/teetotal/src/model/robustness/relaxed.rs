//! Confirms reorderings by executions of the memory model, by running the code on its machine.

use teetotal_engine::{Move, Schedule};
use teetotal_live::Ledger;
use teetotal_memory::{Event, EventKind, Step, Trace, relations};
use teetotal_program::{Loc, ThreadId};
use teetotal_robustness::plans;

use super::super::failure::{confirm, describe, timeline};
use super::super::perform::{Performed, perform};
use super::{Builder, Occurrence, Pair};

/// A pair of places with an execution of the memory model that shows it.
pub(super) struct Shown {
    pub(super) pair: Pair,
    /// The threads of the store and of the access.
    pub(super) threads: [ThreadId; 2],
    pub(super) access: EventKind,
    /// The execution as a table.
    pub(super) timeline: String,
    pub(super) trace: Trace,
    pub(super) token: String,
    /// The failure of the execution in one line, if it fails.
    pub(super) harm: Option<String>,
}

/// Returns those of `pairs` that an execution of the memory model confirms, and how many others are not ruled out.
pub(super) fn show(
    builder: &Builder,
    body: &teetotal_live::Model,
    ledger: &Ledger,
    pairs: Vec<Pair>,
) -> (Vec<Shown>, u64) {
    let (mut shown, mut n_unconfirmed) = (Vec::new(), 0);
    for pair in pairs {
        let is_in_doubt = pair.is_in_doubt();
        let found = Show { builder, body, ledger, pair }.shown();
        n_unconfirmed += u64::from(found.is_none() && is_in_doubt);
        shown.extend(found);
    }
    (shown, n_unconfirmed)
}

struct Show<'s> {
    builder: &'s Builder,
    body: &'s teetotal_live::Model,
    ledger: &'s Ledger,
    pair: Pair,
}

impl Show<'_> {
    fn shown(self) -> Option<Shown> {
        let found = self.pair.occurrences.values().find_map(|occurrence| {
            let performed = self.relaxed(occurrence)?;
            confirm(&performed);
            let store = occurrence.trace.event(occurrence.delay.store);
            let threads = [store.thread, occurrence.delay.access_at.thread];
            let harm = performed.problem.as_ref().map(|problem| describe(&performed, problem));
            let harm = harm.and_then(|text| text.lines().next().map(str::to_owned));
            let (timeline, token) = (timeline(&performed), performed.token.to_string());
            Some((threads, occurrence.access, timeline, performed.trace, token, harm))
        });
        let (threads, access, timeline, trace, token, harm) = found?;
        Some(Shown { pair: self.pair, threads, access, timeline, trace, token, harm })
    }

    /// Returns an execution of the memory model that is not sequentially consistent.
    fn relaxed(&self, occurrence: &Occurrence) -> Option<Performed> {
        let Occurrence { trace, delay, access, .. } = occurrence;
        let (model, mut found) = (self.builder.model, None);
        plans(model, trace, delay, *access == EventKind::Store, |steps| {
            let schedule = Schedule::Moves(moves(trace, steps, delay.loc));
            let performed = perform(model, self.builder.live(self.body, self.ledger), &schedule);
            let is_relaxed = !relations::is_sequentially_consistent(&performed.trace);
            if is_relaxed {
                found = Some(performed);
            }
            is_relaxed
        });
        found
    }
}

/// Returns the steps by names that are stable across runs; the access is at `loc` and may not be in the trace.
fn moves(trace: &Trace, steps: &[Step], loc: Loc) -> Vec<Move> {
    let mut counts = vec![0_u32; trace.n_threads() + 1];
    // Stores that are in buffers, oldest first.
    let mut pending: Vec<(ThreadId, Loc, u32)> = Vec::new();
    let mut moves = Vec::new();
    for step in steps {
        moves.push(match *step {
            Step::Issue { thread, alternative } => {
                let position = thread.index();
                if counts.len() <= position {
                    counts.resize(position + 1, 0);
                }
                let index = counts[position];
                counts[position] += 1;
                let event = trace.operation(thread, index);
                let at = event.map_or(Some(loc), |event| event.loc);
                if event.is_none_or(Event::is_store) {
                    pending.extend(at.map(|at| (thread, at, index)));
                }
                let child = match event.map(|event| event.kind) {
                    Some(EventKind::Spawn(child)) => Some(child),
                    _ => None,
                };
                Move::Issue { thread, alternative, child }
            }
            Step::Commit { thread, loc } => {
                let oldest = pending.iter().position(|&(own, at, _)| (own, at) == (thread, loc));
                let index = oldest.map_or(0, |oldest| pending.remove(oldest).2);
                Move::Commit { thread, index, loc }
            }
        });
    }
    moves
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use teetotal_live::Place;

    use super::*;

    #[test]
    fn a_pair_that_was_seen_more_often_than_tried_is_in_doubt() {
        let place = Place { file: "lib.rs".to_owned(), line: 1, column: 1 };
        let pair = |has_more: bool| Pair {
            store: place.clone(),
            access: place.clone(),
            fence_before: None,
            executions: 17,
            occurrences: BTreeMap::new(),
            has_more,
        };
        let body: teetotal_live::Model = Arc::new(|| {});
        let n_unconfirmed =
            |has_more| show(&Builder::new(), &body, &Ledger::default(), vec![pair(has_more), pair(has_more)]).1;
        assert_eq!(n_unconfirmed(true), 2);
        assert_eq!(n_unconfirmed(false), 0);
    }
}
