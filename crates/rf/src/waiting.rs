//! Which operations might wait for good that did not in an execution.
//!
//! In an execution that ends with threads waiting, each of them finds a last value that does not let it go on. Whatever
//! would overwrite that, and comes after it in any case, is missing: its thread waits too, at something before it.
//! What cannot be part of such a knot is not tried; what can may still turn out not to wait.

use teetotal_memory::{EventId, Source};
use teetotal_program::{Hindsight, Loc};

use super::changes::Changes;

/// The operations that might wait for good while an annotation holds.
pub(super) struct Waiting {
    candidates: Vec<Candidate>,
    /// For each location the writes to it.
    writes: Vec<Vec<EventId>>,
}

/// An operation that waits for a value.
struct Candidate {
    event: EventId,
    loc: Loc,
    /// The sources that do not let it go on.
    refused: Vec<Source>,
    /// Whether it may wait for good as far as is known.
    is_open: bool,
}

impl Waiting {
    pub(super) fn new<S: Hindsight>(changes: &Changes<'_, S>) -> Self {
        let execution = changes.execution;
        let mut writes = vec![Vec::new(); execution.initial.len()];
        for (id, event) in execution.trace.ids().take(execution.n_performed) {
            if let (Some(loc), true) = (event.loc, event.is_write()) {
                writes[loc.index()].push(id);
            }
        }
        let mut waiting = Waiting { candidates: Vec::new(), writes };
        let waits = execution.trace.ids().filter(|(id, _)| execution.waits(*id));
        for (event, loc) in waits.filter_map(|(id, event)| Some((id, event.loc?))) {
            let outcome = |source| execution.outcome(changes.subject, changes.failure_is_load, event, source);
            let refused = execution.sources(loc).filter(|&source| outcome(source).is_none()).collect();
            let is_open = execution.trace.event(event).index
                >= changes.base[execution.trace.event(event).thread.index()]
                || !execution.is_performed(event);
            waiting.candidates.push(Candidate { event, loc, refused, is_open });
        }
        waiting.close(changes, None);
        waiting
    }

    /// Whether the operation might wait for good.
    pub(super) fn may_wait<S: Hindsight>(&self, changes: &Changes<'_, S>, id: EventId) -> bool {
        let is_open = |candidate: &Candidate| candidate.event == id && candidate.is_open;
        if !self.candidates.iter().any(is_open) {
            return false;
        }
        let with_copies = |candidate: &Candidate| Candidate { refused: candidate.refused.clone(), ..*candidate };
        let candidates = self.candidates.iter().map(with_copies).collect();
        let mut waiting = Waiting { candidates, writes: self.writes.clone() };
        waiting.close(changes, Some(id));
        waiting.candidates.iter().any(is_open)
    }

    /// Leaves out candidates until those that are left may wait for each other, where `held` is never performed.
    fn close<S: Hindsight>(&mut self, changes: &Changes<'_, S>, held: Option<EventId>) {
        let follows = |later: EventId, earlier: EventId| {
            let event = changes.execution.trace.event(earlier);
            changes.pasts.clock(later)[event.thread.index()] > event.index
        };
        let is_there = |id: EventId| held.is_none_or(|held| !follows(id, held));
        for candidate in &mut self.candidates {
            candidate.is_open &= Some(candidate.event) == held || is_there(candidate.event);
        }
        loop {
            let may_wait = |candidate: &Candidate| {
                candidate.refused.iter().any(|&source| {
                    let is_last = match source {
                        Source::Initial => true,
                        Source::Write(write) => is_there(write) && !follows(write, candidate.event),
                    };
                    let mut others = self.writes[candidate.loc.index()].iter().copied();
                    let overwrites = |other, last| follows(other, last) && overwrites(changes, other, last, &follows);
                    is_last
                        && others
                            .all(|other| self.may_be_missing_or_early(other, source, &is_there, &follows, &overwrites))
                })
            };
            let closed = self.candidates.iter().position(|candidate| candidate.is_open && !may_wait(candidate));
            match closed {
                Some(position) => self.candidates[position].is_open = false,
                None => return,
            }
        }
    }

    /// Whether `other` need not come after `last`: it is not there, or something before it waits, or it is not after it.
    fn may_be_missing_or_early(
        &self,
        other: EventId,
        last: Source,
        is_there: &impl Fn(EventId) -> bool,
        follows: &impl Fn(EventId, EventId) -> bool,
        overwrites: &impl Fn(EventId, EventId) -> bool,
    ) -> bool {
        let is_known = |id: EventId| matches!(last, Source::Write(write) if write == id || follows(write, id));
        let comes_after = match last {
            Source::Initial => true,
            Source::Write(write) => other != write && overwrites(other, write),
        };
        let waits =
            |candidate: &Candidate| candidate.is_open && follows(other, candidate.event) && !is_known(candidate.event);
        !comes_after || !is_there(other) || self.candidates.iter().any(waits)
    }
}

/// Whether `other`, which has `last` in its past, reaches memory after it.
///
/// A store in the past of a write may still be in its buffer where stores pass each other, unless the write is of the same
/// thread or comes after a read of the store by another thread.
fn overwrites<S: Hindsight>(
    changes: &Changes<'_, S>,
    other: EventId,
    last: EventId,
    follows: &impl Fn(EventId, EventId) -> bool,
) -> bool {
    let trace = &changes.execution.trace;
    let (writer, store) = (trace.event(other), trace.event(last));
    let is_read = || {
        let reads = |id: EventId| {
            let event = trace.event(id);
            event.source == Some(Source::Write(last)) && event.thread != store.thread
        };
        let performed = trace.ids().take(changes.execution.n_performed).map(|(id, _)| id);
        performed.filter(|&id| reads(id)).any(|id| id == other || follows(other, id))
    };
    changes.keeps_stores || !store.is_store() || writer.thread == store.thread || is_read()
}
