//! What came before an event, as a trace of its own.

use teetotal_memory::{Event, EventId, EventKind, ModelId, Recorder, Source, Step, Trace, relations};
use teetotal_program::ThreadId;

/// What is at or before one event in happens-before, in the order of the execution.
pub(super) struct Past {
    /// The events as the model would record them; each step performs one.
    pub(super) trace: Trace,
    /// For each event the step that performed it.
    pub(super) steps: Vec<Step>,
    /// Where a given event of the execution is in the past.
    places: Vec<Option<EventId>>,
}

impl Past {
    /// The past of the event of `thread` before position `index`, in an execution of sequential consistency.
    pub(super) fn before(execution: &Trace, thread: ThreadId, index: u32, model: ModelId) -> Past {
        let known = known(execution, thread, index);
        let mut past = Past { trace: Trace::default(), steps: Vec::new(), places: vec![None; known.len()] };
        for (id, event) in execution.ids().filter(|(id, _)| known[id.index()]) {
            past.add(execution, id, event, model);
        }
        past
    }

    /// Where `event` of the execution is in the past.
    pub(super) fn place_of(&self, event: EventId) -> Option<EventId> {
        self.places.get(event.index()).copied().flatten()
    }

    fn add(&mut self, execution: &Trace, id: EventId, event: &Event, model: ModelId) {
        let step = execution.steps()[event.step as usize].step;
        let source = event.source.map(|source| match source {
            Source::Initial => Source::Initial,
            Source::Write(write) => Source::Write(self.places[write.index()].expect("a source is in the past")),
        });
        let is_load = model.rules().failure_is_load && event.kind == EventKind::FailedRmw && event.fails_as_load;
        let kind = if is_load { EventKind::Load } else { event.kind };
        self.trace.step(step);
        let place = Recorder::event(&mut self.trace, Event { kind, source, committed: None, ..*event });
        if event.is_write() {
            self.trace.committed(place);
        }
        self.places[id.index()] = Some(place);
        self.steps.push(step);
    }
}

/// For each event whether it is at or before the one of `thread` before position `index`.
fn known(execution: &Trace, thread: ThreadId, index: u32) -> Vec<bool> {
    let before = relations::happens_before(execution);
    let n_events = execution.events().len();
    let mut known = vec![false; n_events];
    let own = execution.ids().filter(|(_, event)| event.thread == thread && event.index < index);
    let spawn = execution.ids().filter(|(_, event)| event.kind == EventKind::Spawn(thread));
    let mut open: Vec<EventId> = own.chain(spawn).map(|(id, _)| id).collect();
    open.iter().for_each(|id| known[id.index()] = true);
    while let Some(id) = open.pop() {
        for earlier in (0..n_events).map(EventId::at) {
            if !known[earlier.index()] && before.has(earlier, id) {
                known[earlier.index()] = true;
                open.push(earlier);
            }
        }
    }
    known
}
