//! The default: finds every borderline trace of TSO and PSO, whichever execution stands for a trace.
//!
//! A trace of sequential consistency is borderline if one more event turns it into a trace that only the model has
//! [SOBER, Def. 6]. Let `e` be the next access of a thread, to a location `a`, and `E` what is at or before the
//! thread's newest event in happens-before. Let `w` be the last write to `a` in `E`. Then `e` can go before `w` exactly
//! if `w` is a store of another thread that nothing in `E` *forces* into memory: no event of `E` that accesses memory
//! at once comes after `w` in the order of moments, nor does an own store that `e` waits for. See
//! `docs/theory/robustness.md`.
//!
//! Definition: [BURNIM, Fig. 4 and Fig. 5] as relations instead of buffers. We differ in four ways:
//! 1. Only the past of `e` counts, not what the interleaving put before it, so that one execution of a trace is enough.
//! 2. A store to the location of a pending store of another thread does not force it: both wait, in order.
//! 3. Fences, barriers, release stores, locks, spawn and join are events of their own.
//! 4. The check is on the newest store in the past of `e`, which need not be the newest pending one.
//!
//! The clocks of a thread are two rows: how many events of each thread are in its past, and below which position each
//! thread's stores were forced there. The second is exact since all that forces several stores, a fence or a barrier or
//! TSO's order, forces a prefix of them; what PSO forces alone, by reading it, is kept with each write.

use teetotal_clocks::{ClockTable, join};
use teetotal_memory::{Event, EventId, EventKind, ModelId};
use teetotal_program::ir::Program;

use super::waits::{drains_afterward, is_marker};
use super::{Algorithm, Attempt, Waits};

/// Finds borderline traces by clocks; needs one execution for each trace.
///
/// `I` is how a write is named to whoever is told of it.
#[derive(Clone, Debug)]
pub struct Borderline<I = EventId> {
    model: ModelId,
    pub(super) n_threads: usize,
    /// For each thread: what its newest event knows; the past, then what is forced.
    pub(super) threads: ClockTable,
    /// For each thread: which stores come before all of its stores, and before those ahead of its newest barrier.
    stores: ClockTable,
    barred: ClockTable,
    /// For each location: what its newest write knows, and what all of its accesses know.
    pub(super) writes: ClockTable,
    pub(super) accesses: ClockTable,
    /// For each location: which stores come before its newest write, if that is a store.
    newest: ClockTable,
    progress: Vec<Progress>,
    pub(super) locations: Vec<Location<I>>,
}

/// Where a thread is.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// The position of its newest barrier.
    barrier: u32,
    /// The position after a store that everything later waits for, if that is its newest event.
    drain: Option<u32>,
}

/// What is kept of a location.
#[derive(Clone, Debug)]
pub(super) struct Location<I> {
    /// The newest write, which is asked for most.
    pub(super) newest: Option<Write<I>>,
    /// Which of the first 64 threads have read it and needed it to be in memory.
    read_by: u64,
    /// In the order in which they reached memory.
    pub(super) writes: Vec<Write<I>>,
    /// Reads that needed the write to be in memory, of one write after the other.
    pub(super) readers: Vec<(u32, u32)>,
}

