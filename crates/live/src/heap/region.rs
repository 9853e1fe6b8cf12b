//! The address space for blocks of models.
//!
//! It is reserved once for the process, and memory is committed on first use. It consists of arenas, one for each
//! running model, and an arena of lanes, one for each thread of the model.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::lane::{ALONE_PART, PAGE};

/// The number of lanes: two for each of 64 threads of a model; other threads use the system allocator.
const LANES: usize = 128;

/// The maximum number of models that run at the same time.
const ARENAS: usize = 64;

/// The sizes of lanes, of which the first that fits into the address space is used.
const LANE_BYTES: [usize; 3] = [1 << 30, 1 << 27, 1 << 22];

static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
/// The address of the region; 0 if there is none.
static START: AtomicUsize = AtomicUsize::new(0);
static LANE: AtomicUsize = AtomicUsize::new(0);

/// Records that the checked allocator is the global one.
#[inline]
pub(super) fn note_installed() {
    if !IS_INSTALLED.load(Ordering::Relaxed) {
        IS_INSTALLED.store(true, Ordering::Relaxed);
    }
}

/// Returns whether the checked allocator is the global one.
pub(crate) fn is_installed() -> bool {
    // Whatever the global allocator is, this asks it for memory.
    drop(std::hint::black_box(Box::new(0_u64)));
    IS_INSTALLED.load(Ordering::Relaxed)
}

/// Returns whether `address` may be that of a block of a model.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    let start = START.load(Ordering::Relaxed);
    start != 0 && address.wrapping_sub(start) < size(LANE.load(Ordering::Relaxed))
}

/// Lets the page of a lane that `address` is on be accessed; returns whether the system has done so.
pub(crate) fn open_page(address: usize) -> bool {
    #[cfg(unix)]
    {
        let page = address & !(PAGE - 1);
        // SAFETY: the page is one of the region, which is mapped as long as the program runs.
        unsafe { libc::mprotect(page as *mut libc::c_void, PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 }
    }
    #[cfg(not(unix))]
    {
        let _ = address;
        false
    }
}

fn size(lane: usize) -> usize {
    ARENAS * (LANES + 1) * lane
}

/// Reserves the address space.
fn reserve() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for lane in LANE_BYTES {
            if let Some(start) = map(size(lane)) {
                LANE.store(lane, Ordering::Relaxed);
                START.store(start, Ordering::Relaxed);
                return;
            }
        }
    });
}

#[cfg(unix)]
fn map(size: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: it maps new memory, and touches no other.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start as usize)
}

#[cfg(not(unix))]
fn map(_size: usize) -> Option<usize> {
    None
}

/// The header of an arena, kept from one model to the next; initially zero.
struct Header {
    is_taken: AtomicBool,
    lanes: [Left; LANES],
}

/// What executions have left in a lane.
struct Left {
    /// How many bytes at its beginning may be in use.
    bytes: AtomicUsize,
    /// How many blocks there are in use.
    blocks: AtomicUsize,
}

/// The number of arenas that an OS thread keeps: a search and the reports on its findings have models of their own.
const KEPT: usize = 4;

thread_local! {
    /// The arenas that belong to this OS thread.
    static OWN: Own = const { Own { starts: Cell::new([0; KEPT]), in_use: Cell::new([false; KEPT]) } };
}

/// Arenas that an OS thread keeps until it ends, so that models which run one after the other have the same addresses.
struct Own {
    /// Where they are; 0 if there is none.
    starts: Cell<[usize; KEPT]>,
    in_use: Cell<[bool; KEPT]>,
}

impl Own {
    fn set_in_use(&self, index: usize, is_in_use: bool) {
        let mut in_use = self.in_use.get();
        in_use[index] = is_in_use;
        self.in_use.set(in_use);
    }

    /// Returns the first that is not in use and that `is_fit`.
    fn take(&self, is_fit: impl Fn(usize) -> bool) -> Option<usize> {
        let is_free = |index: &usize| self.starts.get()[*index] != 0 && !self.in_use.get()[*index];
        let index = (0..KEPT).filter(is_free).find(|&index| is_fit(self.starts.get()[index]))?;
        self.set_in_use(index, true);
        Some(self.starts.get()[index])
    }

    /// Keeps an arena that is in use, if there is room.
    fn keep(&self, start: usize) {
        let mut starts = self.starts.get();
        if let Some(index) = starts.iter().position(|&start| start == 0) {
            starts[index] = start;
            self.starts.set(starts);
            self.set_in_use(index, true);
        }
    }

