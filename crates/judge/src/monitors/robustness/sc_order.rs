//! The happens-before of sequential consistency: program order, and the order of conflicting accesses to each location.
//!
//! The happens-before of the language, [`teetotal_clocks::HappensBefore`], is another relation: there only what
//! synchronizes is ordered, here every two accesses that conflict are.

use teetotal_clocks::{ClockTable, join};
use teetotal_memory::{Event, EventKind};

/// Decides happens-before: how many events of each thread are at or before the newest one of a thread.
#[derive(Clone, Debug)]
pub(super) struct ScHappensBefore {
    threads: ClockTable,
    /// For each location, what is at or before its newest write, and at or before any access to it.
    writes: ClockTable,
    accesses: ClockTable,
}

impl ScHappensBefore {
    pub(super) fn new(n_threads: usize, n_locations: usize) -> Self {
        let table = |n| ClockTable::new(n, n_threads);
        ScHappensBefore { threads: table(n_threads), writes: table(n_locations), accesses: table(n_locations) }
    }

    pub(super) fn begin(&mut self) {
        [&mut self.threads, &mut self.writes, &mut self.accesses].into_iter().for_each(ClockTable::clear);
    }

    /// Whether the event at position `index` of `of` is at or before the newest event of `thread`.
    pub(super) fn knows(&self, thread: usize, of: usize, index: u32) -> bool {
        self.threads.row(thread)[of] > index
    }

    pub(super) fn perform(&mut self, event: &Event) {
        let thread = event.thread.index();
        let row = self.threads.row_mut(thread);
        if let Some(loc) = event.loc {
            let before = if event.is_write() { &self.accesses } else { &self.writes };
            join(row, before.row(loc.index()));
        }
        row[thread] = event.index + 1;
        if let EventKind::Join(child) = event.kind {
            let other = self.threads.row(child.index()).to_vec();
            join(self.threads.row_mut(thread), &other);
        }
        if let EventKind::Spawn(child) = event.kind {
            let own = self.threads.row(thread).to_vec();
            join(self.threads.row_mut(child.index()), &own);
        }
        if let Some(loc) = event.loc {
            join(self.accesses.row_mut(loc.index()), self.threads.row(thread));
            if event.is_write() {
                join(self.writes.row_mut(loc.index()), self.threads.row(thread));
            }
        }
    }
}