impl<I> Default for Location<I> {
    fn default() -> Self {
        Location { newest: None, read_by: 0, writes: Vec::new(), readers: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Write<I> {
    pub(super) id: I,
    pub(super) thread: u32,
    pub(super) index: u32,
    /// Where its readers begin.
    pub(super) readers: u32,
    is_store: bool,
}

impl Borderline {
    #[must_use]
    pub fn new(program: &Program, model: ModelId) -> Self {
        Borderline::with_room(model, program.n_threads(), program.locations.len())
    }
}

impl<I> Write<I> {
    /// Whether it is in a past.
    #[inline]
    pub(super) fn is_in(&self, past: &[u32]) -> bool {
        past[self.thread as usize] > self.index
    }
}

impl<I: Copy> Borderline<I> {
    /// For so many threads and locations.
    #[must_use]
    pub fn with_room(model: ModelId, n_threads: usize, n_locations: usize) -> Self {
        Borderline {
            model,
            n_threads,
            threads: ClockTable::new(n_threads, 2 * n_threads),
            stores: ClockTable::new(n_threads, n_threads),
            barred: ClockTable::new(n_threads, n_threads),
            writes: ClockTable::new(n_locations, 2 * n_threads),
            accesses: ClockTable::new(n_locations, 2 * n_threads),
            newest: ClockTable::new(n_locations, n_threads),
            progress: vec![Progress::default(); n_threads],
            locations: (0..n_locations).map(|_| Location::default()).collect(),
        }
    }

    /// Makes room for so many threads and locations, of which none may be fewer than before.
    pub fn make_room(&mut self, n_threads: usize, n_locations: usize) {
        let (old, new) = (self.n_threads, n_threads);
        self.threads.resize(new, &[old, old], new);
        self.stores.resize(new, &[old], new);
        self.barred.resize(new, &[old], new);
        self.writes.resize(n_locations, &[old, old], new);
        self.accesses.resize(n_locations, &[old, old], new);
        self.newest.resize(n_locations, &[old], new);
        self.n_threads = new;
        self.progress.resize(new, Progress::default());
        self.locations.resize_with(n_locations, Location::default);
    }

    /// Takes in that a store which drains its buffer has done so.
    fn finish_drain(&mut self, thread: usize) {
        if let Some(end) = self.progress[thread].drain.take() {
            self.force(thread, Waits::Everything, end);
        }
    }

    /// An event at position `index` of `thread`, which is not a store, waits for stores.
    fn force(&mut self, thread: usize, waits: Waits, index: u32) {
        let (before, end) = match waits {
            Waits::Nothing => return,
            Waits::Barrier => (&self.barred, self.progress[thread].barrier),
            Waits::Everything => (&self.stores, index),
        };
        let forced = &mut self.threads.row_mut(thread)[self.n_threads..];
        join(forced, before.row(thread));
        forced[thread] = forced[thread].max(end);
    }

    fn load(&mut self, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let location = &mut self.locations[loc];
        join(self.threads.row_mut(thread), self.writes.row(loc));
        let newest = location.newest.as_ref();
        // A load may forward a store of its own thread; whatever waits has it in memory.
        let may_forward = Waits::of(self.model, event) == Waits::Nothing;
        let forwards = |write: &Write<I>| write.thread as usize == thread && may_forward;
        if let Some(write) = newest.filter(|write| write.is_store && !forwards(write)) {
            join(&mut self.threads.row_mut(thread)[self.n_threads..], self.newest.row(loc));
            let bit = if thread < 64 { 1 << thread } else { 0 };
            let is_known = location.read_by & bit != 0
                || (bit == 0
                    && location.readers[write.readers as usize..].iter().any(|(reader, _)| *reader == thread as u32));
            if !is_known {
                location.read_by |= bit;
                location.readers.push((thread as u32, event.index));
            }
        }
        self.threads.row_mut(thread)[thread] = event.index + 1;
        join(self.accesses.row_mut(loc), self.threads.row(thread));
    }

    fn store(&mut self, id: I, event: &Event, loc: usize) {
        let thread = event.thread.index();
        join(self.threads.row_mut(thread), self.accesses.row(loc));
        self.threads.row_mut(thread)[thread] = event.index + 1;
        let before = self.newest.row_mut(loc);
        let end = match Waits::of(self.model, event) {
            Waits::Everything => {
                join(before, self.stores.row(thread));
                // Where stores do not pass each other, what comes after one comes after those before it: it counts itself.
                if self.model.rules().has_barriers { event.index } else { event.index + 1 }
            }
            _ => {
                join(before, self.barred.row(thread));
                self.progress[thread].barrier
            }
        };
        before[thread] = before[thread].max(end);
        join(self.stores.row_mut(thread), self.newest.row(loc));
        self.written(id, event, loc);
        self.progress[thread].drain = drains_afterward(event).then_some(event.index + 1);
    }

    fn update(&mut self, id: I, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let row = self.threads.row_mut(thread);
        join(row, self.accesses.row(loc));
        join(&mut row[self.n_threads..], self.newest.row(loc));
        row[thread] = event.index + 1;
        self.newest.row_mut(loc).fill(0);
        self.written(id, event, loc);
    }

    /// Takes note of a write whose thread knows all that comes before it.
    fn written(&mut self, id: I, event: &Event, loc: usize) {
        let thread = event.thread.index();
        self.writes.row_mut(loc).copy_from_slice(self.threads.row(thread));
        self.accesses.row_mut(loc).copy_from_slice(self.threads.row(thread));
        let location = &mut self.locations[loc];
        let (thread, readers) = (thread as u32, location.readers.len() as u32);
        let write = Write { id, thread, index: event.index, readers, is_store: event.is_store() };
        location.writes.push(write);
        (location.newest, location.read_by) = (Some(write), 0);
    }

    fn fork(&mut self, event: &Event) {
        let thread = event.thread.index();
        self.threads.row_mut(thread)[thread] = event.index + 1;
        match event.kind {
            EventKind::Spawn(child) => {
                let own = self.threads.row(thread).to_vec();
                join(self.threads.row_mut(child.index()), &own);
            }
            EventKind::Join(child) => {
                let child = child.index();
                self.finish_drain(child);
                let other = self.threads.row(child).to_vec();
                let row = self.threads.row_mut(thread);
                join(row, &other);
                let end = other[child];
                let forced = &mut row[self.n_threads..];
                join(forced, self.stores.row(child));
                forced[child] = forced[child].max(end);
            }
            _ => {}
        }
    }

    /// Another execution begins.
    pub fn begin(&mut self) {
        let tables = [&mut self.threads, &mut self.stores, &mut self.barred, &mut self.writes];
        tables.into_iter().chain([&mut self.accesses, &mut self.newest]).for_each(ClockTable::clear);
        self.progress.fill(Progress::default());
        for location in &mut self.locations {
            location.writes.clear();
            location.readers.clear();
            (location.newest, location.read_by) = (None, 0);
        }
    }

    /// The store that may still be in the buffer of another thread at `attempt`, although it happened before.
    pub fn overtaken(&mut self, attempt: &Attempt) -> Option<I> {
        self.overtaken_write(attempt).map(|write| write.id)
    }

    /// The same with what is kept of it.
    #[inline]
    pub(super) fn overtaken_write(&mut self, attempt: &Attempt) -> Option<&Write<I>> {
        let thread = attempt.thread.index();
        self.finish_drain(thread);
        let (past, forced) = self.threads.row(thread).split_at(self.n_threads);
        let Location { newest, writes, readers, .. } = &self.locations[attempt.loc.index()];
        let (write, next) = match newest.as_ref()? {
            write if write.is_in(past) => (write, None),
            // The writes to a location come one after the other, so the past has the first ones.
            _ => {
                let position = writes.partition_point(|write| write.is_in(past));
                (writes.get(position.checked_sub(1)?)?, writes.get(position))
            }
        };
        let waited_for = match attempt.waits {
            Waits::Nothing => false,
            Waits::Barrier => write.is_in(self.barred.row(thread)),
            Waits::Everything => write.is_in(self.stores.row(thread)),
        };
        if write.thread as usize == thread || !write.is_store || write.is_in(forced) || waited_for {
            return None;
        }
        let end = next.map_or(readers.len(), |next| next.readers as usize);
        let mut own = readers[write.readers as usize..end].iter();
        let is_read = own.any(|&(reader, index)| past[reader as usize] > index);
        (!is_read).then_some(write)
    }

    /// Takes in an event, which is called `id` if it writes.
    pub fn perform(&mut self, id: I, event: &Event) {
        let thread = event.thread.index();
        self.finish_drain(thread);
        if !event.is_store() {
            self.force(thread, Waits::of(self.model, event), event.index);
        }
        match event.loc.map(teetotal_program::Loc::index) {
            None => self.fork(event),
            Some(loc) if event.is_store() => self.store(id, event, loc),
            Some(loc) if event.is_write() => self.update(id, event, loc),
            Some(loc) => self.load(event, loc),
        }
        if is_marker(event) {
            let before = self.stores.row(thread).to_vec();
            self.barred.row_mut(thread).copy_from_slice(&before);
            self.progress[thread].barrier = event.index;
        }
    }
}

impl Algorithm for Borderline {
    fn begin(&mut self) {
        self.begin();
    }

    fn overtaken(&mut self, attempt: &Attempt) -> Option<EventId> {
        self.overtaken(attempt)
    }

    fn perform(&mut self, id: EventId, event: &Event) {
        self.perform(id, event);
    }
}
