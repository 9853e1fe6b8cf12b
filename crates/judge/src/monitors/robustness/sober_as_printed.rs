//! Sober's monitor for TSO exactly as printed, to reproduce the paper and to show what it misses.
//!
//! Definition: [SOBER-TR, Fig. 2 and Fig. 3]. A load takes the stamps of all writes up to the one it read from, even
//! where that is a store of its own thread which it may have forwarded; so it seems to be in order with foreign stores
//! that reach memory later, and what it could have missed is not seen. [`super::Sober`] is the corrected one.
//! What the paper does not know is as there, items 3 and 4.

use teetotal_clocks::{ClockTable, join};
use teetotal_memory::{Event, EventId, EventKind};
use teetotal_program::ir::Program;

use super::sc_order::ScHappensBefore;
use super::waits::drains_afterward;
use super::{Algorithm, Attempt, Waits};

/// Finds some borderline traces of TSO; not complete.
#[derive(Clone, Debug)]
pub struct SoberAsPrinted {
    n_threads: usize,
    happens_before: ScHappensBefore,
    /// `lc` and `sc`: the newest load of each thread and its newest store.
    loads: ClockTable,
    stores: ClockTable,
    /// `mc1`: for each location and thread, what a load of that thread comes after.
    for_loads: ClockTable,
    /// `mc2`: for each location, what a store comes after.
    for_stores: ClockTable,
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
}

impl SoberAsPrinted {
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let (n_threads, n_locations) = (program.n_threads(), program.locations.len());
        SoberAsPrinted {
            n_threads,
            happens_before: ScHappensBefore::new(n_threads, n_locations),
            loads: ClockTable::new(n_threads, 2 * n_threads),
            stores: ClockTable::new(n_threads, 2 * n_threads),
            for_loads: ClockTable::new(n_threads * n_locations, 2 * n_threads),
            for_stores: ClockTable::new(n_locations, 2 * n_threads),
            draining: vec![false; n_threads],
            writes: vec![Vec::new(); n_locations],
        }
    }

    fn finish_drain(&mut self, thread: usize) {
        if std::mem::take(&mut self.draining[thread]) {
            join(self.loads.row_mut(thread), self.stores.row(thread));
        }
    }

    fn load(&mut self, event: &Event, loc: usize) {
        let thread = event.thread.index();
        let row = self.loads.row_mut(thread);
        join(row, self.for_loads.row(loc * self.n_threads + thread));
        row[2 * thread] += 1;
        join(self.for_stores.row_mut(loc), self.loads.row(thread));
    }

    /// A join of `child` that only acquires: as a load, it comes after all that the thread did.
    fn acquire_end(&mut self, event: &Event, child: usize) {
        let thread = event.thread.index();
        let ended = self.loads.row(child).to_vec();
        let row = self.loads.row_mut(thread);
        join(row, &ended);
        join(row, self.stores.row(child));
        row[2 * thread] += 1;
    }

    /// A store, or an interlocked operation with or without a location.
    fn store(&mut self, id: EventId, event: &Event) {
        let thread = event.thread.index();
        let row = self.stores.row_mut(thread);
        join(row, self.loads.row(thread));
        if let Some(loc) = event.loc {
            join(row, self.for_stores.row(loc.index()));
        }
        if let EventKind::Join(child) = event.kind {
            join(row, self.loads.row(child.index()));
            let stores = self.stores.row(child.index()).to_vec();
            join(self.stores.row_mut(thread), &stores);
        }
        let row = self.stores.row_mut(thread);
        row[2 * thread] += u32::from(!event.is_store());
        row[2 * thread + 1] += 1;
        let (stamp, count) = (row.to_vec(), row[2 * thread + 1]);
        if let Some(loc) = event.loc.map(teetotal_program::Loc::index) {
            for other in (0..self.n_threads).filter(|&other| other != thread || !event.is_store()) {
                join(self.for_loads.row_mut(loc * self.n_threads + other), &stamp);
            }
            join(self.for_stores.row_mut(loc), &stamp);
            if event.is_write() {
                self.writes[loc].push(Write { id, thread, index: event.index, count });
            }
        }
        if !event.is_store() {
            join(self.loads.row_mut(thread), &stamp);
        }
        if let EventKind::Spawn(child) = event.kind {
            join(self.loads.row_mut(child.index()), &stamp);
        }
        self.draining[thread] = drains_afterward(event);
    }
}

impl Algorithm for SoberAsPrinted {
    fn begin(&mut self) {
        self.happens_before.begin();
        let tables = [&mut self.loads, &mut self.stores, &mut self.for_loads, &mut self.for_stores];
        tables.into_iter().for_each(ClockTable::clear);
        self.draining.fill(false);
        self.writes.iter_mut().for_each(Vec::clear);
    }

    fn overtaken(&mut self, attempt: &Attempt) -> Option<EventId> {
        if attempt.is_store || attempt.waits != Waits::Nothing {
            return None;
        }
        let thread = attempt.thread.index();
        self.finish_drain(thread);
        for write in self.writes[attempt.loc.index()].iter().rev() {
            if write.thread == thread || self.loads.row(thread)[2 * write.thread + 1] >= write.count {
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
            (EventKind::Fence, _) if event.order != teetotal_program::Order::SeqCst => {}
            (EventKind::Choose, _) => {}
            (EventKind::Join(child), _) if event.is_acquiring_join() => self.acquire_end(event, child.index()),
            _ => self.store(id, event),
        }
        self.happens_before.perform(event);
    }
}
