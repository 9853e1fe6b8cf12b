//! The blocks that one thread of a model has allocated.

use std::ops::Range;

use teetotal_program::ThreadId;

use super::guard::{Touch, Watched};
use super::region::Arena;
use super::site::Site;
use super::{BlockId, Moment};
use crate::identity::Key;
use crate::reuse::Free;

/// The granularity of sizes and addresses of blocks.
const GRAIN: usize = 16;

/// Leftovers of an execution occupy whole pages, and the first blocks of a lane have pages of their own.
pub(super) const PAGE: usize = 1 << 12;

/// The number of blocks of a lane that have pages of their own.
const ALONE: usize = 1 << 12;
/// The size above which a block has no pages of its own.
const ALONE_BYTES: usize = 1 << 20;
/// The number of parts of a lane; only blocks in the first part have pages of their own.
pub(super) const ALONE_PART: usize = 8;

/// The offset between the positions of consecutive blocks in their pages, so that they use different cache lines.
const STRIDE: usize = 13 * 64;

/// A block of memory.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) size: usize,
    pub(super) align: usize,
    /// The thread that allocated it, when, and where.
    pub(super) owner: ThreadId,
    pub(super) born: Moment,
    pub(super) allocated: Site,
    pub(super) is_live: bool,
    /// Whether it was freed before, where others may have known of it.
    pub(super) is_reused: bool,
    /// The thread that freed it, when, and where.
    pub(super) freed_by: Option<ThreadId>,
    pub(super) died: Moment,
    pub(super) freed: Site,
    /// The locations that were accessed in it.
    pub(super) keys: Vec<Key>,
    /// The threads that have written its address to a location or read it from one, a bit for each.
    pub(super) published_by: u64,
    /// Whether no other block is on its pages.
    pub(super) is_alone: bool,
    /// Whether it cannot be accessed.
    pub(super) is_closed: bool,
    /// Whether other threads may know of it in another way.
    pub(super) watched: Watched,
    /// The plain accesses to it that were seen, the last of each thread.
    pub(super) touches: Vec<Touch>,
    /// Whether a compare-exchange that failed would have written its address.
    pub(super) is_offered: bool,
    /// Whether it is the memory of an `Arc` of this crate.
    pub(super) is_counted: bool,
}

impl Block {
    /// Allocates the block.
    pub(super) fn begin(&mut self, owner: ThreadId, born: Moment, allocated: Site) {
        (self.owner, self.born, self.allocated) = (owner, born, allocated);
        self.is_live = true;
        self.keys.clear();
        self.published_by = 0;
        self.watched = Watched::No;
        self.touches.clear();
        self.open();
        self.is_offered = false;
        self.is_counted = false;
    }

    /// Returns whether `thread`, which frees it, has had its address in a location, so that it may be reused.
    ///
    /// This depends only on what the thread itself has done, since its next operation must not depend on the timing of
    /// other threads. Memory that only the standard library knows is never reused: it may be freed while a lock is
    /// held.
    pub(super) fn is_shared_by(&self, thread: ThreadId) -> bool {
        self.published_by & bit(thread) != 0
    }

    /// Returns whether another thread may know of it, so that it stays when it is freed.
    pub(super) fn stays(&self) -> bool {
        self.published_by != 0 || !self.keys.is_empty()
    }

    /// Frees the block.
    pub(super) fn end(&mut self, freed_by: Option<ThreadId>, died: Moment, freed: Site) {
        (self.freed_by, self.died, self.freed) = (freed_by, died, freed);
        self.is_live = false;
    }
}

/// Returns the bit of a thread.
pub(super) fn bit(thread: ThreadId) -> u64 {
    1 << (thread.index() % 64)
}

/// A block that a thread has freed and that stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUp {
    pub(super) free: Free,
    pub(super) id: BlockId,
    /// Whether the thread has allocated it again.
    pub(super) is_taken: bool,
}

/// The blocks of a thread, in the order of their addresses.
#[derive(Debug)]
pub(super) struct Lane {
    owner: ThreadId,
    bounds: Range<usize>,
    first: usize,
    next: usize,
    pub(super) blocks: Vec<Block>,
    /// Freed blocks that no other thread knows of: the next allocation may have them.
    pub(super) spare: Vec<u32>,
    /// Blocks that this thread has freed and that stay.
    pub(super) given_up: Vec<GivenUp>,
}

