//! Backward revisits: which older reads may read from a write that is about to be added.
//!
//! The graph that a revisit leads to is restricted to what was added before the read, and to the porf-prefix of the
//! write. Every deleted event must be maximal, so that of all the graphs that differ in what is deleted only one leads to
//! the restricted one. [TRUST, Alg. 1]; see `docs/theory/dpor.md`.

use super::bits::Bits;
use super::consistency::Consistency;
use super::graph::{Graph, NONE, Role, Slot};

impl<C: Consistency, const N: usize> Graph<C, N> {
    /// Whether a read-modify-write reads from `write`, so that no other write can come directly after it.
    pub(super) fn is_updated(&self, write: Slot, loc: usize) -> bool {
        let follower = self.follower(write, loc);
        follower != NONE && self.node(follower).role == Role::UpdateWrite
    }

    /// Calls `each` with the reads of `loc` that a write with this porf-`prefix`, about to be added, may revisit, newest
    /// first.
    pub(super) fn backward_revisits(
        &self,
        loc: usize,
        prefix: Bits<N>,
        maximal: &mut MaximalWrites,
        mut each: impl FnMut(Slot),
    ) {
        let mut reads = self.location(loc).all_readers & !prefix;
        maximal.0.clear();
        for &slot in self.added.iter().rev() {
            if reads == Bits::EMPTY {
                return;
            }
            if prefix.has(slot) {
                continue;
            }
            if !self.is_maximal(slot, prefix, maximal) {
                return;
            }
            if reads.has(slot) {
                reads.remove(slot);
                each(slot);
            }
        }
    }

    /// Whether `slot` is maximal in coherence among what was added before it and `prefix`: it is what would be added
    /// first, given only these.
    ///
    /// Events are asked about from the newest on; `maximal` has, for each location, the maximal write among these.
    fn is_maximal(&self, slot: Slot, prefix: Bits<N>, maximal: &mut MaximalWrites) -> bool {
        let node = self.node(slot);
        let is_previous = |other: Slot| self.node(other).stamp <= node.stamp || prefix.has(other);
        match node.role {
            Role::Fence | Role::Spawn | Role::Join(_) | Role::Other => true,
            Role::Choice(alternative) => alternative == 0,
            Role::Retried => node.source == NONE || is_previous(node.source),
            Role::Read | Role::Blocked | Role::UpdateRead => {
                (node.source == NONE || is_previous(node.source))
                    && node.source == self.maximal_write(node.loc(), is_previous, maximal)
            }
            Role::Store | Role::UpdateWrite => {
                slot == self.maximal_write(node.loc(), is_previous, maximal) && !node.readers.iter().any(is_previous)
            }
        }
    }

    /// The last write in coherence that `is_previous`; later ones than the one in `maximal` are not.
    fn maximal_write(&self, loc: usize, is_previous: impl Fn(Slot) -> bool, maximal: &mut MaximalWrites) -> Slot {
        let MaximalWrites(maximal) = maximal;
        let at = maximal.iter().position(|(other, _)| *other == loc).unwrap_or_else(|| {
            maximal.push((loc, self.location(loc).newest));
            maximal.len() - 1
        });
        let mut write = maximal[at].1;
        while write != NONE && !is_previous(write) {
            write = self.node(write).co_before;
        }
        maximal[at].1 = write;
        write
    }

    /// The events of the restricted graph in which `read` reads from a write with this porf-`prefix`, these two aside.
    pub(super) fn restriction(&self, read: Slot, prefix: Bits<N>) -> Bits<N> {
        let stamp = self.node(read).stamp;
        let mut kept = prefix;
        self.added.iter().take_while(|&&slot| self.node(slot).stamp < stamp).for_each(|&slot| kept.insert(slot));
        kept
    }
}

/// The coherence-maximal writes of locations, kept to save allocations.
#[derive(Default)]
pub(super) struct MaximalWrites(Vec<(usize, Slot)>);
