//! What could have been otherwise in an execution, one operation at a time.

use teetotal_clocks::join;
use teetotal_memory::{Event, EventId, EventKind, Source};
use teetotal_program::{Hindsight, Op, ThreadId};

use super::execution::Execution;
use super::history::History;
use super::pasts::Pasts;
use super::waiting::Waiting;

/// An operation that does something else, with everything that must be as it is for that.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) event: EventId,
    pub(super) what: What,
    /// The history of its thread then.
    pub(super) history: History,
    /// How many events each thread of the execution performs, this one included.
    pub(super) counts: Vec<u32>,
    pub(super) annotation: Annotation,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// It reads from there, and then is this event.
    Reads(Source, Event),
    /// It takes this alternative.
    Takes(u32),
    /// It is never performed.
    Waits,
}

/// What is said of an execution: what the first operations of some threads read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Annotation {
    /// For each thread by its name how many operations it says something of.
    pub(super) points: Vec<u32>,
    /// The history of each thread up to the last of them.
    pub(super) histories: Vec<History>,
}

impl Annotation {
    /// All of it as one number.
    pub(super) fn key(&self) -> History {
        History::sum(self.histories.iter().copied())
    }
}

/// Finds the changes of an execution that leave an annotation as it is.
pub(super) struct Changes<'c, S: Hindsight> {
    pub(super) subject: &'c S,
    pub(super) execution: &'c Execution<S::Kept>,
    pub(super) pasts: &'c Pasts,
    pub(super) failure_is_load: bool,
    /// Whether all stores of a thread reach memory in program order.
    pub(super) keeps_stores: bool,
    /// How many events of each thread are annotated.
    pub(super) base: Vec<u32>,
}

impl<S: Hindsight> Changes<'_, S> {
    /// What the event could be instead. The order solver has not been asked.
    pub(super) fn of(&self, id: EventId, waiting: &Waiting, changes: &mut Vec<Change>) {
        let event = self.execution.trace.event(id);
        let before = self.pasts.history_before(event.thread, event.index);
        if let Op::Choose { alternatives } = self.execution.operations[id.index()].op {
            for taken in (0..alternatives).filter(|&taken| event.read != Some(taken.into())) {
                let history = self.pasts.with_alternative(before, event.index, taken);
                let change = self.change(id, What::Takes(taken), history, None);
                changes.extend(change.filter(|change| taken == 0 || self.is_within_bound(id, &change.counts)));
            }
            return;
        }
        let Some(loc) = event.loc else { return };
        for source in self.execution.sources(loc) {
            let is_there = self.execution.is_performed(id) && event.source == Some(source);
            if is_there || source == Source::Write(id) {
                continue;
            }
            let Some(outcome) = self.execution.outcome(self.subject, self.failure_is_load, id, source) else {
                continue;
            };
            let history = self.pasts.with_source(self.execution, before, event.index, source);
            changes.extend(self.change(id, What::Reads(source, outcome), history, Some(source)));
        }
        if self.execution.is_performed(id) && waiting.may_wait(self, id) {
            let history = self.pasts.waiting(before, event.index);
            changes.extend(self.change(id, What::Waits, history, None));
        }
    }

    /// Whether the choice `id` may take another alternative than its first, beside what the first `counts` events of each
    /// thread have taken.
    fn is_within_bound(&self, id: EventId, counts: &[u32]) -> bool {
        let bound = |id: EventId| self.subject.most_taken(self.execution.operations[id.index()].kept.as_ref()?);
        let matter = |id: EventId| bound(id).map(|(matter, _)| matter);
        let Some((_, most)) = bound(id) else { return true };
        let is_taken = |&(other, event): &(EventId, &Event)| {
            event.kind == EventKind::Choose
                && other != id
                && event.index < counts[event.thread.index()]
                && event.read != Some(0)
                && matter(other) == matter(id)
        };
        self.execution.trace.ids().filter(is_taken).count() < most
    }

    /// The change, unless the event is in its own past.
    fn change(&self, id: EventId, what: What, history: History, source: Option<Source>) -> Option<Change> {
        let event = self.execution.trace.event(id);
        let own = event.thread.index();
        let mut counts = self.base.clone();
        join(&mut counts, self.pasts.clock_before(event.thread, event.index));
        if let Some(Source::Write(write)) = source {
            join(&mut counts, self.pasts.clock(write));
        }
        if counts[own] > event.index {
            return None;
        }
        let annotation = self.annotation(&counts, event.thread, history);
        if what != What::Waits {
            counts[own] = event.index + 1;
        }
        Some(Change { event: id, what, history, counts, annotation })
    }

    /// What is said of so many events of each thread, and of one more of `changed`, which then has this history.
    fn annotation(&self, counts: &[u32], changed: ThreadId, history: History) -> Annotation {
        let mut annotation = Annotation::default();
        for (index, name) in self.execution.names.iter().enumerate() {
            let Some(name) = name else { continue };
            let thread = ThreadId::at(index);
            let is_changed = thread == changed;
            let points = self.pasts.points_before(thread, counts[index]) + u32::from(is_changed);
            if points == 0 {
                continue;
            }
            if annotation.points.len() <= name.index() {
                annotation.points.resize(name.index() + 1, 0);
            }
            annotation.points[name.index()] = points;
            let before = || self.pasts.history_before(thread, counts[index]);
            annotation.histories.push(if is_changed { history } else { before() });
        }
        annotation
    }
}