impl Lane {
    pub(super) fn new(owner: ThreadId, bounds: Range<usize>, first: usize) -> Self {
        Lane { owner, bounds, first, next: first, blocks: Vec::new(), spare: Vec::new(), given_up: Vec::new() }
    }

    /// Allocates a block; returns `None` if there is no room.
    pub(super) fn allocate(&mut self, born: Moment, size: usize, align: usize, site: Site) -> Option<usize> {
        let fits = |&index: &u32| {
            let block = &self.blocks[index as usize];
            block.size == size && block.align == align
        };
        if let Some(at) = self.spare.iter().rposition(fits) {
            let index = self.spare.remove(at);
            let block = &mut self.blocks[index as usize];
            let owner = block.owner;
            block.begin(owner, born, site);
            return Some(block.start);
        }
        let is_alone = self.blocks.len() < ALONE
            && size <= ALONE_BYTES
            && self.next - self.bounds.start < self.bounds.len() / ALONE_PART;
        let (from, grain) = match is_alone {
            true => (self.next.next_multiple_of(PAGE) + self.offset(size, align), PAGE),
            false => (self.next, GRAIN),
        };
        let start = from.checked_next_multiple_of(align.max(GRAIN))?;
        let end = start.checked_add(size)?.checked_next_multiple_of(grain)?;
        if end > self.bounds.end {
            return None;
        }
        self.next = end;
        let owner = self.owner;
        let (freed, keys) = (Site::UNKNOWN, Vec::new());
        self.blocks.push(Block {
            start,
            size,
            align,
            owner,
            born,
            allocated: site,
            is_live: true,
            is_reused: false,
            freed_by: None,
            died: Moment::default(),
            freed,
            keys,
            published_by: 0,
            is_alone,
            is_closed: false,
            watched: Watched::No,
            touches: Vec::new(),
            is_offered: false,
            is_counted: false,
        });
        Some(start)
    }

    /// Returns the offset in its page of the next block, which has pages of its own.
    fn offset(&self, size: usize, align: usize) -> usize {
        let room = PAGE.saturating_sub(size);
        let offset = self.blocks.len() * STRIDE % (room + 1);
        offset - offset % align.max(GRAIN)
    }

    /// Returns the block that begins at `address`.
    pub(super) fn at(&self, address: usize) -> Option<usize> {
        self.blocks.binary_search_by_key(&address, |block| block.start).ok()
    }

    /// Returns the block that contains `address`.
    pub(super) fn around(&self, address: usize) -> Option<usize> {
        let index = self.blocks.partition_point(|block| block.start <= address).checked_sub(1)?;
        (address < self.blocks[index].start + self.blocks[index].size).then_some(index)
    }

    /// Returns the address ranges of its blocks.
    pub(super) fn used(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.blocks.iter().filter(|block| block.is_live).map(|block| block.start..block.start + block.size)
    }

