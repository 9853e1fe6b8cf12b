//! A trace laid out for questions: moments, who writes what, and what must come before what in any case.

use teetotal_memory::{EventId, EventKind, ModelId, Source, Trace};
use teetotal_program::{Loc, Value};

use super::question::Demand;
use crate::axiomatic::{Axioms, Keeps, PartialOrder, Placed, place_all};

/// What all questions about a trace have in common.
pub(super) struct Layout<'t> {
    pub(super) trace: &'t Trace,
    pub(super) model: ModelId,
    pub(super) placed: Vec<Placed>,
    /// For each thread its events in program order.
    pub(super) threads: Vec<Vec<EventId>>,
    pub(super) reads: Vec<Read>,
    /// For each location the moments of its writes, and what it holds at first.
    pub(super) locations: Vec<Location>,
    /// For each moment what it writes, if it writes.
    pub(super) writes: Vec<Option<Write>>,
    /// For each moment its reads, as a stretch of [`Layout::reads`].
    pub(super) reads_at: Vec<std::ops::Range<u32>>,
    /// For each moment when it came in the trace.
    pub(super) rank: Vec<u32>,
    /// For each thread the event that starts it, if one does.
    pub(super) starters: Vec<Option<EventId>>,
    /// What must come before what whatever is asked: kept program order, spawn and join.
    pub(super) must: PartialOrder,
    /// Whether reads of which nothing is demanded keep their sources, not only their values.
    pub(super) keeps_sources: bool,
}

/// An event that reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) event: EventId,
    pub(super) moment: usize,
    pub(super) loc: Loc,
    pub(super) value: Value,
    /// The newest write of its own thread to its location before it, as a moment.
    pub(super) own: Option<usize>,
}

/// An event that writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) event: EventId,
    pub(super) loc: Loc,
    pub(super) value: Value,
}

/// A location.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) initial: Value,
    pub(super) writes: Vec<usize>,
}

impl<'t> Layout<'t> {
    pub(super) fn new(model: ModelId, trace: &'t Trace, initial: impl Fn(Loc) -> Value) -> Self {
        let placed = place_all(model, trace);
        let mut threads = vec![Vec::new(); trace.n_threads()];
        trace.ids().for_each(|(id, event)| threads[event.thread.index()].push(id));
        let n_locations = trace.n_locations();
        let location = |index| Location { initial: initial(Loc::at(index)), writes: Vec::new() };
        let mut layout = Layout {
            trace,
            model,
            must: must_order(Axioms::of(model).keeps, &placed, &threads),
            writes: vec![None; placed.len()],
            reads_at: vec![0..0; placed.len()],
            rank: vec![0; placed.len()],
            reads: Vec::new(),
            starters: vec![None; threads.len()],
            locations: (0..n_locations).map(location).collect(),
            placed,
            threads,
            keeps_sources: false,
        };
        layout.add_forks();
        layout.find_accesses();
        layout
    }

    /// From each spawn to what the thread does, and from what a thread did to each join.
    fn add_forks(&mut self) {
        let mut started = vec![false; self.threads.len()];
        for (id, event) in self.trace.ids() {
            started[event.thread.index()] = true;
            let (EventKind::Spawn(child) | EventKind::Join(child)) = event.kind else { continue };
            let Some(events) = self.threads.get(child.index()) else { continue };
            let is_join = event.kind == EventKind::Join(child);
            if !is_join {
                if std::mem::replace(&mut started[child.index()], true) {
                    continue;
                }
                self.starters[child.index()] = Some(id);
            }
            for other in events.iter().map(|other| self.placed[other.index()].moment) {
                let here = self.placed[id.index()].moment;
                let fits = if is_join { self.must.add(other, here) } else { self.must.add(here, other) };
                debug_assert!(fits, "a thread is started or waited for against the order of the trace");
            }
        }
    }

    fn find_accesses(&mut self) {
        let mut own: Vec<Vec<Option<usize>>> = vec![vec![None; self.locations.len()]; self.threads.len()];
        for (id, event) in self.trace.ids() {
            let moment = self.placed[id.index()].moment;
            let when = if event.is_store() { event.committed.unwrap_or(u32::MAX) } else { event.step };
            self.rank[moment] = self.rank[moment].max(when);
            let Some(loc) = event.loc else { continue };
            let newest = &mut own[event.thread.index()][loc.index()];
            if let (Some(value), true) = (event.read, event.is_read()) {
                let number = self.reads.len() as u32;
                let range = &mut self.reads_at[moment];
                let first = if range.start < range.end { range.start } else { number };
                *range = first..number + 1;
                self.reads.push(Read { event: id, moment, loc, value, own: *newest });
            }
            if let Some(value) = event.written {
                *newest = Some(moment);
                self.writes[moment] = Some(Write { event: id, loc, value });
                self.locations[loc.index()].writes.push(moment);
            }
        }
    }

