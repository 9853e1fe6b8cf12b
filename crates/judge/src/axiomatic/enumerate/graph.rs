//! A trace in the making: its events so far, and the order of their moments.

use teetotal_memory::{Event, EventId, EventKind, Source};
use teetotal_program::{Loc, Order, ThreadId};

use crate::axiomatic::facts::Keeps;
use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::placed::{Passed, Placed};

/// Events with program order and reads-from; coherence is still open but for what these force.
#[derive(Clone)]
pub(super) struct Graph {
    pub(super) events: Vec<Placed>,
    /// The order of moments, as far as it is known.
    pub(super) order: PartialOrder,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Default)]
struct Thread {
    passed: Passed,
    n_events: u32,
    /// The event that spawned it.
    spawn: Option<usize>,
}

impl Graph {
    /// No events yet, of `n_threads` threads, and never more than `n_events`.
    pub(super) fn new(n_threads: usize, n_events: usize) -> Self {
        let events = Vec::with_capacity(n_events);
        Graph { events, order: PartialOrder::new(n_events), threads: vec![Thread::default(); n_threads] }
    }

    /// An event of `thread` at `place`, without content.
    pub(super) fn blank(&self, thread: ThreadId, place: u32) -> Event {
        Event {
            thread,
            index: 0,
            kind: EventKind::Load,
            loc: None,
            read: None,
            written: None,
            source: None,
            forwarded: false,
            order: Order::Plain,
            epoch: self.threads[thread.index()].passed.markers(),
            place,
            step: 0,
            committed: None,
        }
    }

    /// Appends an event to its thread; gives whether the order has room for it and for where it reads from.
    ///
    /// `moment` is the first event of its step, this one itself unless it is a further read of an await.
    #[must_use]
    pub(super) fn push(&mut self, event: Event, moment: usize, keeps: Keeps) -> bool {
        let id = self.events.len();
        let thread = &mut self.threads[event.thread.index()];
        let event = Event { index: thread.n_events, ..event };
        thread.n_events += 1;
        let placed = thread.passed.place(event, moment);
        let spawn = thread.spawn;
        if let EventKind::Spawn(child) = event.kind {
            self.threads[child.index()].spawn = Some(id);
        }
        let joined = if let EventKind::Join(child) = event.kind { Some(child) } else { None };
        let mut fits = spawn.is_none_or(|spawn| self.order.add(spawn, moment));
        for earlier in self.events.iter().filter(|e| e.moment != moment) {
            let own = earlier.event.thread == event.thread && (earlier.is_immediate() || keeps(earlier, &placed));
            if own || Some(earlier.event.thread) == joined {
                fits &= self.order.add(earlier.moment, moment);
            }
        }
        self.events.push(placed);
        fits && self.connect(&placed)
    }

    /// Puts a read after its source; gives whether that is possible.
    fn connect(&mut self, read: &Placed) -> bool {
        let (Some(source), Some(loc)) = (read.event.source, read.event.loc) else { return true };
        let newest_own = self.newest_own(read.event.thread, loc, read.event.index);
        let source = match source {
            Source::Initial => {
                return newest_own.is_none() && !self.writes(loc).any(|write| self.order.precedes(write, read.moment));
            }
            Source::Write(source) => source.index(),
        };
        let same_thread = self.events[source].event.thread == read.event.thread;
        let coherent = match newest_own {
            // What it read from is its own newest store, or a foreign write that overwrote that in memory.
            Some(own) if same_thread => own == source,
            Some(own) => self.order.add(own, source),
            None => true,
        };
        let after = same_thread || self.order.add(source, read.moment);
        let overwritten = |write: usize| self.order.precedes(source, write) && self.order.precedes(write, read.moment);
        coherent && after && !self.writes(loc).any(overwritten) && !(read.event.is_write() && self.is_taken(read))
    }

    /// Whether another update read what this one read, which it then would have overwritten.
    fn is_taken(&self, update: &Placed) -> bool {
        let same = |e: &&Placed| e.event.is_write() && e.event.loc == update.event.loc;
        let updates = self.events.iter().filter(same).filter(|e| e.moment != update.moment);
        updates.into_iter().any(|e| e.event.source == update.event.source)
    }

    /// The newest write of `thread` to `loc` before its event `index`.
    fn newest_own(&self, thread: ThreadId, loc: Loc, index: u32) -> Option<usize> {
        self.writes(loc).filter(|&w| self.events[w].event.thread == thread && self.events[w].event.index < index).last()
    }

    /// The writes to `loc` so far.
    pub(super) fn writes(&self, loc: Loc) -> impl Iterator<Item = usize> + '_ {
        let writes = move |placed: &Placed| placed.event.is_write() && placed.event.loc == Some(loc);
        self.events.iter().enumerate().filter(move |(_, placed)| writes(placed)).map(|(index, _)| index)
    }

    /// The id that the next event gets.
    pub(super) fn next_id(&self) -> usize {
        self.events.len()
    }

    /// Where a read of `loc` may find its value: what it holds at first, then each write.
    pub(super) fn sources(&self, loc: Loc) -> impl Iterator<Item = Source> + '_ {
        std::iter::once(Source::Initial).chain(self.writes(loc).map(|write| Source::Write(EventId::at(write))))
    }
}
