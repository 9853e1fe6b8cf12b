//! A trace in the making: its events so far, and the order of their moments.

use teetotal_memory::{Event, EventId, EventKind, Source};
use teetotal_program::{Loc, ThreadId};

use crate::axiomatic::facts::Keeps;
use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::placed::{self, Passed, Placed};

/// Events with program order and reads-from; coherence is still open but for what these force.
#[derive(Clone)]
pub(super) struct Graph {
    /// Whether a store may reach memory later than it is performed.
    stores_wait: bool,
    /// Whether there is one order in which events happen, which coherence and from-read are part of.
    pub(super) has_moments: bool,
    pub(super) events: Vec<Placed>,
    /// The order of moments, as far as it is known; without moments, program order and reads-from.
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
    pub(super) fn new(stores_wait: bool, has_moments: bool, n_threads: usize, n_events: usize) -> Self {
        let events = Vec::with_capacity(n_events);
        let threads = vec![Thread::default(); n_threads];
        Graph { stores_wait, has_moments, events, order: PartialOrder::new(n_events), threads }
    }

    /// An event of `thread` at `place`, without content.
    pub(super) fn blank(&self, thread: ThreadId, place: u32) -> Event {
        Event { epoch: self.threads[thread.index()].passed.markers(), place, ..Event::blank(thread) }
    }

    /// Appends an event to its thread; gives whether the order has room for it and for where it reads from.
    ///
    /// `issued` is the first event of its step, this one itself unless it is a further event of an await.
    #[must_use]
    pub(super) fn push(&mut self, event: Event, issued: usize, keeps: Keeps) -> bool {
        let id = self.events.len();
        let moment = placed::moment(self.stores_wait, &event, id, issued);
        let thread = &mut self.threads[event.thread.index()];
        let event = Event { index: thread.n_events, ..event };
        thread.n_events += 1;
        let placed = thread.passed.place(event, moment, issued);
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
        fits && self.connect(&placed) && (!self.has_moments || self.saturate())
    }

    /// Puts a read after its source; gives whether that is possible.
    fn connect(&mut self, read: &Placed) -> bool {
        let (Some(source), Some(loc)) = (read.event.source, read.event.loc) else { return true };
        if !self.has_moments {
            let Source::Write(source) = source else { return true };
            return self.order.add(self.moment(source.index()), read.moment);
        }
        let newest_own = self.newest_own(read.event.thread, loc, read.event.index);
        let Source::Write(source) = source else { return newest_own.is_none() };
        let same_thread = self.events[source.index()].event.thread == read.event.thread;
        let source = self.moment(source.index());
        let coherent = match newest_own {
            // What it read from is its own newest store, or a foreign write that overwrote that in memory.
            Some(own) if same_thread => self.moment(own) == source,
            Some(own) => self.order.add(self.moment(own), source),
            None => true,
        };
        coherent && (same_thread || self.order.add(source, read.moment))
    }

    /// Adds what coherence is bound to be, until nothing follows any more; gives whether that is possible.
    ///
    /// A write that comes before a read but is not its source comes before the source too, and one that comes after the
    /// source comes after the read. This only finds early what choosing coherence would find late.
    fn saturate(&mut self) -> bool {
        loop {
            let mut changed = false;
            for read in 0..self.events.len() {
                let Placed { event, moment, .. } = self.events[read];
                let (Some(source), Some(loc)) = (event.source, event.loc) else { continue };
                for write in 0..self.events.len() {
                    let other = self.events[write].event;
                    let at_once = self.moment(write) == moment;
                    if at_once || !other.is_write() || other.loc != Some(loc) {
                        continue;
                    }
                    let Some((before, after)) = self.forced(source, moment, write) else { continue };
                    changed |= !self.order.precedes(before, after);
                    if !self.order.add(before, after) {
                        return false;
                    }
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// What has to come before what, for a read of `source` at `moment` and another write to its location.
    fn forced(&self, source: Source, moment: usize, write: usize) -> Option<(usize, usize)> {
        let write = self.moment(write);
        let source = match source {
            Source::Initial => return Some((moment, write)),
            Source::Write(source) => self.moment(source.index()),
        };
        if source == write {
            None
        } else if self.order.precedes(source, write) {
            Some((moment, write))
        } else if self.order.precedes(write, moment) {
            Some((write, source))
        } else {
            None
        }
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

    /// When the event with this number happens.
    pub(super) fn moment(&self, id: usize) -> usize {
        self.events[id].moment
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
