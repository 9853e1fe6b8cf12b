//! A partial order that grows edge by edge and says at once when an edge would close a cycle.

/// A transitively closed order without cycles on the numbers below some bound.
#[derive(Clone, Debug)]
pub(crate) struct PartialOrder {
    /// How many words one row takes.
    stride: usize,
    /// For each, what comes after it.
    after: Vec<u64>,
    /// For each, what comes before it; the converse of `after`.
    before: Vec<u64>,
}

impl PartialOrder {
    /// Nothing before anything, on `n` elements.
    pub(crate) fn new(n: usize) -> Self {
        let stride = n.div_ceil(64).max(1);
        PartialOrder { stride, after: vec![0; n * stride], before: vec![0; n * stride] }
    }

    #[inline]
    pub(crate) fn precedes(&self, first: usize, second: usize) -> bool {
        self.after[first * self.stride + second / 64] & 1 << (second % 64) != 0
    }

    /// What comes after an element, as bits.
    #[inline]
    pub(crate) fn after(&self, element: usize) -> &[u64] {
        &self.after[element * self.stride..(element + 1) * self.stride]
    }

    /// What comes before an element, as bits.
    #[inline]
    pub(crate) fn before(&self, element: usize) -> &[u64] {
        &self.before[element * self.stride..(element + 1) * self.stride]
    }

    /// Puts `first` before `second`; gives whether that is possible, and changes nothing if not.
    #[must_use]
    pub(crate) fn add(&mut self, first: usize, second: usize) -> bool {
        if first == second || self.precedes(second, first) {
            return false;
        }
        if !self.precedes(first, second) {
            spread(&mut self.after, &self.before, self.stride, first, second);
            // The rows of `before` are still old here, and those of `after` are only needed from `second` on.
            spread(&mut self.before, &self.after, self.stride, second, first);
        }
        true
    }
}

/// Puts `far` and all of its row into the rows of `near` and of everything in the row of `near` in `converse`.
fn spread(rows: &mut [u64], converse: &[u64], stride: usize, near: usize, far: usize) {
    for word in 0..stride {
        let bit = if far / 64 == word { 1 << (far % 64) } else { 0 };
        let reached = rows[far * stride + word] | bit;
        rows[near * stride + word] |= reached;
        for (offset, &members) in converse[near * stride..(near + 1) * stride].iter().enumerate() {
            let mut members = members;
            while members != 0 {
                let member = 64 * offset + members.trailing_zeros() as usize;
                rows[member * stride + word] |= reached;
                members &= members - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_closes_a_cycle_is_refused_across_words() {
        let mut order = PartialOrder::new(130);
        assert!(order.add(0, 70) && order.add(70, 129) && order.add(5, 0));
        assert!(order.precedes(5, 129) && order.precedes(0, 129) && !order.precedes(129, 5));
        assert!(!order.add(129, 5) && !order.add(3, 3));
        assert!(order.add(129, 3) && order.precedes(5, 3));
    }
}
