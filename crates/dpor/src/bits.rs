//! Sets of nodes as bits.
//!
//! Loops are written out: code under the checker is mostly built without optimization, and this with it, where each
//! iterator costs as much as the words that it goes over.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of the numbers below `64 * N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bits<const N: usize>([u64; N]);

impl<const N: usize> Bits<N> {
    pub(super) const EMPTY: Self = Bits([0; N]);

    /// How many different members there can be.
    pub(super) const CAPACITY: u32 = 64 * N as u32;

    #[inline]
    pub(super) fn one(member: u32) -> Self {
        let mut bits = Bits::EMPTY;
        bits.insert(member);
        bits
    }

    #[inline]
    pub(super) fn has(&self, member: u32) -> bool {
        self.0[member as usize / 64] & 1 << (member % 64) != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, member: u32) {
        self.0[member as usize / 64] |= 1 << (member % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, member: u32) {
        self.0[member as usize / 64] &= !(1 << (member % 64));
    }

    /// The smallest number that is not in it, if there is room for one.
    #[inline]
    pub(super) fn first_free(&self) -> Option<u32> {
        let mut word = 0;
        while word < N {
            if self.0[word] != u64::MAX {
                return Some(64 * word as u32 + self.0[word].trailing_ones());
            }
            word += 1;
        }
        None
    }

    /// Takes the smallest member out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let mut word = 0;
        while word < N {
            let members = self.0[word];
            if members != 0 {
                self.0[word] = members & (members - 1);
                return Some(64 * word as u32 + members.trailing_zeros());
            }
            word += 1;
        }
        None
    }

    /// Whether something in it is in `other` too.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        let mut word = 0;
        while word < N {
            if self.0[word] & other.0[word] != 0 {
                return true;
            }
            word += 1;
        }
        false
    }

    /// Whether everything in it is in `other` too.
    #[inline]
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let mut word = 0;
        while word < N {
            if self.0[word] & !other.0[word] != 0 {
                return false;
            }
            word += 1;
        }
        true
    }

    /// Whether everything in it that is in `part` is in `other` too.
    #[inline]
    pub(super) fn is_within_of(&self, part: &Self, other: &Self) -> bool {
        let mut word = 0;
        while word < N {
            if self.0[word] & part.0[word] & !other.0[word] != 0 {
                return false;
            }
            word += 1;
        }
        true
    }

    /// Adds what of `from` is not in it, to `rest` too.
    #[inline]
    pub(super) fn add_new(&mut self, from: &Self, rest: &mut Self) {
        let mut word = 0;
        while word < N {
            let new = from.0[word] & !self.0[word];
            self.0[word] |= new;
            rest.0[word] |= new;
            word += 1;
        }
    }

    /// The members, smallest first.
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        let (mut rest, mut word) = (self, 0);
        std::iter::from_fn(move || {
            while word < N {
                let members = rest.0[word];
                if members != 0 {
                    rest.0[word] = members & (members - 1);
                    return Some(64 * word as u32 + members.trailing_zeros());
                }
                word += 1;
            }
            None
        })
    }
}

impl<const N: usize> Default for Bits<N> {
    fn default() -> Self {
        Bits::EMPTY
    }
}

impl<const N: usize> BitOr for Bits<N> {
    type Output = Self;

    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl<const N: usize> BitOrAssign for Bits<N> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        let mut word = 0;
        while word < N {
            self.0[word] |= other.0[word];
            word += 1;
        }
    }
}

impl<const N: usize> BitAnd for Bits<N> {
    type Output = Self;

    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl<const N: usize> BitAndAssign for Bits<N> {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        let mut word = 0;
        while word < N {
            self.0[word] &= other.0[word];
            word += 1;
        }
    }
}

impl<const N: usize> Not for Bits<N> {
    type Output = Self;

    #[inline]
    fn not(mut self) -> Self {
        let mut word = 0;
        while word < N {
            self.0[word] = !self.0[word];
            word += 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_across_words() {
        let mut bits = Bits::<3>::EMPTY;
        [0, 63, 64, 130].into_iter().for_each(|member| bits.insert(member));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 63, 64, 130]);
        bits.remove(64);
        assert!(bits.has(130) && !bits.has(64));
        assert!(bits.meets(&Bits::one(130)) && !bits.meets(&Bits::one(64)));
        assert_eq!((bits & !Bits::one(0)).pop(), Some(63));
        assert_eq!(bits.first_free(), Some(1));
        assert_eq!((0..192).fold(Bits::<3>::EMPTY, |all, member| all | Bits::one(member)).first_free(), None);
    }
}
