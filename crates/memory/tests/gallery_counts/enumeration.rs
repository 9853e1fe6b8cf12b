//! A search over all steps that keeps what has been read so far, without any reduction, so that it can be trusted.

use std::collections::HashSet;
use std::sync::Arc;

use teetotal_memory::{Event, EventId, EventKind, Machine, Model, Recorder, Source, Step};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Snapshot, Status, Subject, ThreadId, packed};

/// What tells two executions apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// The values that each thread read from data, locks left out.
    Values,
    /// The same and the source of each.
    Sources,
    /// All events, their sources, and the order of writes to each location.
    Traces,
    /// The registers and memory that the program observes.
    Outcomes,
}

/// The executions that differ, by how they end.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ends {
    finished: HashSet<Vec<u8>>,
    failed: HashSet<Vec<u8>>,
    /// A thread made an assumption that does not hold.
    discarded: HashSet<Vec<u8>>,
    /// A thread waits for what never comes.
    blocked: HashSet<Vec<u8>>,
}

impl Ends {
    /// How many finished or failed.
    pub(crate) fn n_complete(&self) -> usize {
        self.finished.union(&self.failed).count()
    }

    pub(crate) fn n_failed(&self) -> usize {
        self.failed.len()
    }

    pub(crate) fn n_discarded(&self) -> usize {
        self.discarded.len()
    }

    pub(crate) fn n_blocked(&self) -> usize {
        self.blocked.len()
    }
}

/// What has happened so far, as far as it counts.
#[derive(Clone)]
struct History {
    count: Count,
    /// For each thread, what is kept of its events.
    logs: Vec<Vec<u8>>,
    /// The location of each event of each thread.
    locations: Vec<Vec<Option<Loc>>>,
    /// The writes that reached each location, oldest first.
    coherence: Vec<Vec<EventId>>,
}

/// An event is named by its thread and its position there, so that names do not depend on the interleaving.
fn name(thread: ThreadId, index: usize) -> EventId {
    EventId(u32::from(thread.0) << 16 | index as u32)
}

impl Recorder for History {
    fn event(&mut self, event: Event) -> EventId {
        let thread = event.thread.index();
        let id = name(event.thread, self.locations[thread].len());
        self.locations[thread].push(event.loc);
        let is_data = matches!(event.kind, EventKind::Load | EventKind::Rmw | EventKind::FailedRmw);
        let log = &mut self.logs[thread];
        if self.count == Count::Traces {
            packed::put(log, event.loc.map_or(0, |loc| u64::from(loc.0) + 1));
            packed::put(log, event.written.map_or(0, |value| value.wrapping_add(1)));
        }
        if let (Some(value), Some(source)) = (event.read, event.source)
            && (is_data || self.count == Count::Traces)
        {
            packed::put(log, value);
            if self.count != Count::Values {
                packed::put(log, source_number(Some(source)));
            }
        }
        id
    }

    fn committed(&mut self, event: EventId) {
        let loc = self.locations[event.index() >> 16][event.index() & 0xffff].expect("a write has a location");
        self.coherence[loc.index()].push(event);
    }

    fn step(&mut self, _: Step) {}
}

fn source_number(source: Option<Source>) -> u64 {
    match source {
        None | Some(Source::Initial) => 0,
        Some(Source::Write(id)) => u64::from(id.0) + 1,
    }
}

/// One state of the search.
#[derive(Clone)]
struct State<M> {
    subject: Interpreter,
    machine: Machine<M>,
    history: History,
}

impl<M: Model> State<M> {
    fn new(program: Program, count: Count) -> Self {
        let subject = Interpreter::new(Arc::new(program));
        let machine = Machine::new(&subject);
        let history = History {
            count,
            logs: vec![Vec::new(); subject.n_threads()],
            locations: vec![Vec::new(); subject.n_threads()],
            coherence: vec![Vec::new(); subject.n_locations()],
        };
        State { subject, machine, history }
    }

    /// The history, as far as it tells executions apart.
    fn end_key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        if self.history.count == Count::Outcomes {
            let program = Arc::clone(self.subject.program());
            for &term in &program.observed {
                packed::put(
                    &mut key,
                    match term {
                        Term::Register(thread, reg) => self.subject.register(thread, reg),
                        Term::Memory(loc) => self.machine.memory(loc),
                    },
                );
            }
            return key;
        }
        for log in &self.history.logs {
            packed::put(&mut key, log.len() as u64);
            key.extend_from_slice(log);
        }
        if self.history.count == Count::Traces {
            for writes in &self.history.coherence {
                packed::put(&mut key, writes.len() as u64);
                writes.iter().for_each(|write| packed::put(&mut key, u64::from(write.0)));
            }
        }
        key
    }

    /// Everything on which the future and the end key depend.
    fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        self.subject.save(&mut key);
        self.machine.save(&mut key);
        if self.history.count == Count::Outcomes {
            return key;
        }
        if self.history.count != Count::Values {
            for writes in &self.history.coherence {
                packed::put(&mut key, source_number(writes.last().map(|&id| Source::Write(id))));
            }
            for thread in 0..self.subject.n_threads() {
                let pending = self.machine.buffer(ThreadId::at(thread)).pending();
                pending.iter().for_each(|store| packed::put(&mut key, u64::from(store.event.0)));
            }
        }
        key.extend(self.end_key());
        key
    }

    fn record(&self, ends: &mut Ends) {
        let statuses: Vec<_> = (0..self.subject.n_threads()).map(|t| self.subject.status(ThreadId::at(t))).collect();
        let any = |wanted: fn(&Status) -> bool| statuses.iter().any(wanted);
        let set = if any(|s| matches!(s, Status::Discarded)) {
            &mut ends.discarded
        } else if any(|s| matches!(s, Status::Failed(_))) {
            &mut ends.failed
        } else if any(|s| matches!(s, Status::Ready(_))) {
            &mut ends.blocked
        } else {
            &mut ends.finished
        };
        set.insert(self.end_key());
    }
}

/// Every way in which `program` ends under `M`.
pub(crate) fn enumerate<M: Model>(program: Program, count: Count) -> Ends {
    let mut ends = Ends::default();
    let mut seen = HashSet::new();
    let mut todo = vec![State::<M>::new(program, count)];
    let mut steps = Vec::new();
    while let Some(mut state) = todo.pop() {
        steps.clear();
        state.machine.enabled(&state.subject, &mut steps);
        if steps.is_empty() {
            state.record(&mut ends);
        }
        for &step in &steps {
            let mut next = state.clone();
            next.machine.perform(&mut next.subject, step, &mut next.history);
            if seen.insert(next.key()) {
                todo.push(next);
            }
        }
    }
    ends
}
