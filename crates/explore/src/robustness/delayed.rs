//! Performs an execution of sequential consistency again under a model, each store as late as that allows, and then an
//! access before a store that it came after.
//!
//! Every event is performed in the order of the execution; a store leaves its buffer only when something needs it. This
//! is how [BURNIM, Fig. 4 and Fig. 5] run their buffers, but on what comes before the access alone, and a store does not
//! need those that are before it in memory until it leaves its buffer itself.

use std::collections::VecDeque;

use teetotal_judge::axiomatic::order_of_moments;
use teetotal_judge::monitors::robustness::{Delay, Waits};
use teetotal_memory::relations::Relation;
use teetotal_memory::{Event, EventId, EventKind, ModelId, Step, Trace};
use teetotal_program::Order;

use super::past::Past;
use crate::strategy::{Abandon, Choice, Strategy};

/// Chooses the steps of the execution.
pub(super) struct Delayed<'d> {
    model: ModelId,
    past: &'d Past,
    order: Relation,
    delay: Delay,
    /// The store that is overtaken, in the past.
    store: EventId,
    /// Which stores have left their buffers.
    committed: Vec<bool>,
    /// Steps that are decided.
    plan: VecDeque<Step>,
    stage: Stage,
    started: bool,
    /// Steps taken until the access had happened.
    pub(super) until_access: Option<usize>,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The access is next.
    Access,
    /// The access waits, and the stores that it always waits for have left.
    Waiting,
    /// The access was issued.
    Issued,
    /// All stores are on their way.
    Draining,
}

impl<'d> Delayed<'d> {
    pub(super) fn new(model: ModelId, past: &'d Past, delay: Delay) -> Option<Self> {
        let order = order_of_moments(model, &past.trace);
        let mut delayed = Delayed {
            model,
            past,
            order,
            delay,
            store: past.place_of(delay.store)?,
            committed: past.trace.events().iter().map(|event| !event.is_store()).collect(),
            plan: VecDeque::new(),
            stage: Stage::Access,
            started: false,
            until_access: None,
        };
        (0..past.steps.len()).for_each(|index| delayed.perform(EventId::at(index)));
        (!delayed.committed[delayed.store.index()]).then_some(delayed)
    }

    fn event(&self, id: EventId) -> &'d Event {
        &self.past.trace.events()[id.index()]
    }

    /// Plans an event of the past, after what has to leave a buffer before it.
    fn perform(&mut self, id: EventId) {
        let event = self.event(id);
        if self.follows_drain(event) {
            self.commit_own(|_| true, event);
        }
        if !event.is_store() {
            self.commit_before(id);
        }
        self.plan.push_back(self.past.steps[id.index()]);
    }

    /// Whether the event before `event` in its thread is a store that everything waits for.
    fn follows_drain(&self, event: &Event) -> bool {
        let is_previous = |e: &&Event| e.thread == event.thread && e.index + 1 == event.index;
        let previous = self.past.trace.events().iter().find(is_previous);
        previous.is_some_and(|e| e.is_store() && e.order == Order::SeqCst)
    }

    /// Plans that every store before `id` leaves its buffer.
    fn commit_before(&mut self, id: EventId) {
        for earlier in (0..id.index()).map(EventId::at) {
            if self.order.has(earlier, id) {
                self.commit(earlier);
            }
        }
    }

    /// Plans that a store leaves its buffer, if it is there.
    fn commit(&mut self, id: EventId) {
        if std::mem::replace(&mut self.committed[id.index()], true) {
            return;
        }
        self.commit_before(id);
        let event = self.event(id);
        let loc = event.loc.expect("a store has a location");
        self.plan.push_back(Step::Commit { thread: event.thread, loc });
    }

    /// Plans that those stores of the thread of `later` that are `wanted` leave its buffer.
    fn commit_own(&mut self, wanted: impl Fn(&Event) -> bool, later: &Event) {
        let is_earlier = |e: &Event| e.thread == later.thread && e.index < later.index && e.is_store();
        let own: Vec<EventId> =
            self.past.trace.ids().filter(|(_, e)| is_earlier(e) && wanted(e)).map(|(id, _)| id).collect();
        own.into_iter().for_each(|id| self.commit(id));
    }

    /// Plans that the stores leave which an access of this kind waits for.
    fn commit_for_access(&mut self, waits: Waits) {
        let (thread, index) = (self.delay.access_at.thread, self.delay.index);
        let own = self.past.trace.events().iter().filter(|e| e.thread == thread);
        let is_marker = |e: &&Event| {
            e.kind == EventKind::Fence && matches!(e.order, Order::Release | Order::AcqRel)
        };
        let epoch = own.filter(is_marker).count() as u32;
        let loc = self.delay.loc;
        let later = Event { thread, index, ..*self.event(self.store) };
        self.commit_own(
            |e| match waits {
                Waits::Everything => true,
                Waits::Barrier => e.epoch < epoch || e.loc == Some(loc),
                Waits::Nothing => false,
            },
            &later,
        );
    }

    /// The next store to the location of the access that may leave without the one that is overtaken.
    fn older_write(&mut self) -> bool {
        let loc = self.delay.loc;
        let next = self.past.trace.coherence(loc).into_iter().find(|id| !self.committed[id.index()]);
        match next {
            Some(id) if id != self.store => {
                self.commit(id);
                true
            }
            _ => false,
        }
    }

    /// The next step, if what is planned is over.
    fn go_on(&mut self, enabled: &[Step], trace: &Trace) -> Option<Step> {
        let thread = self.delay.access_at.thread;
        let issue = Step::Issue { thread, alternative: 0 };
        if matches!(self.stage, Stage::Access | Stage::Waiting) {
            if enabled.contains(&issue) {
                self.stage = Stage::Issued;
                return Some(issue);
            }
            if self.stage == Stage::Access {
                self.stage = Stage::Waiting;
                self.commit_for_access(self.delay.waits);
            } else if !self.older_write() {
                return None;
            }
            return self.plan.pop_front().or_else(|| self.go_on(enabled, trace));
        }
        let access = trace.events().last()?;
        if self.stage == Stage::Issued {
            self.stage = Stage::Draining;
            if access.is_store() && access.committed.is_none() {
                self.commit_for_access(Waits::of(self.model, access));
                let loc = self.delay.loc;
                self.commit_own(|e| e.loc == Some(loc), &Event { index: self.delay.index, ..*access });
                self.plan.push_back(Step::Commit { thread, loc });
            }
            return self.plan.pop_front().or_else(|| self.go_on(enabled, trace));
        }
        if self.until_access.is_none() {
            self.until_access = Some(trace.steps().len());
            (0..self.committed.len()).for_each(|index| self.commit(EventId::at(index)));
        }
        self.plan.pop_front()
    }
}

impl Strategy for Delayed<'_> {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        let step = self.plan.pop_front().or_else(|| self.go_on(enabled, trace));
        let Some(step) = step else { return Choice::Abandon(Abandon::EndOfSchedule) };
        match enabled.iter().position(|&e| e == step) {
            Some(index) => Choice::Take(index),
            None => Choice::Abandon(Abandon::NotPossible),
        }
    }
}
