//! Plans an execution of a model in which an access goes before a store that it came after.
//!
//! It is that of sequential consistency again, up to there, each store as late as can be.
//! Nothing leaves a buffer before something needs it. This is how [BURNIM, Fig. 4 and Fig. 5] run their buffers, but on
//! what comes before the access alone, and a store does not need those that are before it in memory until it leaves its
//! buffer itself.

use teetotal_judge::axiomatic::order_of_moments;
use teetotal_judge::monitors::robustness::{Delay, Waits};
use teetotal_memory::relations::Relation;
use teetotal_memory::{Event, EventId, EventKind, ModelId, Source, Step};
use teetotal_program::{Order, ThreadId};

use super::past::Past;

/// An execution that is planned; whether each step is possible is for the machine to say.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// How many of them have the access happen.
    #[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "only programs are performed up to here"))]
    pub(super) until_access: usize,
}

/// When the access is performed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    /// After everything else was performed, while the store waits in its buffer.
    Last,
    /// As soon as it can be.
    First,
}

/// What is tried: at which place among the writes of its location, when, and what the access waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// The write that the access goes before, in the past.
    pub(super) before: EventId,
    pub(super) when: When,
    pub(super) waits: Waits,
}

/// Plans a trial, if what it asks for is in order.
pub(super) fn plan(model: ModelId, past: &Past, delay: &Delay, is_store: bool, trial: Trial) -> Option<Plan> {
    let events = past.trace.events();
    let order = order_with_access(model, past, delay, trial);
    let n_events = events.len();
    let mut planner = Planner {
        past,
        order,
        delay,
        is_store,
        issued: vec![false; n_events + 1],
        happened: vec![false; n_events + 1],
        visiting: vec![false; n_events + 1],
        steps: Vec::new(),
    };
    let access = EventId::at(n_events);
    if trial.when == When::Last {
        (0..n_events).try_for_each(|index| planner.issue(EventId::at(index)))?;
        if planner.happened[trial.before.index()] {
            return None;
        }
    }
    planner.happen(access)?;
    let until_access = planner.steps.len();
    (0..n_events).try_for_each(|index| planner.issue(EventId::at(index)))?;
    (0..n_events).try_for_each(|index| planner.happen(EventId::at(index)))?;
    Some(Plan { steps: planner.steps, until_access })
}

/// The order of moments of the past, and of the access as the event after the last.
fn order_with_access(model: ModelId, past: &Past, delay: &Delay, trial: Trial) -> Relation {
    let events = past.trace.events();
    let access = EventId::at(events.len());
    let mut order = Relation::empty(events.len() + 1);
    order_of_moments(model, &past.trace).pairs().for_each(|(from, to)| order.add(from, to));
    let thread = delay.access_at.thread;
    for (id, event) in past.trace.ids() {
        let own = event.thread == thread;
        let waited_for = event.is_store() && past.is_waited_for(event, delay, trial.waits);
        if (own && (!event.is_store() || waited_for)) || event.kind == EventKind::Spawn(thread) {
            order.add(id, access);
        }
    }
    let writes = past.trace.coherence(delay.loc);
    let position = writes.iter().position(|&write| write == trial.before).unwrap_or(0);
    for (place, &write) in writes.iter().enumerate() {
        let own_store = past.trace.event(write).is_store() && past.trace.event(write).thread == thread;
        if place >= position {
            order.add(access, write);
        } else if !own_store || trial.waits != Waits::Nothing {
            order.add(write, access);
        }
    }
    // What an access that writes is behind of; for one that only reads it does no harm.
    if trial.waits != Waits::Nothing {
        let earlier = |source| match source {
            Source::Initial => true,
            Source::Write(write) => writes[..position].contains(&write),
        };
        let reads = past.trace.ids().filter(|(_, e)| e.loc == Some(delay.loc) && e.source.is_some_and(earlier));
        let reads: Vec<EventId> = reads.map(|(id, _)| id).collect();
        reads.into_iter().for_each(|read| order.add(read, access));
    }
    order
}

impl Past {
    /// Whether the access waits for `store`, an earlier one of its thread.
    fn is_waited_for(&self, store: &Event, delay: &Delay, waits: Waits) -> bool {
        match waits {
            Waits::Nothing => false,
            Waits::Everything => true,
            Waits::Barrier => {
                let later = self.trace.events().iter().filter(|e| e.thread == store.thread && e.index > store.index);
                let is_marker =
                    |e: &Event| e.kind == EventKind::Fence && matches!(e.order, Order::Release | Order::AcqRel);
                store.loc == Some(delay.loc) || later.into_iter().any(is_marker)
            }
        }
    }
}

