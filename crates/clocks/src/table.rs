//! Vector clocks of one length in a table, for those who keep one for each event or each location.

/// Clocks of equal length, one after the other.
#[derive(Clone, Debug)]
pub struct ClockTable {
    width: usize,
    entries: Vec<u32>,
}

impl ClockTable {
    /// `n` clocks of `width` entries that are all 0.
    #[must_use]
    pub fn new(n: usize, width: usize) -> Self {
        ClockTable { width, entries: vec![0; n * width] }
    }

    /// How many clocks there are.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.entries.len().checked_div(self.width).unwrap_or(0)
    }

    /// Appends a clock.
    pub fn push(&mut self, clock: &[u32]) {
        debug_assert_eq!(clock.len(), self.width, "all clocks of a table are of one length");
        self.entries.extend_from_slice(clock);
    }

    /// Makes room for `n` clocks, whose parts of so many entries get `part` entries each; what is new is 0.
    pub fn resize(&mut self, n: usize, parts: &[usize], part: usize) {
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

    /// Makes all of them 0.
    pub fn clear(&mut self) {
        self.entries.fill(0);
    }

    /// The clock at `index`.
    #[inline]
    #[must_use]
    pub fn row(&self, index: usize) -> &[u32] {
        &self.entries[index * self.width..(index + 1) * self.width]
    }

    /// The clock at `index`, to change it.
    #[inline]
    pub fn row_mut(&mut self, index: usize) -> &mut [u32] {
        &mut self.entries[index * self.width..(index + 1) * self.width]
    }
}

/// `into := into ⊔ from`, entry by entry.
#[inline]
pub fn join(into: &mut [u32], from: &[u32]) {
    // By four, which is one instruction or two, since most clocks are short.
    let (into_fours, into_rest) = into.as_chunks_mut::<4>();
    let (from_fours, from_rest) = from.as_chunks::<4>();
    for (into, from) in into_fours.iter_mut().zip(from_fours) {
        *into = std::array::from_fn(|index| into[index].max(from[index]));
    }
    into_rest.iter_mut().zip(from_rest).for_each(|(a, b)| *a = (*a).max(*b));
}
