//! Who wrote each location last, and who still has to read that.

use rustc_hash::FxHashMap;

use super::candidates::{Open, Writer};
use super::layout::Layout;

/// Memory, as far as it matters who wrote it.
pub(super) struct LastWriters {
    last: Vec<Writer>,
    /// For each location and writer how many reads that have no other writer left are still to come.
    readers: FxHashMap<(usize, Writer), u32>,
}

impl LastWriters {
    /// Nothing was written, and no read has come.
    pub(super) fn new(layout: &Layout<'_>, open: &Open) -> Self {
        let mut readers = FxHashMap::default();
        for read in &open.reads {
            if let [writer] = read.writers[..] {
                *readers.entry((layout.reads[read.read].loc.index(), writer)).or_default() += 1;
            }
        }
        LastWriters { last: vec![None; layout.locations.len()], readers }
    }

    pub(super) fn last(&self, loc: usize) -> Writer {
        self.last[loc]
    }

    /// How many reads still have to find what `loc` holds now.
    pub(super) fn readers_left(&self, loc: usize) -> u32 {
        self.readers.get(&(loc, self.last[loc])).copied().unwrap_or(0)
    }

    /// Gives who wrote last before.
    pub(super) fn write(&mut self, loc: usize, moment: usize) -> Writer {
        self.last[loc].replace(moment)
    }

    pub(super) fn restore(&mut self, loc: usize, writer: Writer) {
        self.last[loc] = writer;
    }

    pub(super) fn has_read(&mut self, loc: usize, writer: Writer) {
        if let Some(left) = self.readers.get_mut(&(loc, writer)) {
            *left -= 1;
        }
    }

    pub(super) fn reads_again(&mut self, loc: usize, writer: Writer) {
        if let Some(left) = self.readers.get_mut(&(loc, writer)) {
            *left += 1;
        }
    }
}
