//! Detection of plain accesses by page faults.
//!
//! Code may access a block without a type of this crate. Such a plain access is detected by its page fault: blocks that
//! other threads may know of are *closed*, that is, without access rights, while code of the model runs. The first
//! access of a thread between two of its operations opens the block and is recorded with the thread's time; further
//! accesses until the next operation have the same time and need not be detected. A freed block is closed until the
//! execution ends or it is allocated again, and an access to it is an error. A closed block needs pages of its own
//! ([`super::lane`]).
//!
//! Closing blocks takes system calls, so a search does it only if it matters: after a free or a read of a pointer that
//! an access may race with ([`crate::plain`]). Freed blocks are also closed in the first executions. A search may
//! sample later executions ([`PlainAccesses::Sampled`]).

use std::cell::{Cell, UnsafeCell};
use std::ops::Range;

use teetotal_program::ThreadId;

use super::lane::{Block, Lane, PAGE};
use super::site::Site;
use super::{BlockEvent, BlockId, Heap, Moment};
use crate::plain::PlainAccesses;

/// The number of executions of each copy of a model in which all freed blocks are closed.
const FIRST: u32 = 16;

/// If accesses are sampled, the number of initial executions of each copy of a model in which they are observed.
const TRACKED: u32 = 1_000;
/// If accesses are sampled, the interval of observed executions after the initial ones.
const SAMPLED: u32 = 64;

/// The number of bytes of a block, or of the closure of a thread, that are searched for pointers.
const SEARCHED: usize = 1 << 12;

/// The closed blocks of an execution.
#[derive(Default)]
pub(super) struct Guard {
    /// Whether accesses can be observed, and may be.
    can_track: Cell<bool>,
    /// Whether they are observed in a sample of executions only.
    samples: Cell<bool>,
    /// Whether the accesses of this search are observed.
    tracks: Cell<bool>,
    /// Whether the accesses of this execution are observed.
    tracks_now: Cell<bool>,
    /// The number of executions so far.
    executions: Cell<u32>,
    /// Blocks that are to be closed before code of the model runs.
    open: UnsafeCell<Vec<BlockId>>,
    /// Whether there is a closed block.
    has_closed: Cell<bool>,
    /// Whether only freed blocks are closed.
    is_relaxed: Cell<bool>,
    /// The address of the access that has failed last.
    faulted: Cell<usize>,
}

/// Why a block is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Watched {
    /// Not watched.
    #[default]
    No,
    /// A thread was started with its address, or it is reached from such a block.
    Reached,
    /// Its address was in a location.
    Published,
}

/// The last plain access of a thread to a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    thread: ThreadId,
    when: Moment,
    site: Site,
}

/// What a failed access was to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    /// A block that is allocated.
    Live(BlockId),
    /// A block that was freed.
    Freed,
    /// Memory beside a block.
    Beside(BlockId),
}

/// Returns whether accesses can be observed on this system.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_supported() -> bool {
    // SAFETY: it only asks.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) == PAGE as libc::c_long }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn is_supported() -> bool {
    false
}

/// Opens or closes pages; returns whether the system has done so.
#[cfg(unix)]
fn set_open(pages: &Range<usize>, is_open: bool) -> bool {
    let protection = if is_open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: the pages are of a lane, and belong to a block that nothing else is on. Who accesses what is closed gets
    // a signal that opens it again, or does not go on.
    unsafe { libc::mprotect(pages.start as *mut libc::c_void, pages.len(), protection) == 0 }
}

#[cfg(not(unix))]
fn set_open(_pages: &Range<usize>, _is_open: bool) -> bool {
    false
}

/// Returns the pages that contain `range`.
fn pages(range: Range<usize>) -> Range<usize> {
    range.start & !(PAGE - 1)..range.end.next_multiple_of(PAGE)
}

/// Pages that are opened or closed together.
#[derive(Default)]
struct Run(Range<usize>);

impl Run {
    /// Adds pages; what they are not next to is opened or closed.
    fn add(&mut self, pages: Range<usize>, is_open: bool) {
        if self.0.end == pages.start {
            self.0.end = pages.end;
        } else {
            self.end(is_open);
            self.0 = pages;
        }
    }