    /// Ends the execution; blocks that are still allocated stay in place.
    pub(super) fn end_execution(&mut self, arena: &Arena, index: usize) {
        let live = self.blocks.iter().filter(|block| block.is_live);
        let (n_live, end) = live.fold((0, 0), |(n, _), block| (n + 1, block.start + block.size));
        // The next one begins at the same place in a page, so that code that depends on the low bits of addresses
        // behaves the same.
        let step = if end - self.bounds.start.min(end) < self.bounds.len() / 2 { PAGE } else { GRAIN };
        self.first = arena.leave(index, n_live, end.next_multiple_of(step));
        self.next = self.first;
        self.blocks.clear();
        self.spare.clear();
        self.given_up.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses that nothing is at: a lane does not touch its blocks when it allocates them.
    const BOUNDS: Range<usize> = 0x4000_0000..0x4400_0000;

    fn lane() -> Lane {
        Lane::new(ThreadId(3), BOUNDS, BOUNDS.start)
    }

    fn allocate(lane: &mut Lane, size: usize, align: usize) -> usize {
        lane.allocate(Moment::default(), size, align, Site::UNKNOWN).expect("there is room")
    }

    #[test]
    fn blocks_are_aligned_and_do_not_overlap() {
        let mut lane = lane();
        let mut end = BOUNDS.start;
        // More than have pages of their own.
        for n in 0..ALONE + 2_000 {
            let (size, align) = (n * 37 % 300, 1 << (n % 9));
            let start = allocate(&mut lane, size, align);
            assert!(start.is_multiple_of(align) && start.is_multiple_of(GRAIN), "{start:x}");
            assert!(start >= end && start + size <= BOUNDS.end, "{start:x}");
            end = start + size;
        }
    }

    #[test]
    fn a_block_on_pages_of_its_own_shares_none_with_its_neighbors() {
        let mut lane = lane();
        for n in 0..100 {
            allocate(&mut lane, 1 + n * 113 % 9_000, 8);
        }
        let pages = |block: &Block| block.start / PAGE..(block.start + block.size - 1) / PAGE + 1;
        assert!(lane.blocks.iter().all(|block| block.is_alone));
        assert!(lane.blocks.windows(2).all(|two| pages(&two[0]).end <= pages(&two[1]).start));
        let lines: std::collections::BTreeSet<usize> =
            lane.blocks.iter().map(|block| block.start % PAGE / 64).collect();
        assert!(lines.len() > 20, "they use different lines of a cache");
    }

    #[test]
    fn two_lanes_that_allocate_the_same_have_the_same_addresses() {
        let (mut one, mut other) = (lane(), lane());
        for n in 0..200 {
            assert_eq!(allocate(&mut one, n * 7, 8), allocate(&mut other, n * 7, 8));
        }
    }

    #[test]
    fn a_block_is_found_by_each_of_its_addresses_and_by_no_other() {
        let mut lane = lane();
        let starts: Vec<usize> = (0..50).map(|_| allocate(&mut lane, 24, 8)).collect();
        for (index, &start) in starts.iter().enumerate() {
            assert_eq!(lane.at(start), Some(index));
            assert_eq!((lane.at(start + 8), lane.at(start - 8)), (None, None));
            for inside in [start, start + 1, start + 23] {
                assert_eq!(lane.around(inside), Some(index));
            }
            assert_eq!((lane.around(start - 1), lane.around(start + 24)), (None, None));
        }
    }

    #[test]
    fn a_spare_block_is_given_out_again_for_the_same_layout_alone() {
        let mut lane = lane();
        let (first, second) = (allocate(&mut lane, 24, 8), allocate(&mut lane, 24, 8));
        lane.blocks[0].end(Some(ThreadId(3)), Moment::default(), Site::UNKNOWN);
        lane.spare.push(0);
        assert_eq!(lane.used().collect::<Vec<_>>(), [Range { start: second, end: second + 24 }]);
        assert!(![allocate(&mut lane, 32, 8), allocate(&mut lane, 24, 16)].contains(&first));
        assert_eq!(allocate(&mut lane, 24, 8), first);
        assert!(lane.blocks[0].is_live && lane.spare.is_empty());
        assert_ne!(allocate(&mut lane, 24, 8), first);
    }

    #[test]
    fn a_lane_without_room_gives_nothing() {
        let mut lane = lane();
        let mut take = |size| lane.allocate(Moment::default(), size, 8, Site::UNKNOWN);
        assert_eq!(take(BOUNDS.len() + 1), None);
        assert_eq!(take(usize::MAX), None);
        assert_eq!(take(BOUNDS.len()), Some(BOUNDS.start));
        assert_eq!(take(1), None);
    }

    #[test]
    fn a_block_is_shared_by_threads_that_had_its_address_and_stays_for_others() {
        let mut lane = lane();
        allocate(&mut lane, 8, 8);
        let block = &mut lane.blocks[0];
        assert!(!block.stays());
        block.published_by |= bit(ThreadId(2));
        assert!(block.stays() && block.is_shared_by(ThreadId(2)) && !block.is_shared_by(ThreadId(3)));
        block.begin(ThreadId(3), Moment::default(), Site::UNKNOWN);
        assert!(!block.stays(), "another allocation is another block");
    }
}
