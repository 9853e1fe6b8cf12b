//! The memory of a model: which block belongs to which thread, from its allocation to its free.
//!
//! With [`Checked`] as the global allocator, allocations of a model come from lanes of address space, one for each
//! thread of the model. The address of a block depends only on what its thread allocated before, so it is the same in
//! every run of the same prefix; blocks of bytes have a lane of their own. A freed block that another thread may know
//! of is poisoned and kept until the execution ends: an access to it is reported, not performed. A block that is not
//! freed when the execution ends may have escaped from it, and stays in place; the next execution allocates behind it.

mod checked;
mod fault;
mod guard;
mod lane;
mod poison;
mod region;
mod site;

use std::cell::{Cell, UnsafeCell};
use std::ops::Range;

use teetotal_program::ThreadId;

pub use checked::Checked;
pub use fault::{BlockEvent, FaultKind, MemoryFault};
pub(crate) use guard::Closed;
pub(crate) use poison::{is_poison, resume_address, watch_poison};
pub(crate) use region::{contains as is_of_models, open_page};
pub(crate) use site::is_in_std_arc;

use crate::identity::Key;
use crate::possession::Leak;
use crate::reuse::{Free, class_of};
use guard::{Guard, Watched};
use lane::{GivenUp, Lane, bit};
use region::Arena;
use site::Sites;

/// The allocations of an execution.
#[derive(Default)]
pub(crate) struct Heap {
    arena: Option<Arena>,
    lanes: UnsafeCell<Vec<Lane>>,
    /// The address of the last access to each location, by its key.
    addresses: UnsafeCell<Vec<usize>>,
    sites: UnsafeCell<Sites>,
    /// The closed blocks.
    guard: Guard,
    /// Whether a block was freed since the last query.
    has_freed: Cell<bool>,
    /// Whether a block was freed that may be reused.
    has_given_up: Cell<bool>,
    /// Whether the library itself is allocating.
    pub(crate) is_busy: Cell<bool>,
    /// Whether code of the execution got memory from another allocator.
    is_partial: Cell<bool>,
}

impl std::fmt::Debug for Heap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heap").field("is_on", &self.is_on()).finish()
    }
}

/// A guard: allocations during its lifetime are not part of the model.
#[derive(Debug)]
pub(crate) struct Busy<'h> {
    heap: &'h Heap,
    before: bool,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.heap.is_busy.set(self.before);
    }
}

/// A block, by its lane and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockId {
    lane: u32,
    index: u32,
}

/// The time of an event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Moment {
    /// By its own clock.
    pub(crate) time: u32,
    /// After this many operations.
    pub(crate) after: u32,
}

/// The data about a block for a report.
pub(crate) struct History {
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) allocated: BlockEvent,
    pub(crate) freed: Option<BlockEvent>,
}

/// The result of a free.
pub(crate) enum Freed {
    /// The block is freed, and no other thread knows of it.
    Now,
    /// The block is freed, and other threads may know of it.
    Stays(Free),
    /// The block was freed before.
    Twice(BlockId),
    /// Not a block of this execution.
    Unknown,
}

/// Returns the number of the lane of a thread for blocks of this alignment.
///
/// Blocks of bytes have a lane of their own: the standard library allocates them for captured test output too,
/// differently in each execution.
fn lane_number(thread: ThreadId, align: usize) -> usize {
    2 * thread.index() + usize::from(align == 1)
}

/// Returns the lane with this number, which may be new.
fn lane_of<'l>(arena: &Arena, lanes: &'l mut Vec<Lane>, number: usize) -> Option<&'l mut Lane> {
    while lanes.len() <= number {
        let bounds = arena.lane(lanes.len())?;
        let start = arena.first_free(lanes.len());
        lanes.push(Lane::new(ThreadId::at(lanes.len() / 2), bounds, start));
    }
    lanes.get_mut(number)
}

/// Returns the lane that knows what a thread has freed.
fn freed_in(thread: ThreadId) -> usize {
    lane_number(thread, size_of::<usize>())
}

impl Heap {
    /// Returns a heap, if the allocator is installed and has address space.
    pub(crate) fn new() -> Self {
        let mut heap = Heap::default();
        heap.arena = Arena::take();
        heap
    }

