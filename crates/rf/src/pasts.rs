//! What comes before each event of an execution: in its thread, by what it reads, and by the start and end of threads.

use teetotal_clocks::{ClockTable, join};
use teetotal_memory::{EventId, EventKind, Source};
use teetotal_program::ThreadId;

use super::execution::Execution;
use super::history::History;
use super::names::Name;

/// The pasts of the events of an execution.
pub(super) struct Pasts {
    /// For each thread its events in program order, what only stands among them.
    pub(super) threads: Vec<Vec<EventId>>,
    /// For each event how many events of each thread are in its past, with itself.
    clocks: ClockTable,
    /// For each event the history of its thread after it.
    histories: Vec<History>,
    /// For each event how many of its thread up to it, with itself, can be annotated.
    points: Vec<u32>,
    /// For each thread its history and its past before its first event.
    starts: Vec<(History, Vec<u32>)>,
}

/// Says that an operation has no source, as something that no history is.
const FIRST_VALUE: u128 = 1 << 100;
const ALTERNATIVE: u128 = 1 << 101;
const WAITS: u128 = 1 << 102;

impl Pasts {
    pub(super) fn new<K>(execution: &Execution<K>) -> Self {
        let n_threads = execution.names.len();
        let none = vec![0; n_threads];
        let mut pasts = Pasts {
            threads: vec![Vec::new(); n_threads],
            clocks: ClockTable::new(0, n_threads),
            histories: Vec::new(),
            points: Vec::new(),
            starts: (0..n_threads).map(|thread| (History::of_thread(thread), none.clone())).collect(),
        };
        execution.trace.ids().for_each(|(id, _)| pasts.add(execution, id));
        pasts
    }

    fn add<K>(&mut self, execution: &Execution<K>, id: EventId) {
        let event = execution.trace.event(id);
        let thread = event.thread;
        let mut clock = self.clock_before(thread, event.index).to_vec();
        let before = self.history_before(thread, event.index);
        clock[thread.index()] = event.index + 1;
        let history = if execution.is_performed(id) {
            if let Some(Source::Write(write)) = event.source {
                join(&mut clock, self.clock(write));
            }
            match event.kind {
                EventKind::Choose => self.with_alternative(before, event.index, event.read.unwrap_or(0) as u32),
                EventKind::Join(child) => {
                    let last = self.threads[child.index()].len() as u32;
                    join(&mut clock, self.clock_before(child, last));
                    before.with(event.index, self.history_before(child, last))
                }
                _ => match event.source {
                    Some(source) => self.with_source(execution, before, event.index, source),
                    None => before,
                },
            }
        } else {
            self.waiting(before, event.index)
        };
        if let EventKind::Spawn(child) = event.kind {
            self.starts[child.index()] = (history.and(event.index.into()), clock.clone());
        }
        let points = self.points_before(thread, event.index) + u32::from(history != before);
        self.points.push(points);
        self.clocks.push(&clock);
        self.histories.push(history);
        self.threads[thread.index()].push(id);
    }

    /// The past of whatever `thread` does after so many events.
    pub(super) fn clock_before(&self, thread: ThreadId, index: u32) -> &[u32] {
        match self.last_before(thread, index) {
            Some(id) => self.clock(id),
            None => &self.starts[thread.index()].1,
        }
    }

    /// The history of `thread` after so many events.
    pub(super) fn history_before(&self, thread: ThreadId, index: u32) -> History {
        match self.last_before(thread, index) {
            Some(id) => self.histories[id.index()],
            None => self.starts[thread.index()].0,
        }
    }

    /// How many of the first so many events of `thread` can be annotated.
    pub(super) fn points_before(&self, thread: ThreadId, index: u32) -> u32 {
        self.last_before(thread, index).map_or(0, |id| self.points[id.index()])
    }

    fn last_before(&self, thread: ThreadId, index: u32) -> Option<EventId> {
        Some(self.threads[thread.index()][index.checked_sub(1)? as usize])
    }

    /// How many events of each thread are in the past of the event, with itself.
    pub(super) fn clock(&self, id: EventId) -> &[u32] {
        self.clocks.row(id.index())
    }

    /// A history that goes on with an operation that reads from `source`.
    pub(super) fn with_source<K>(
        &self,
        execution: &Execution<K>,
        before: History,
        index: u32,
        source: Source,
    ) -> History {
        match source {
            Source::Initial => before.and(index.into()).and(FIRST_VALUE),
            Source::Write(id) => {
                let write = execution.trace.event(id);
                before.with(index, self.histories[id.index()].and(write.index.into()))
            }
        }
    }

    /// A history that goes on with a choice.
    pub(super) fn with_alternative(&self, before: History, index: u32, taken: u32) -> History {
        before.and(index.into()).and(ALTERNATIVE | u128::from(taken))
    }

    /// A history that ends with an operation that waits for good.
    pub(super) fn waiting(&self, before: History, index: u32) -> History {
        before.and(index.into()).and(WAITS)
    }

    /// The histories of all events that can be annotated.
    pub(super) fn points(&self) -> impl Iterator<Item = History> + '_ {
        let of_thread = |events: &'_ Vec<EventId>| {
            let mut known = 0;
            let mut points = Vec::new();
            for &id in events {
                if self.points[id.index()] > known {
                    known = self.points[id.index()];
                    points.push(self.histories[id.index()]);
                }
            }
            points
        };
        self.threads.iter().flat_map(of_thread)
    }

    /// How many events of each thread are in the past of what is annotated: the first `points` of each thread by its name.
    pub(super) fn counts_of<K>(&self, execution: &Execution<K>, points: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.threads.len()];
        for (index, events) in self.threads.iter().enumerate() {
            let wanted = execution.names[index].and_then(|name: Name| points.get(name.index())).copied().unwrap_or(0);
            if wanted == 0 {
                continue;
            }
            let last = events.iter().find(|id| self.points[id.index()] == wanted);
            if let Some(&last) = last {
                join(&mut counts, self.clock(last));
            }
        }
        counts
    }
}