struct Planner<'p> {
    past: &'p Past,
    /// On the events of the past and the access, which is the last.
    order: Relation,
    delay: &'p Delay,
    /// Whether the access is a store.
    is_store: bool,
    issued: Vec<bool>,
    /// Stores that are in memory, and everything else that was performed.
    happened: Vec<bool>,
    /// What is being brought about; to need it again is a circle.
    visiting: Vec<bool>,
    steps: Vec<Step>,
}

impl Planner<'_> {
    fn event(&self, id: EventId) -> Option<&Event> {
        self.past.trace.events().get(id.index())
    }

    fn is_store(&self, id: EventId) -> bool {
        self.event(id).map_or(self.is_store, Event::is_store)
    }

    /// The thread of an event and its position there.
    fn position(&self, id: EventId) -> (ThreadId, u32) {
        self.event(id).map_or((self.delay.access_at.thread, self.delay.index), |event| (event.thread, event.index))
    }

    /// The earlier events of the same thread.
    fn earlier(&self, id: EventId) -> Vec<EventId> {
        let (thread, index) = self.position(id);
        self.past.trace.ids().filter(|(_, e)| e.thread == thread && e.index < index).map(|(id, _)| id).collect()
    }

    /// Performs an event, after those before it in its thread.
    fn issue(&mut self, id: EventId) -> Option<()> {
        if self.issued[id.index()] {
            return Some(());
        }
        if !self.is_store(id) {
            return self.happen(id);
        }
        self.prepare(id)?;
        self.perform(id);
        Some(())
    }

    /// Performs what is before an event in its thread, and drains the buffer if that ends with a store that drains.
    fn prepare(&mut self, id: EventId) -> Option<()> {
        let earlier = self.earlier(id);
        earlier.iter().try_for_each(|&other| self.issue(other))?;
        let drains = |e: &Event| e.is_store() && e.order == Order::SeqCst;
        if earlier.last().and_then(|&last| self.event(last)).is_some_and(drains) {
            let stores: Vec<EventId> = earlier.into_iter().filter(|&other| self.is_store(other)).collect();
            stores.into_iter().try_for_each(|store| self.happen(store))?;
        }
        Some(())
    }

    fn perform(&mut self, id: EventId) {
        let access = Step::Issue { thread: self.delay.access_at.thread, alternative: 0 };
        self.steps.push(self.past.steps.get(id.index()).copied().unwrap_or(access));
        self.issued[id.index()] = true;
    }

    /// Lets an event happen: a store reach memory, anything else be performed; first what has to happen before.
    fn happen(&mut self, id: EventId) -> Option<()> {
        if self.happened[id.index()] {
            return Some(());
        }
        if std::mem::replace(&mut self.visiting[id.index()], true) {
            return None;
        }
        if self.is_store(id) {
            self.issue(id)?;
        } else {
            self.prepare(id)?;
        }
        for other in (0..self.order.n_events()).map(EventId::at) {
            if self.order.has(other, id) {
                self.happen(other)?;
            }
        }
        if self.is_store(id) {
            let loc = self.event(id).and_then(|event| event.loc).unwrap_or(self.delay.loc);
            self.steps.push(Step::Commit { thread: self.position(id).0, loc });
        } else {
            self.perform(id);
        }
        self.happened[id.index()] = true;
        self.visiting[id.index()] = false;
        Some(())
    }
}

impl Trial {
    /// Everything to try, the likeliest first.
    pub(super) fn all(past: &Past, delay: &Delay, store: EventId) -> Vec<Trial> {
        let writes = past.trace.coherence(delay.loc);
        let position = writes.iter().position(|&write| write == store).unwrap_or(0);
        let mut waits = vec![delay.waits];
        if delay.waits != Waits::Nothing {
            waits.push(Waits::Nothing);
        }
        let mut trials = Vec::new();
        for when in [When::Last, When::First] {
            for &before in writes[..=position].iter().rev() {
                trials.extend(waits.iter().map(|&waits| Trial { before, when, waits }));
            }
        }
        trials
    }
}