    /// Opens or closes what was added.
    ///
    /// If the system refuses to close pages they stay open, and accesses to them are not observed.
    fn end(&mut self, is_open: bool) {
        if !self.0.is_empty() {
            set_open(&self.0, is_open);
        }
        self.0 = 0..0;
    }
}

impl Block {
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.size
    }

    /// Returns whether accesses to the block are observed.
    fn is_to_close(&self) -> bool {
        match self.watched {
            // What happens to locations is seen without, and references that are counted lead to the rest.
            Watched::Reached => !self.is_live || !self.is_counted || self.keys.is_empty(),
            Watched::Published => true,
            Watched::No => !self.is_live,
        }
    }

    fn pages(&self) -> Range<usize> {
        pages(self.range())
    }

    fn close(&mut self) -> bool {
        self.is_closed |= self.is_alone && set_open(&self.pages(), false);
        self.is_closed
    }

    pub(super) fn open(&mut self) {
        if self.is_closed {
            self.is_closed = !set_open(&self.pages(), true);
        }
    }
}

impl Guard {
    pub(super) fn begin_execution(&self) {
        let number = self.executions.get().saturating_add(1);
        self.executions.set(number);
        let is_sampled = !self.samples.get() || number <= TRACKED || number.is_multiple_of(SAMPLED);
        self.tracks_now.set(self.tracks.get() && is_sampled);
        // SAFETY: nothing of this module keeps a reference to it.
        unsafe { (*self.open.get()).clear() };
        self.has_closed.set(false);
        self.is_relaxed.set(false);
    }

    /// Starts watching the accesses to a block; returns whether it was not watched for this reason before.
    pub(super) fn watch(&self, block: &mut Block, id: BlockId, watched: Watched) -> bool {
        let is_new = block.watched < watched;
        if is_new {
            block.watched = watched;
            // SAFETY: nothing of this module keeps a reference to it.
            unsafe { (*self.open.get()).push(id) };
        }
        is_new
    }

    /// Opens everything before an execution ends.
    pub(super) fn open_all(&self, lanes: &mut [Lane]) {
        if !self.has_closed.replace(false) {
            return;
        }
        // SAFETY: as above.
        let open = unsafe { &mut *self.open.get() };
        for (lane, blocks) in lanes.iter_mut().enumerate() {
            let closed = blocks.blocks.iter_mut().enumerate().filter(|(_, block)| block.is_closed);
            let mut range: Option<Range<usize>> = None;
            for (index, block) in closed {
                block.is_closed = false;
                open.push(BlockId { lane: lane as u32, index: index as u32 });
                let own = pages(block.range());
                range = Some(range.map_or(own.clone(), |range| range.start..own.end));
            }
            if let Some(range) = range
                && !set_open(&range, true)
            {
                // The system refuses a range that has too many parts.
                blocks.blocks.iter().for_each(|block| _ = set_open(&pages(block.range()), true));
            }
        }
    }
}

impl Heap {
    /// Allows the observation of plain accesses, if the system supports it.
    pub(crate) fn allow_plain(&self, accesses: PlainAccesses) {
        self.guard.can_track.set(accesses != PlainAccesses::Never && self.is_on() && is_supported());
        self.guard.samples.set(accesses == PlainAccesses::Sampled);
    }

    /// Returns whether plain accesses are observed in this search, but not in this execution.
    pub(crate) fn skips_plain(&self) -> bool {
        self.guard.tracks.get() && !self.guard.tracks_now.get()
    }

    /// Starts observing plain accesses, if possible.
    pub(crate) fn track_plain(&self) {
        self.guard.tracks.set(self.can_track_plain());
        self.guard.tracks_now.set(self.can_track_plain());
    }

    /// Returns whether plain accesses are observed in this search.
    pub(crate) fn tracks_plain(&self) -> bool {
        self.guard.tracks.get()
    }

    /// Returns whether plain accesses are observed in this execution.
    #[inline]
    pub(crate) fn tracks_plain_now(&self) -> bool {
        self.guard.tracks_now.get()
    }

