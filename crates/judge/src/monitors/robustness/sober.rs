//! Sober's monitor for TSO, with relaxed happens-before corrected.
//!
//! A load is unsafe if some write it could read around happened before the last event of its thread, and not before the
//! last one that has to be in order with the load: in happens-before, but not in relaxed happens-before.
//!
//! Definition: [SOBER-TR, Fig. 2 and Fig. 3]. We differ in four ways:
//! 1. A load comes after the write it read from, not after every write up to that one; so its clock takes the stamp of
//!    that write alone, and nothing where it forwards a store of its own thread. As printed, 68 programs of E1 and 143
//!    of E3 are missed: [`super::SoberAsPrinted`].
//! 2. One stamp and the last writer for each location take the place of a clock for each processor and location.
//! 3. Fences, spawn and join are interlocked operations without a location; a `SeqCst` store is one followed by a
//!    fence.
//! 4. A read-modify-write that writes nothing, or may, and a thread that waits are loads in order with everything
//!    before.

use teetotal_clocks::{ClockTable, join};
use teetotal_memory::{Event, EventId, EventKind};
use teetotal_program::ir::Program;

use super::sc_order::ScHappensBefore;
use super::waits::drains_afterward;
use super::{Algorithm, Attempt, Waits};

/// Finds borderline traces of TSO by a clock for relaxed happens-before; needs one execution for each trace.
#[derive(Clone, Debug)]
pub struct Sober {
    happens_before: ScHappensBefore,
    /// For each thread, what comes before its newest reader: how many readers and writers of each thread.
    readers: ClockTable,
    /// The same of its newest writer.
    writers: ClockTable,
    /// For each location, the stamp of its newest write, and of all of its accesses.
    newest: ClockTable,
    accesses: ClockTable,
    /// The thread whose next event comes after everything it stored.
    draining: Vec<bool>,
    writes: Vec<Vec<Write>>,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    id: EventId,
    thread: usize,
    index: u32,
    /// How many writers its thread has, with this one.
    count: u32,
    is_store: bool,
}

impl Sober {
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let (n_threads, n_locations) = (program.n_threads(), program.locations.len());
        Sober {
            happens_before: ScHappensBefore::new(n_threads, n_locations),
            readers: ClockTable::new(n_threads, 2 * n_threads),
            writers: ClockTable::new(n_threads, 2 * n_threads),
            newest: ClockTable::new(n_locations, 2 * n_threads),
            accesses: ClockTable::new(n_locations, 2 * n_threads),
            draining: vec![false; n_threads],
            writes: vec![Vec::new(); n_locations],
        }
    }

    fn finish_drain(&mut self, thread: usize) {
        if std::mem::take(&mut self.draining[thread]) {
            join(self.readers.row_mut(thread), self.writers.row(thread));
        }
    }

    fn load(&mut self, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let forwards = self.writes[loc].last().is_some_and(|write| write.thread == thread && write.is_store);
        let row = self.readers.row_mut(thread);
        if !forwards {
            join(row, self.newest.row(loc));
        }
        row[2 * thread] += 1;
        join(self.accesses.row_mut(loc), self.readers.row(thread));
    }

    fn store(&mut self, id: EventId, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let row = self.writers.row_mut(thread);
        join(row, self.readers.row(thread));
        join(row, self.accesses.row(loc));
        row[2 * thread + 1] += 1;
        self.written(id, event, loc);
        self.draining[thread] = drains_afterward(event);
    }

    /// A join of `child` that only acquires: as a load, it comes after all that the thread did.
    fn acquire_end(&mut self, event: &Event, child: usize) {
        let thread = event.thread.index();
        let ended = self.readers.row(child).to_vec();
        let row = self.readers.row_mut(thread);
        join(row, &ended);
        join(row, self.writers.row(child));
        row[2 * thread] += 1;
    }

    /// An interlocked operation, with or without a location.
    fn interlocked(&mut self, id: EventId, event: &Event) {
        let thread = event.thread.index();
        let row = self.writers.row_mut(thread);
        join(row, self.readers.row(thread));
        if let Some(loc) = event.loc {
            let before = if event.is_write() { &self.accesses } else { &self.newest };
            join(row, before.row(loc.index()));
        }
        if let EventKind::Join(child) = event.kind {
            join(row, self.readers.row(child.index()));
            let stores = self.writers.row(child.index()).to_vec();
            join(self.writers.row_mut(thread), &stores);
        }
        let row = self.writers.row_mut(thread);
        row[2 * thread] += 1;
        row[2 * thread + 1] += 1;
        self.readers.row_mut(thread).copy_from_slice(self.writers.row(thread));
        if let EventKind::Spawn(child) = event.kind {
            join(self.readers.row_mut(child.index()), self.writers.row(thread));
        }
        match event.loc {
            Some(loc) if event.is_write() => self.written(id, event, loc.index()),
            Some(loc) => join(self.accesses.row_mut(loc.index()), self.writers.row(thread)),
            None => {}
        }
    }

    fn written(&mut self, id: EventId, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let stamp = self.writers.row(thread);
        self.newest.row_mut(loc).copy_from_slice(stamp);
        self.accesses.row_mut(loc).copy_from_slice(stamp);
        let count = stamp[2 * thread + 1];
        self.writes[loc].push(Write { id, thread, index: event.index, count, is_store: event.is_store() });
    }
}

impl Algorithm for Sober {
    fn begin(&mut self) {
        self.happens_before.begin();
        let tables = [&mut self.readers, &mut self.writers, &mut self.newest, &mut self.accesses];
        tables.into_iter().for_each(ClockTable::clear);
        self.draining.fill(false);
        self.writes.iter_mut().for_each(Vec::clear);
    }

    fn overtaken(&mut self, attempt: &Attempt) -> Option<EventId> {
        if attempt.is_store {
            return None;
        }
        let thread = attempt.thread.index();
        self.finish_drain(thread);
        let in_order = match attempt.waits {
            Waits::Nothing => [&self.readers, &self.readers],
            _ => [&self.readers, &self.writers],
        };
        for write in self.writes[attempt.loc.index()].iter().rev() {
            let comes_before = |table: &&ClockTable| table.row(thread)[2 * write.thread + 1] >= write.count;
            if write.thread == thread || in_order.iter().any(comes_before) {
                return None;
            }
            if self.happens_before.knows(thread, write.thread, write.index) {
                return Some(write.id);
            }
        }
        None
    }

    fn perform(&mut self, id: EventId, event: &Event) {
        self.finish_drain(event.thread.index());
        match (event.kind, event.loc) {
            (EventKind::Load, Some(loc)) => self.load(event, loc.index()),
            (EventKind::Store, Some(loc)) => self.store(id, event, loc.index()),
            (EventKind::Fence, _) if event.order != teetotal_program::Order::SeqCst => {}
            (EventKind::Choose, _) => {}
            (EventKind::Join(child), _) if event.is_acquiring_join() => self.acquire_end(event, child.index()),
            _ => self.interlocked(id, event),
        }
        self.happens_before.perform(event);
    }
}
