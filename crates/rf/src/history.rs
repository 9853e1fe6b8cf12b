//! The history of a thread as a number: everything that it read, from where, and what came before that.
//!
//! Histories are compared by 128 bits. Two that differ and are the same number would make the search leave out a class.

/// A history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct History(u128);

/// Odd numbers without a pattern.
const FACTORS: [u128; 2] = [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0xd6e8_feb8_6659_fd93_c2b2_ae3d_27d4_eb4f];

impl History {
    /// Of a thread that nobody starts.
    pub(super) fn of_thread(index: usize) -> Self {
        History(FACTORS[0]).and(index as u128)
    }

    /// After something else has happened in it.
    pub(super) fn and(self, what: u128) -> Self {
        let mixed = (self.0 ^ what.wrapping_mul(FACTORS[1])).wrapping_add(FACTORS[0]).wrapping_mul(FACTORS[0]);
        let mixed = (mixed ^ mixed >> 65).wrapping_mul(FACTORS[1]);
        History(mixed ^ mixed >> 63)
    }

    /// After the operation `index` has had to do with another history.
    pub(super) fn with(self, index: u32, other: History) -> Self {
        self.and(index.into()).and(other.0)
    }

    /// Several together, in whatever order.
    pub(super) fn sum(histories: impl Iterator<Item = History>) -> Self {
        History(histories.fold(0, |sum, history| sum.wrapping_add(history.and(1).0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_depend_on_the_order_and_sums_do_not() {
        let [a, b] = [1, 2].map(History::of_thread);
        assert_ne!(a.and(1).and(2), a.and(2).and(1));
        assert_ne!(a.with(1, b), b.with(1, a));
        assert_ne!(a.with(1, b), a.with(2, b));
        assert_eq!(History::sum([a, b].into_iter()), History::sum([b, a].into_iter()));
        assert_ne!(History::sum([a, a].into_iter()), History::sum([b, b].into_iter()));
    }
}
