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
            self.connect(first, second);
        }
        true
    }

    /// Puts `first` and all before it before `second` and all after it.
    fn connect(&mut self, first: usize, second: usize) {
        let stride = self.stride;
        // What comes after `first` already has all before it that it is to have.
        add_row(&mut self.before, stride, second, first);
        for word in 0..stride {
            let mut later = self.after[second * stride + word] & !self.after[first * stride + word];
            while later != 0 {
                add_row(&mut self.before, stride, 64 * word + later.trailing_zeros() as usize, first);
                later &= later - 1;
            }
        }
        for word in 0..stride {
            let mut earlier = self.before[first * stride + word];
            while earlier != 0 {
                let element = 64 * word + earlier.trailing_zeros() as usize;
                if !self.precedes(element, second) {
                    add_row(&mut self.after, stride, element, second);
                }
                earlier &= earlier - 1;
            }
        }
        add_row(&mut self.after, stride, first, second);
    }
}

/// Puts an element and all of its row into another row.
fn add_row(rows: &mut [u64], stride: usize, to: usize, from: usize) {
    for word in 0..stride {
        rows[to * stride + word] |= rows[from * stride + word];
    }
    rows[to * stride + from / 64] |= 1 << (from % 64);
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

    /// Edges in an order that mixes all cases, beside the closure by its definition.
    #[test]
    fn what_is_added_is_closed() {
        let n = 70;
        let mut order = PartialOrder::new(n);
        let mut edges = Vec::new();
        for step in 0..150 {
            let (a, b) = (step * 37 % n, (step * 53 + 11) % n);
            let (first, second) = (a.min(b), a.max(b));
            if first < second {
                assert!(order.add(first, second));
                edges.push((first, second));
            }
        }
        for start in 0..n {
            let (mut reached, mut open) = (vec![false; n], vec![start]);
            while let Some(at) = open.pop() {
                for &(_, to) in edges.iter().filter(|edge| edge.0 == at) {
                    if !std::mem::replace(&mut reached[to], true) {
                        open.push(to);
                    }
                }
            }
            for (end, reached) in reached.into_iter().enumerate() {
                assert_eq!(order.precedes(start, end), reached, "{start} before {end}");
                assert_eq!(order.before(end)[start / 64] & 1 << (start % 64) != 0, reached, "{end} after {start}");
            }
        }
    }
}