    /// Returns whether plain accesses could be observed.
    pub(crate) fn can_track_plain(&self) -> bool {
        self.guard.can_track.get()
    }

    /// Returns whether there is a closed block.
    #[inline]
    pub(crate) fn has_closed(&self) -> bool {
        self.guard.has_closed.get()
    }

    /// Closes the watched blocks while code of a thread runs; if the thread `is_alone`, only the freed ones.
    pub(crate) fn close(&self, is_alone: bool) {
        if is_alone != self.guard.is_relaxed.replace(is_alone) && is_alone {
            self.open_all();
        }
        // SAFETY: as in `with`.
        if unsafe { (*self.guard.open.get()).is_empty() } {
            return;
        }
        self.with(|lanes, _| {
            // SAFETY: as in `with`.
            let open = unsafe { &mut *self.guard.open.get() };
            open.sort_unstable_by_key(|id| (id.lane, id.index));
            let mut run = Run::default();
            open.retain(|id| {
                let block = &mut lanes[id.lane as usize].blocks[id.index as usize];
                if is_alone && block.is_live {
                    return true;
                }
                if !block.is_closed && block.is_alone && block.is_to_close() {
                    self.guard.has_closed.set(true);
                    block.is_closed = true;
                    run.add(block.pages(), false);
                }
                false
            });
            run.end(false);
        });
    }

    /// Opens the allocated blocks, so that this crate can read their contents.
    pub(crate) fn open_live(&self) {
        if !self.has_closed() {
            return;
        }
        self.with(|lanes, _| {
            // SAFETY: as in `with`.
            let open = unsafe { &mut *self.guard.open.get() };
            for (lane, blocks) in lanes.iter_mut().enumerate() {
                let mut run = Run::default();
                let closed = blocks.blocks.iter_mut().enumerate();
                for (index, block) in closed.filter(|(_, block)| block.is_closed && block.is_live) {
                    block.is_closed = false;
                    open.push(BlockId { lane: lane as u32, index: index as u32 });
                    run.add(block.pages(), true);
                }
                run.end(true);
            }
        });
    }

    /// Opens everything.
    pub(crate) fn open_all(&self) {
        if self.has_closed() {
            self.with(|lanes, _| self.guard.open_all(lanes));
        }
    }

    /// Returns what is closed at `address`, if anything.
    pub(crate) fn closed_at(&self, address: usize) -> Option<Closed> {
        let lane = self.arena.as_ref()?.lane_of(address)?;
        self.with(|lanes, _| {
            let blocks = &lanes.get(lane)?.blocks;
            let after = blocks.partition_point(|block| block.start <= address);
            let beside = |&index: &usize| {
                let block = blocks.get(index)?;
                (block.is_closed && pages(block.range()).contains(&address)).then_some(index)
            };
            let index = [after.wrapping_sub(1), after].iter().find_map(beside)?;
            let (block, id) = (&blocks[index], BlockId { lane: lane as u32, index: index as u32 });
            Some(match (block.range().contains(&address), block.is_live) {
                (true, true) => Closed::Live(id),
                (true, false) => Closed::Freed,
                (false, _) => Closed::Beside(id),
            })
        })
    }

    /// Opens a block that `thread` accesses, and records the access.
    pub(crate) fn touch(&self, id: BlockId, thread: Option<ThreadId>, when: Moment) {
        self.with(|lanes, sites| {
            let block = &mut lanes[id.lane as usize].blocks[id.index as usize];
            block.open();
            // SAFETY: as in `with`.
            unsafe { (*self.guard.open.get()).push(id) };
            let Some(thread) = thread else { return };
            let touch = Touch { thread, when, site: sites.add() };
            match block.touches.iter_mut().find(|touch| touch.thread == thread) {
                Some(last) if last.when.time > when.time => {}
                Some(last) => *last = touch,
                None => block.touches.push(touch),
            }
        });
    }

    /// Returns whether it is recorded where accesses are.
    pub(crate) fn records_sites(&self) -> bool {
        self.with(|_, sites| sites.is_recorded())
    }