    /// How many moments there may be; each is the number of an event, and not all events are moments.
    pub(super) fn len(&self) -> usize {
        self.placed.len()
    }

    pub(super) fn moment(&self, event: EventId) -> usize {
        self.placed[event.index()].moment
    }

    /// The moment of the write that is the source, if it is one.
    pub(super) fn writer(&self, source: Source) -> Option<usize> {
        match source {
            Source::Initial => None,
            Source::Write(write) => Some(self.moment(write)),
        }
    }

    /// Where `read` is to take its value from where sources are kept.
    pub(super) fn kept_source(&self, read: EventId, demands: &[Demand]) -> Option<Source> {
        let demanded = demands.iter().find_map(|demand| match *demand {
            Demand::Source { read: event, source } if event == read => Some(source),
            _ => None,
        });
        demanded.or(self.trace.event(read).source)
    }

    /// Whether the write at `moment` is one of the thread of `read`, and before it in program order.
    pub(super) fn is_own(&self, moment: usize, read: &Read) -> bool {
        let Some(write) = self.writes[moment] else { return false };
        let (write, read_event) = (self.trace.event(write.event), self.trace.event(read.event));
        moment != read.moment && write.thread == read_event.thread && write.index < read_event.index
    }

    /// As many events of each thread as take part when it is to perform `wanted`.
    pub(super) fn admit(&self, wanted: &[u32]) -> Vec<usize> {
        let mut counts: Vec<usize> = (0..self.threads.len())
            .map(|thread| wanted.get(thread).map_or(0, |&count| count as usize).min(self.threads[thread].len()))
            .collect();
        while self.shorten(&mut counts) {}
        counts
    }

    /// Takes a thread back to where it could have come; gives whether one had to be.
    fn shorten(&self, counts: &mut [usize]) -> bool {
        let performs = |counts: &[usize], id: EventId| {
            let event = self.trace.event(id);
            (event.index as usize) < counts[event.thread.index()]
        };
        for thread in 0..counts.len() {
            let fits = |index: &usize| {
                let id = self.threads[thread][*index];
                let has_begun = self.starters[thread].is_none_or(|spawn| performs(counts, spawn));
                has_begun && self.is_whole(thread, *index, counts[thread]) && self.has_ended(id, counts)
            };
            let fitting = (0..counts[thread]).take_while(fits).count();
            if fitting < counts[thread] {
                counts[thread] = fitting;
                return true;
            }
        }
        false
    }

    /// Whether the step of this event is performed as a whole when the thread performs `count` events.
    fn is_whole(&self, thread: usize, index: usize, count: usize) -> bool {
        let events = &self.threads[thread];
        let step = self.trace.event(events[index]).step;
        events.get(count).is_none_or(|&next| self.trace.event(next).step != step)
    }

    /// Whether the thread that this event waits for, if it does, performs all that it did.
    fn has_ended(&self, id: EventId, counts: &[usize]) -> bool {
        let EventKind::Join(child) = self.trace.event(id).kind else { return true };
        counts.get(child.index()).is_none_or(|&count| count == self.threads[child.index()].len())
    }
}

/// What a model keeps of program order.
fn must_order(keeps: Keeps, placed: &[Placed], threads: &[Vec<EventId>]) -> PartialOrder {
    let mut order = PartialOrder::new(placed.len());
    for thread in threads {
        // From the end, so that little is before what is added.
        for (index, first) in thread.iter().enumerate().rev() {
            let earlier = &placed[first.index()];
            for second in &thread[index + 1..] {
                let later = &placed[second.index()];
                let (from, to) = (earlier.moment, later.moment);
                if from == to || !earlier.is_immediate() && !keeps(earlier, later) {
                    continue;
                }
                if !order.precedes(from, to) {
                    let fits = order.add(from, to);
                    debug_assert!(fits, "program order has a cycle");
                }
                if earlier.is_immediate() && later.is_immediate() {
                    break;
                }
            }
        }
    }
    order
}