    /// Returns whether blocks of the model come from this heap.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.arena.is_some()
    }

    /// Returns a guard; allocations until it is dropped are not part of the model.
    #[inline]
    pub(crate) fn be_busy(&self) -> Busy<'_> {
        Busy { heap: self, before: self.is_busy.replace(true) }
    }

    /// Returns whether all memory that code of the execution has allocated is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_on() && !self.is_partial.get()
    }

    /// Code of the execution is given memory that is not from here.
    pub(crate) fn note_partial(&self) {
        self.is_partial.set(true);
    }

    /// Runs `f`, whose own allocations are not part of the model.
    fn with<R>(&self, f: impl FnOnce(&mut Vec<Lane>, &mut Sites) -> R) -> R {
        let _busy = self.be_busy();
        // SAFETY: an execution runs on one OS thread at a time, and `f`, which is of this module, does not come back
        // here: what it allocates is not the model's.
        unsafe { f(&mut *self.lanes.get(), &mut *self.sites.get()) }
    }

    /// Begins another execution.
    pub(crate) fn begin(&self) {
        let Some(arena) = &self.arena else { return };
        self.with(|lanes, sites| {
            self.guard.open_all(lanes);
            for (index, lane) in lanes.iter_mut().enumerate() {
                lane.end_execution(arena, index);
            }
            sites.clear();
        });
        self.guard.begin_execution();
        self.is_partial.set(false);
        self.has_given_up.set(false);
        // SAFETY: as in `with`.
        unsafe { (*self.addresses.get()).clear() };
    }

    /// Starts recording where blocks are allocated and freed.
    pub(crate) fn record_sites(&self) {
        self.with(|_, sites| sites.record());
    }

    /// Allocates memory for `thread`; returns `None` if there is no room.
    pub(crate) fn allocate(&self, thread: ThreadId, now: Moment, size: usize, align: usize) -> Option<usize> {
        let arena = self.arena.as_ref()?;
        self.with(|lanes, sites| {
            let site = sites.add();
            lane_of(arena, lanes, lane_number(thread, align))?.allocate(now, size, align, site)
        })
    }

    /// Returns whether a block was freed that may be reused.
    #[inline]
    pub(crate) fn has_given_up(&self) -> bool {
        self.has_given_up.get()
    }

    /// Returns the blocks of this layout that `thread` has freed and that another thread may know of, the latest first.
    #[inline]
    pub(crate) fn reusable(&self, thread: ThreadId, size: usize, align: usize) -> Vec<(Free, BlockId)> {
        self.with(|lanes, _| {
            let Some(lane) = lanes.get(freed_in(thread)) else { return Vec::new() };
            let fits = |given: &&GivenUp| {
                let block = &lanes[given.id.lane as usize].blocks[given.id.index as usize];
                !given.is_taken && block.size == size && block.align == align
            };
            lane.given_up.iter().rev().filter(fits).map(|given| (given.free, given.id)).collect()
        })
    }

    /// Returns the block of a free, if it is of this layout and still freed.
    pub(crate) fn freed_by(&self, free: Free, size: usize, align: usize) -> Option<BlockId> {
        self.with(|lanes, _| {
            let given = lanes.get(freed_in(free.thread))?.given_up.iter().find(|given| given.free == free)?;
            let block = &lanes[given.id.lane as usize].blocks[given.id.index as usize];
            (!block.is_live && block.size == size && block.align == align).then_some(given.id)
        })
    }

    /// Returns the frees of blocks of about this size by other threads than `thread`.
    pub(crate) fn frees_of_others(&self, thread: ThreadId, size: usize) -> Vec<Free> {
        self.with(|lanes, _| {
            let given = lanes.iter().flat_map(|lane| &lane.given_up).map(|given| given.free);
            given.filter(|free| free.thread != thread && free.class == class_of(size)).collect()
        })
    }

    /// Returns the other threads than `thread` that have allocated blocks of this class, and the times.
    pub(crate) fn births_of_others(&self, thread: ThreadId, class: u32) -> Vec<(ThreadId, u32)> {
        self.with(|lanes, _| {
            let blocks = lanes.iter().flat_map(|lane| &lane.blocks);
            let others = blocks.filter(|block| block.owner != thread && class_of(block.size) == class);
            others.map(|block| (block.owner, block.born.time)).collect()
        })
    }

    /// Allocates a freed block again.
    pub(crate) fn reuse(&self, id: BlockId, now: Moment, thread: ThreadId) -> usize {
        self.with(|lanes, sites| {
            let site = sites.add();
            let own = lanes.get_mut(freed_in(thread)).into_iter().flat_map(|lane| &mut lane.given_up);
            let own = own.filter(|given| given.id == id);
            own.for_each(|given| given.is_taken = true);
            let block = &mut lanes[id.lane as usize].blocks[id.index as usize];
            block.begin(thread, now, site);
            block.is_reused = true;
            // Other threads may have the address from before.
            self.guard.watch(block, id, Watched::Published);
            block.start
        })
    }

    /// Frees the block at `address` on behalf of `thread`; if locations were accessed in it, it is kept.
    pub(crate) fn free(
        &self,
        thread: Option<ThreadId>,
        now: Moment,
        is_of_child: impl FnOnce(ThreadId) -> bool,
        address: usize,
    ) -> Freed {
        let Some(arena) = &self.arena else { return Freed::Unknown };
        let Some(index) = arena.lane_of(address) else { return Freed::Unknown };
        self.with(|lanes, sites| {
            let Some(lane) = lanes.get_mut(index) else { return Freed::Unknown };
            let Some(at) = lane.at(address) else {
                arena.forget_old(index);
                return Freed::Unknown;
            };
            let id = BlockId { lane: index as u32, index: at as u32 };
            if !lane.blocks[at].is_live {
                return Freed::Twice(id);
            }
            let site = sites.add();
            let is_own = thread.is_some_and(|thread| thread.index() == index / 2);
            let block = &mut lane.blocks[at];
            block.end(thread, now, site);
            let is_shared = thread.is_some_and(|thread| block.is_shared_by(thread));
            if !is_shared && !block.stays() {
                self.close_freed(block);
                if is_own {
                    lane.spare.push(at as u32);
                }
            } else {
                self.has_freed.set(true);
                block.open();
                // SAFETY: the block was allocated here, and its owner has freed it.
                unsafe { poison::fill(block.start, block.size) };
                self.close_freed(block);
                let Some(thread) = thread.filter(|_| is_shared) else { return Freed::Now };
                let class = class_of(block.size);
                let Some(own) = lane_of(arena, lanes, freed_in(thread)) else { return Freed::Now };
                let nth = own.given_up.iter().filter(|given| given.free.class == class).count() as u32;
                self.has_given_up.set(true);
                let free = Free { thread, nth, class, is_of_child: is_of_child(thread) };
                own.given_up.push(GivenUp { free, id, is_taken: false });
                return Freed::Stays(free);
            }
            Freed::Now
        })
    }

    /// Returns whether a block that stays was freed since this was asked last.
    pub(crate) fn take_freed(&self) -> bool {
        self.has_freed.take()
    }

    /// Returns the address at which a location was accessed last, if it is in a freed block.
    pub(crate) fn gone(&self, key: Key) -> Option<usize> {
        // SAFETY: as in `with`.
        let address = unsafe { &*self.addresses.get() }.get(key.index()).copied()?;
        self.freed_at(address).map(|_| address)
    }

    /// Returns the address at which a location was last accessed, if its block was freed or has another owner now.
    pub(crate) fn lost(&self, key: Key) -> Option<usize> {
        // SAFETY: as in `with`.
        let address = unsafe { &*self.addresses.get() }.get(key.index()).copied()?;
        let lane = self.arena.as_ref()?.lane_of(address)?;
        self.with(|lanes, _| {
            let index = lanes.get(lane)?.around(address)?;
            let block = &lanes[lane].blocks[index];
            (!block.is_live || block.is_reused && !block.keys.contains(&key)).then_some(address)
        })
    }

    /// Returns the block that begins at `address` and is not freed, if there is one.
    pub(crate) fn block_at(&self, address: usize) -> Option<BlockId> {
        let lane = self.arena.as_ref()?.lane_of(address)?;
        self.with(|lanes, _| {
            let index = lanes.get(lane)?.at(address)?;
            lanes[lane].blocks[index].is_live.then_some(BlockId { lane: lane as u32, index: index as u32 })
        })
    }

    /// Returns the block in which a location was last accessed, if any.
    pub(crate) fn block_of(&self, key: Key) -> Option<BlockId> {
        // SAFETY: as in `with`.
        let address = unsafe { &*self.addresses.get() }.get(key.index()).copied()?;
        let lane = self.arena.as_ref()?.lane_of(address)?;
        let index = self.with(|lanes, _| lanes.get(lane)?.around(address))?;
        Some(BlockId { lane: lane as u32, index: index as u32 })
    }

    /// Returns the current place of `thread`, which is running.
    pub(crate) fn here(&self, thread: ThreadId, now: Moment) -> BlockEvent {
        let place = self.with(|_, sites| {
            let site = sites.add();
            sites.place(site)
        });
        BlockEvent { thread: Some(thread), after: now.after, place }
    }

    /// Returns the block that contains `address` and was freed, even if it is allocated again.
    pub(crate) fn once_freed_at(&self, address: usize) -> Option<BlockId> {
        let lane = self.arena.as_ref()?.lane_of(address)?;
        self.with(|lanes, _| {
            let index = lanes.get(lane)?.around(address)?;
            let block = &lanes[lane].blocks[index];
            (!block.is_live || block.is_reused).then_some(BlockId { lane: lane as u32, index: index as u32 })
        })
    }

    /// Returns the freed block that contains `address`, if any.
    pub(crate) fn freed_at(&self, address: usize) -> Option<BlockId> {
        let lane = self.arena.as_ref()?.lane_of(address)?;
        self.with(|lanes, _| {
            let index = lanes.get(lane)?.around(address)?;
            (!lanes[lane].blocks[index].is_live).then_some(BlockId { lane: lane as u32, index: index as u32 })
        })
    }

    /// Returns whether a block was freed before and is allocated again.
    pub(crate) fn is_reused_block(&self, id: BlockId) -> bool {
        self.with(|lanes, _| lanes[id.lane as usize].blocks[id.index as usize].is_reused)
    }

    /// Returns whether `address` is in a block that was freed before and is now allocated again.
    pub(crate) fn is_reused(&self, address: usize) -> bool {
        let Some(lane) = self.arena.as_ref().and_then(|arena| arena.lane_of(address)) else { return false };
        self.with(|lanes, _| {
            let index = lanes.get(lane)?.around(address)?;
            Some(lanes[lane].blocks[index].is_reused)
        })
        .unwrap_or(false)
    }

    /// Records an access to a location at `address`; returns the thread and time of the allocation of the block if the
    /// location is new in it.
    #[inline]
    pub(crate) fn see(&self, key: Key, address: usize) -> Option<(BlockId, ThreadId, Moment)> {
        self.arena.as_ref()?;
        // SAFETY: as in `with`; `settle` does not come back here.
        let addresses = unsafe { &mut *self.addresses.get() };
        if addresses.get(key.index()) == Some(&address) {
            return None;
        }
        self.settle(key, address)
    }

    #[cold]
    fn settle(&self, key: Key, address: usize) -> Option<(BlockId, ThreadId, Moment)> {
        let lane = self.arena.as_ref()?.lane_of(address);
        self.with(|lanes, _| {
            // SAFETY: as in `with`.
            let addresses = unsafe { &mut *self.addresses.get() };
            if addresses.len() <= key.index() {
                addresses.resize(key.index() + 1, 0);
            }
            addresses[key.index()] = address;
            let lane = lane?;
            let index = lanes.get(lane)?.around(address)?;
            let block = &mut lanes[lane].blocks[index];
            if !block.keys.contains(&key) {
                block.keys.push(key);
            }
            Some((BlockId { lane: lane as u32, index: index as u32 }, block.owner, block.born))
        })
    }

    /// Records that `thread` has written `value` to a location or read it there; if it is the address of a block, other
    /// threads may know it.
    ///
    /// A pointer may have a tag: in its low bits, above its 48 bits, or in 16 bits below it. Returns the block if its
    /// address is new to the thread.
    #[inline]
    pub(crate) fn publish(&self, thread: ThreadId, value: u64) -> Option<BlockId> {
        let arena = self.arena.as_ref()?;
        if arena.is_above(value) {
            return None;
        }
        let addresses = [value, value & ((1 << 48) - 1), value >> 16];
        let (lane, address) =
            addresses.into_iter().find_map(|address| Some((arena.lane_of(address as usize)?, address as usize)))?;
        self.note_published(lane, thread, address)
    }

    /// Records that a failed compare-exchange would have written `value` to a location.
    pub(crate) fn offer(&self, value: u64) {
        let Some(arena) = &self.arena else { return };
        let lane = arena.lane_of(value as usize);
        self.with(|lanes, _| {
            let lane = lanes.get_mut(lane?)?;
            let index = lane.around(value as usize)?;
            lane.blocks[index].is_offered = true;
            Some(())
        });
    }

    fn note_published(&self, number: usize, thread: ThreadId, address: usize) -> Option<BlockId> {
        self.with(|lanes, _| {
            let lane = lanes.get_mut(number)?;
            let index = lane.around(address)?;
            let block = &mut lane.blocks[index];
            let is_new = block.published_by & bit(thread) == 0;
            block.published_by |= bit(thread);
            // One that was freed before is not given out again, so that an access to it is found.
            if !block.is_live
                && let Some(at) = lane.spare.iter().position(|&spare| spare as usize == index)
            {
                lane.spare.remove(at);
                block.open();
                // SAFETY: the block was allocated here, and its owner has freed it.
                unsafe { poison::fill(block.start, block.size) };
                self.close_freed(block);
            }
            let id = BlockId { lane: number as u32, index: index as u32 };
            self.watch_published(lanes, id);
            is_new.then_some(id)
        })
    }

    /// Returns the first result of `f` for the locations that were accessed in a block, and not elsewhere since.
    ///
    /// `f` must not use the heap.
    pub(crate) fn find_in<R>(&self, id: BlockId, f: impl FnMut(Key) -> Option<R>) -> Option<R> {
        self.with(|lanes, _| {
            // SAFETY: as in `with`.
            let addresses = unsafe { &*self.addresses.get() };
            let block = &lanes[id.lane as usize].blocks[id.index as usize];
            let range = block.start..block.start + block.size;
            let is_there = |key: &&Key| addresses.get(key.index()).is_some_and(|address| range.contains(address));
            block.keys.iter().filter(is_there).copied().find_map(f)
        })
    }

    /// Returns the address of a block, its size, its allocation and its free.
    pub(crate) fn history(&self, id: BlockId) -> History {
        self.with(|lanes, sites| {
            let block = &lanes[id.lane as usize].blocks[id.index as usize];
            let event = |thread, when: Moment, site| BlockEvent { thread, after: when.after, place: sites.place(site) };
            let allocated = event(Some(block.owner), block.born, block.allocated);
            let was_freed = !block.is_live || block.is_reused;
            let freed = was_freed.then(|| event(block.freed_by, block.died, block.freed));
            History { address: block.start, size: block.size, allocated, freed }
        })
    }

    /// Returns the blocks that another thread may know of and that are not freed.
    pub(crate) fn leaks(&self) -> Vec<Leak> {
        self.with(|lanes, sites| {
            let blocks = lanes.iter().flat_map(|lane| &lane.blocks);
            let left = blocks.filter(|block| block.is_live && (block.stays() || block.is_offered));
            left.map(|block| Leak { what: "block", place: sites.place(block.allocated) }).collect()
        })
    }

    /// Returns the thread that allocated a block, the time by its clock, and whether `thread` has had the address in a
    /// location.
    pub(crate) fn born_when(&self, id: BlockId, thread: ThreadId) -> (ThreadId, u32, bool) {
        self.with(|lanes, _| {
            let block = &lanes[id.lane as usize].blocks[id.index as usize];
            (block.owner, block.born.time, block.is_shared_by(thread))
        })
    }

    /// Returns the time at which a block was freed, by the clock of the thread that freed it.
    pub(crate) fn freed_when(&self, id: BlockId) -> Option<(ThreadId, u32)> {
        self.with(|lanes, _| {
            let block = &lanes[id.lane as usize].blocks[id.index as usize];
            Some((block.freed_by?, block.died.time))
        })
    }

    /// Returns the number of bytes that the execution has allocated and not freed.
    pub(crate) fn live_bytes(&self) -> usize {
        let of = |lane: &Lane| lane.blocks.iter().filter(|block| block.is_live).map(|block| block.size).sum::<usize>();
        self.with(|lanes, _| lanes.iter().map(of).sum())
    }

    /// Returns the address ranges of the blocks of the execution.
    pub(crate) fn used(&self) -> Vec<Range<usize>> {
        self.with(|lanes, _| lanes.iter().flat_map(Lane::used).collect())
    }

    /// Returns whether `address` is in memory that no block has now.
    pub(crate) fn is_vacant(&self, address: usize) -> bool {
        let Some(lane) = self.arena.as_ref().and_then(|arena| arena.lane_of(address)) else { return false };
        self.with(|lanes, _| {
            let Some(lane) = lanes.get(lane) else { return true };
            lane.around(address).is_none_or(|index| !lane.blocks[index].is_live)
        })
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.begin();
        if let Some(arena) = self.arena.take() {
            arena.give_back();
        }
    }
}
