//! In which ways a graph can grow.
//!
//! A new event has no successor in its thread, so it fits unless what comes before it already comes after the write that
//! would follow it in coherence. Its possible sources and places are therefore the newest ones of coherence, back to the
//! first write that comes before it or is of its own thread; see `docs/theory/dpor.md`.

use teetotal_program::ThreadId;

use super::bits::Bits;
use super::graph::{Graph, NONE, Role, Slot};

/// One way to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alternative {
    /// There is only one.
    Only,
    /// A choice of the program.
    Choose(u32),
    /// A read reads from this write.
    Source(Slot),
    /// A write follows this one in coherence.
    After(Slot),
    /// A write is added, and this older read is made to read from it.
    Revisit(Slot),
}

impl<const N: usize> Graph<N> {
    /// Calls `each` with the writes to `loc` from the newest in coherence back to the first that is of `thread` or comes
    /// before one of `start`, the initial one last.
    pub(super) fn newest_writes(
        &self,
        loc: usize,
        thread: Option<ThreadId>,
        start: Bits<N>,
        mut each: impl FnMut(Slot),
    ) {
        let mut past = Lazy::new(self, start);
        let mut write = self.cell(loc).newest;
        loop {
            each(write);
            if write == NONE || thread == Some(self.node(write).thread) || past.has(write) {
                return;
            }
            write = self.node(write).co_before;
        }
    }

    /// Whether a read-modify-write reads from `write`, so that no other write can come directly after it.
    pub(super) fn is_updated(&self, write: Slot, loc: usize) -> bool {
        let follower = self.follower(write, loc);
        follower != NONE && self.node(follower).role == Role::UpdateWrite
    }

    /// Finds the reads of `loc` that a write with this `past`, about to be added, may be given to, newest first.
    ///
    /// What is then newer than the read and not in `past` is given up. It must all be as it would be added by default, so
    /// that of all the graphs that differ in it only one leads to the new one. [TRUST, Alg. 1]
    pub(super) fn revisitable(&self, loc: usize, past: Bits<N>, mut each: impl FnMut(Slot)) {
        let mut reads = self.cell(loc).all_readers & !past;
        let mut newest = Vec::new();
        for &slot in self.added.iter().rev() {
            if reads == Bits::EMPTY {
                return;
            }
            if past.has(slot) {
                continue;
            }
            if !self.is_by_default(slot, past, &mut newest) {
                return;
            }
            if reads.has(slot) {
                reads.remove(slot);
                each(slot);
            }
        }
    }

    /// Whether `slot` is what would be added first, given only what was there before it and `past`.
    ///
    /// Slots are asked about from the newest on; `newest` has, for each location, the newest write that they know.
    fn is_by_default(&self, slot: Slot, past: Bits<N>, newest: &mut Vec<(usize, Slot)>) -> bool {
        let node = self.node(slot);
        let known = |other: Slot| self.node(other).stamp <= node.stamp || past.has(other);
        match node.role {
            Role::Fence | Role::Spawn | Role::Join(_) | Role::Other => true,
            Role::Choice(alternative) => alternative == 0,
            Role::Vain => node.source == NONE || known(node.source),
            Role::Read | Role::Blocked | Role::UpdateRead => {
                (node.source == NONE || known(node.source))
                    && node.source == self.newest_known(node.loc(), known, newest)
            }
            Role::Store | Role::UpdateWrite => {
                slot == self.newest_known(node.loc(), known, newest) && !node.readers.iter().any(known)
            }
        }
    }

    /// The last write in coherence that is `known`; later ones than the one in `newest` are not.
    fn newest_known(&self, loc: usize, known: impl Fn(Slot) -> bool, newest: &mut Vec<(usize, Slot)>) -> Slot {
        let at = newest.iter().position(|(other, _)| *other == loc).unwrap_or_else(|| {
            newest.push((loc, self.cell(loc).newest));
            newest.len() - 1
        });
        let mut write = newest[at].1;
        while write != NONE && !known(write) {
            write = self.node(write).co_before;
        }
        newest[at].1 = write;
        write
    }

    /// What stays when a write with this `past` is given to `read`.
    pub(super) fn kept(&self, read: Slot, past: Bits<N>) -> Bits<N> {
        let stamp = self.node(read).stamp;
        let mut kept = past;
        self.added.iter().take_while(|&&slot| self.node(slot).stamp < stamp).for_each(|&slot| kept.insert(slot));
        kept
    }
}

/// What comes before some nodes, found when it is first asked for.
pub(super) struct Lazy<'g, const N: usize> {
    graph: &'g Graph<N>,
    bits: Bits<N>,
    is_closed: bool,
}

impl<'g, const N: usize> Lazy<'g, N> {
    pub(super) fn new(graph: &'g Graph<N>, start: Bits<N>) -> Self {
        Lazy { graph, bits: start, is_closed: false }
    }

    /// Whether `slot` is one of the nodes or comes before one.
    pub(super) fn has(&mut self, slot: Slot) -> bool {
        if !self.is_closed {
            if self.bits.has(slot) {
                return true;
            }
            self.bits = self.graph.closure(self.bits);
            self.is_closed = true;
        }
        self.bits.has(slot)
    }
}