    /// Records that the access to `address` has failed, to be reported later.
    pub(crate) fn note_faulted(&self, address: usize) {
        self.guard.faulted.set(address);
    }

    /// Returns the address of the access that has failed last.
    pub(crate) fn faulted(&self) -> usize {
        self.guard.faulted.get()
    }

    /// Returns a plain access to a block that is not ordered before, according to `is_known` of its time.
    pub(crate) fn plain_rival(&self, id: BlockId, is_known: impl Fn(ThreadId, Moment) -> bool) -> Option<BlockEvent> {
        self.with(|lanes, sites| {
            let touches = &lanes[id.lane as usize].blocks[id.index as usize].touches;
            let rival = touches.iter().find(|touch| !is_known(touch.thread, touch.when))?;
            let Touch { thread, when: Moment { after, .. }, site } = *rival;
            Some(BlockEvent { thread: Some(thread), after, place: sites.place(site) })
        })
    }

    /// Records that the block at `address` belongs to an `Arc` of this crate.
    pub(crate) fn note_counted(&self, address: usize) {
        let Some(lane) = self.arena.as_ref().and_then(|arena| arena.lane_of(address)) else { return };
        self.with(|lanes, _| {
            if let Some(index) = lanes.get(lane).and_then(|lane| lane.around(address)) {
                lanes[lane].blocks[index].is_counted = true;
            }
        });
    }

    /// Returns whether another thread than `thread` may know the address of a block.
    pub(crate) fn is_shared(&self, id: BlockId) -> bool {
        self.with(|lanes, _| {
            let block = &lanes[id.lane as usize].blocks[id.index as usize];
            block.published_by != 0 || block.watched != Watched::No
        })
    }

    /// Records that a thread is started with the contents of `range`: it knows the blocks that these point to.
    ///
    /// # Safety
    /// The range can be read.
    pub(crate) unsafe fn watch_reached(&self, range: Range<usize>) {
        if self.is_on() {
            // SAFETY: upheld by the caller.
            self.with(|lanes, _| unsafe { self.watch_from(lanes, range) });
        }
    }

    /// Adds the blocks that are reachable from watched blocks.
    pub(super) fn watch_published(&self, lanes: &mut [Lane], id: BlockId) {
        let block = &mut lanes[id.lane as usize].blocks[id.index as usize];
        if self.guard.watch(block, id, Watched::Published) && block.is_live && !block.is_closed {
            let range = block.range();
            // SAFETY: the block is there, and open.
            unsafe { self.watch_from(lanes, range) };
        }
    }

    /// Watches the blocks that `range` points to, and those that these point to.
    ///
    /// # Safety
    /// The range can be read.
    unsafe fn watch_from(&self, lanes: &mut [Lane], range: Range<usize>) {
        let Some(arena) = &self.arena else { return };
        let mut ranges = vec![range];
        while let Some(range) = ranges.pop() {
            let start = range.start.next_multiple_of(size_of::<usize>());
            let end = range.end.min(range.start + SEARCHED);
            for at in (start..end.saturating_sub(size_of::<usize>() - 1)).step_by(size_of::<usize>()) {
                // SAFETY: upheld by the caller; blocks are there as long as they are not freed.
                let word = unsafe { (at as *const usize).read_volatile() };
                let Some(lane) = arena.lane_of(word) else { continue };
                let Some(index) = lanes.get(lane).and_then(|lane| lane.around(word)) else { continue };
                let block = &mut lanes[lane].blocks[index];
                let id = BlockId { lane: lane as u32, index: index as u32 };
                if self.guard.watch(block, id, Watched::Reached) && block.is_live && !block.is_closed {
                    ranges.push(block.range());
                }
            }
        }
    }

    /// Closes a freed block if an access to it would be an error.
    pub(super) fn close_freed(&self, block: &mut Block) {
        let is_first = self.guard.executions.get() <= FIRST && self.can_track_plain();
        if (is_first || self.tracks_plain_now() && block.is_to_close()) && block.close() {
            self.guard.has_closed.set(true);
        }
    }
}