    /// Returns whether the arena belongs to this OS thread, so that it stays with it.
    fn give_back(&self, start: usize) -> bool {
        let index = self.starts.get().iter().position(|&own| own == start);
        index.inspect(|&index| self.set_in_use(index, false)).is_some()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let lane = LANE.load(Ordering::Relaxed);
        for start in self.starts.get().into_iter().filter(|&start| start != 0) {
            Arena { start, lane }.header().is_taken.store(false, Ordering::Release);
        }
    }
}

/// The address space of a model.
#[derive(Debug)]
pub(super) struct Arena {
    start: usize,
    lane: usize,
}

impl Arena {
    /// Returns an unused arena, if the allocator is installed and there is one.
    pub(super) fn take() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        reserve();
        let (start, lane) = (START.load(Ordering::Relaxed), LANE.load(Ordering::Relaxed));
        if start == 0 {
            return None;
        }
        let of_own = |is_fit: fn(&Arena) -> bool| {
            let start = OWN.try_with(|own| own.take(|start| is_fit(&Arena { start, lane }))).ok().flatten()?;
            Some(Arena { start, lane })
        };
        let of_all = |is_fit: fn(&Arena) -> bool| {
            let arenas = (0..ARENAS).map(|index| Arena { start: start + index * (LANES + 1) * lane, lane });
            let arena = arenas.filter(&is_fit).find(|arena| !arena.header().is_taken.swap(true, Ordering::Acquire))?;
            let _ = OWN.try_with(|own| own.keep(arena.start));
            Some(arena)
        };
        // If earlier executions left many blocks, new blocks cannot have pages of their own.
        let has_room = |arena: &Arena| arena.has_room();
        of_own(has_room).or_else(|| of_all(has_room)).or_else(|| of_own(|_| true)).or_else(|| of_all(|_| true))
    }

    /// Returns whether executions have left little in its lanes.
    fn has_room(&self) -> bool {
        let most = self.lane / ALONE_PART / 2;
        self.header().lanes.iter().all(|left| left.bytes.load(Ordering::Relaxed) < most)
    }

    fn header(&self) -> &Header {
        // SAFETY: the beginning of an arena stays mapped and contains nothing else; zeros are a valid value.
        unsafe { &*(self.start as *const Header) }
    }

    /// Returns the address range of a lane, if one has this number.
    pub(super) fn lane(&self, index: usize) -> Option<Range<usize>> {
        let start = self.start + (index + 1) * self.lane;
        (index < LANES).then_some(start..start + self.lane)
    }

    /// Returns the lane that contains `address`.
    #[inline]
    pub(super) fn lane_of(&self, address: usize) -> Option<usize> {
        // Lanes have sizes that are powers of two.
        let offset = address.wrapping_sub(self.start + self.lane);
        let index = offset >> self.lane.trailing_zeros();
        (address >= self.start + self.lane && index < LANES).then_some(index)
    }

    /// Returns whether a number is less than the address of any block.
    #[inline]
    pub(super) fn is_above(&self, number: u64) -> bool {
        number < self.start as u64
    }

    /// Returns the first address of a lane behind what earlier executions left there.
    pub(super) fn first_free(&self, index: usize) -> usize {
        self.start + (index + 1) * self.lane + self.header().lanes[index].bytes.load(Ordering::Relaxed)
    }

    /// Records that an execution has left this many more blocks in a lane, up to `end`; returns where the next one
    /// begins.
    pub(super) fn leave(&self, index: usize, blocks: usize, end: usize) -> usize {
        let left = &self.header().lanes[index];
        if blocks > 0 {
            left.bytes.store(end - (self.start + (index + 1) * self.lane), Ordering::Relaxed);
            left.blocks.fetch_add(blocks, Ordering::Relaxed);
        } else if left.blocks.load(Ordering::Relaxed) == 0 {
            left.bytes.store(0, Ordering::Relaxed);
        }
        self.first_free(index)
    }

    /// Records the free of a block that an earlier execution left in a lane.
    pub(super) fn forget_old(&self, index: usize) {
        let blocks = &self.header().lanes[index].blocks;
        let _ = blocks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |blocks| blocks.checked_sub(1));
    }

    /// Releases the arena for another model: on the same OS thread if it belongs to that, so that addresses stay the
    /// same.
    pub(super) fn give_back(self) {
        if OWN.try_with(|own| own.give_back(self.start)).unwrap_or(false) {
            return;
        }
        self.header().is_taken.store(false, Ordering::Release);
    }
}
