//! Vector clocks in tables, and the one that decides happens-before along an execution of sequential consistency.

use teetotal_memory::{Event, EventKind};

/// Clocks of equal length, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Table {
    width: usize,
    entries: Vec<u32>,
}

impl Table {
    /// `n` clocks of `width` entries that are all 0.
    pub(super) fn new(n: usize, width: usize) -> Self {
        Table { width, entries: vec![0; n * width] }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.entries.len().checked_div(self.width).unwrap_or(0)
    }

    /// Makes room for `n` clocks, whose parts of so many entries get `part` entries each; what is new is 0.
    pub(super) fn resize(&mut self, n: usize, parts: &[usize], part: usize) {
        let width = part * parts.len();
        if width == self.width {
            self.entries.resize(n * width, 0);
            return;
        }
        let mut entries = Vec::with_capacity(n * width);
        for row in self.entries.chunks_exact(self.width.max(1)) {
            let mut rest = row;
            for &old in parts {
                let (own, others) = rest.split_at(old);
                entries.extend_from_slice(own);
                entries.resize(entries.len() + part - old, 0);
                rest = others;
            }
        }
        entries.resize(n * width, 0);
        (self.width, self.entries) = (width, entries);
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(0);
    }

    #[inline]
    pub(super) fn row(&self, index: usize) -> &[u32] {
        &self.entries[index * self.width..(index + 1) * self.width]
    }

    #[inline]
    pub(super) fn row_mut(&mut self, index: usize) -> &mut [u32] {
        &mut self.entries[index * self.width..(index + 1) * self.width]
    }
}

/// `into := into ⊔ from`, entry by entry.
#[inline]
pub(super) fn join(into: &mut [u32], from: &[u32]) {
    // By four, which is one instruction or two, since most clocks are short.
    let (into_fours, into_rest) = into.as_chunks_mut::<4>();
    let (from_fours, from_rest) = from.as_chunks::<4>();
    for (into, from) in into_fours.iter_mut().zip(from_fours) {
        *into = std::array::from_fn(|index| into[index].max(from[index]));
    }
    into_rest.iter_mut().zip(from_rest).for_each(|(a, b)| *a = (*a).max(*b));
}

/// Decides happens-before: how many events of each thread are at or before the newest one of a thread.
#[derive(Clone, Debug)]
pub(super) struct HappensBefore {
    threads: Table,
    /// For each location, what is at or before its newest write, and at or before any access to it.
    writes: Table,
    accesses: Table,
}

impl HappensBefore {
    pub(super) fn new(n_threads: usize, n_locations: usize) -> Self {
        let table = |n| Table::new(n, n_threads);
        HappensBefore { threads: table(n_threads), writes: table(n_locations), accesses: table(n_locations) }
    }

    pub(super) fn begin(&mut self) {
        [&mut self.threads, &mut self.writes, &mut self.accesses].into_iter().for_each(Table::clear);
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
