//! Reuse of freed blocks: which allocations return the address of a freed block, and how often.
//!
//! A thread may reuse a block that it has freed itself without further conditions. A block that another thread has
//! freed it may reuse only if the free came before, which no event shows. So the free of such a block is a store to a
//! location of its own, and the allocation reads that location, or exchanges it if several threads may reuse the block:
//! the search then decides which comes first, and the free is ordered before what the next owner does, as allocators
//! guarantee. This is abstracted ([`crate::hidden`]) until an execution has such a free and an allocation.

use std::cell::{Cell, RefCell};
use std::panic::Location;

use rustc_hash::{FxHashMap, FxHashSet};
use teetotal_program::{OnFailure, Order, ThreadId};

use crate::heap::BlockId;
use crate::hidden::{Kind, Name};
use crate::identity::Key;
use crate::request::{Cell as Shared, Function, Matter, Update, What};
use crate::runtime::{Execution, perform};

/// A free of a block that is kept, numbered among those of its thread and size class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Free {
    pub(crate) thread: ThreadId,
    pub(crate) nth: u32,
    pub(crate) class: u32,
    /// Whether its thread was started by the first one, which therefore need not wait for it before.
    pub(crate) is_of_child: bool,
}

/// The number of threads, of frees of each, and of size classes that have names.
const THREADS: usize = 16;
const FREES: usize = 8;
const CLASSES: usize = 64;
const N_NAMES: usize = 2 * THREADS * FREES * CLASSES;

/// The memory to which names point, so that they are the same in each run of the program.
static NAMES: [u8; N_NAMES] = [0; N_NAMES];

/// Returns the class of blocks of this size.
pub(crate) fn class_of(size: usize) -> u32 {
    (size / 8).min(CLASSES - 1) as u32
}

impl Free {
    fn name(self) -> Option<Name> {
        let (thread, nth) = (self.thread.index(), self.nth as usize);
        let index = 2 * ((thread * FREES + nth) * CLASSES + self.class as usize) + usize::from(self.is_of_child);
        (thread < THREADS && nth < FREES).then(|| Name::new(Kind::Thing, &NAMES[index]))
    }

    /// Returns the concrete frees, by their size classes.
    fn known(open: &FxHashSet<Name>) -> Vec<Free> {
        let start = NAMES.as_ptr() as usize;
        let mut all: Vec<usize> = open.iter().filter_map(|name| name.address().checked_sub(start)).collect();
        all.retain(|&index| index < NAMES.len());
        all.sort_unstable();
        let free = |index: usize| {
            let (rest, class, is_of_child) = (index / 2 / CLASSES, index / 2 % CLASSES, index % 2 == 1);
            let (thread, nth, class) = (ThreadId::at(rest / FREES), (rest % FREES) as u32, class as u32);
            Free { thread, nth, class, is_of_child }
        };
        all.into_iter().map(free).collect()
    }
}

/// The number of reuses of each thread, and the bound on all.
///
/// Whether a thread has the choice depends on its own count, since its operations must not depend on the order of those
/// of other threads. Whether the search may choose reuse depends on the total.
#[derive(Debug, Default)]
pub(crate) struct Reuse {
    most: usize,
    total: Cell<usize>,
    taken: RefCell<Vec<usize>>,
    /// The concrete frees.
    open: Vec<Free>,
    /// Their locations.
    cells: RefCell<FxHashMap<Free, Key>>,
}

impl Reuse {
    pub(crate) fn new(most: usize, open: &FxHashSet<Name>) -> Self {
        Reuse { most, open: Free::known(open), ..Reuse::default() }
    }

    pub(crate) fn clear(&self) {
        self.total.set(0);
        self.taken.borrow_mut().clear();
        self.cells.borrow_mut().clear();
    }

    /// Returns the number of reuses in an execution.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns whether one more reuse is within the bound.
    pub(crate) fn may_take(&self) -> bool {
        self.total.get() < self.most
    }

    /// Returns whether `thread` has the choice.
    fn may_ask(&self, thread: ThreadId) -> bool {
        self.taken.borrow().get(thread.index()).copied().unwrap_or(0) < self.most
    }

    /// Records a reuse by `thread`.
    fn take(&self, thread: ThreadId) {
        let mut taken = self.taken.borrow_mut();
        if taken.len() <= thread.index() {
            taken.resize(thread.index() + 1, 0);
        }
        taken[thread.index()] += 1;
        self.total.set(self.total.get() + 1);
    }

    /// Returns the concrete frees of blocks of this class by other threads than `thread`.
    fn of_others(&self, thread: ThreadId, class: u32) -> impl Iterator<Item = Free> + '_ {
        self.open.iter().filter(move |free| free.thread != thread && free.class == class).copied()
    }

    fn is_open(&self, free: Free) -> bool {
        self.open.contains(&free)
    }
}

/// Returns the freed block that an allocation of `thread` reuses, if any: the search decides, within the bound.
pub(crate) fn reused(execution: &Execution, thread: ThreadId, size: usize, align: usize) -> Option<BlockId> {
    // A block that contains a location has this alignment; others may be allocated by std while it holds a lock.
    if align < align_of::<u64>() {
        return None;
    }
    if !execution.heap.has_given_up() && execution.reuse.open.is_empty() {
        return None;
    }
    let own = execution.heap.reusable(thread, size, align);
    execution.expose_frees(thread, size);
    let choices: Vec<Free> = {
        let _busy = execution.heap.be_busy();
        let others = execution.reuse.of_others(thread, class_of(size));
        let others = others.filter(|free| execution.may_have_begun(thread, *free));
        own.iter().map(|(free, _)| *free).chain(others).collect()
    };
    if choices.is_empty() {
        return None;
    }
    // With each block that is taken there is one in some execution that is not.
    execution.note_reuse_bound();
    if !execution.reuse.may_ask(thread) {
        return None;
    }
    let alternatives = choices.len() as u32 + 1;
    let taken = perform(What::Choose { alternatives, matter: Matter::Reuse }, here(execution));
    let free = *choices.get((taken as usize).checked_sub(1)?)?;
    {
        let _busy = execution.heap.be_busy();
        execution.reuse.take(thread);
    }
    (!execution.reuse.is_open(free) || execution.is_won(thread, free)).then_some(())?;
    execution.heap.freed_by(free, size, align)
}

/// Records that `thread` has freed a block that is kept.
pub(crate) fn put_up(execution: &Execution, free: Free) {
    execution.expose_free(free);
    if execution.reuse.is_open(free) {
        let at = execution.freed_cell(free);
        perform(What::Store { at, value: 1, order: Order::Release }, Location::caller());
    }
}

/// Returns the place of the last request, the nearest place that is known.
fn here(execution: &Execution) -> &'static Location<'static> {
    execution.last_place().unwrap_or(Location::caller())
}

/// Returns whether an operation at this place is one of the allocator.
#[must_use]
pub fn is_of_allocator(place: &crate::Place) -> bool {
    place.file == file!()
}

impl Execution {
    /// Returns whether `thread` may have a block that another thread may take too, or that may not be free yet.
    fn is_won(&self, thread: ThreadId, free: Free) -> bool {
        let at = self.freed_cell(free);
        if self.reuse.most > 1 {
            let update = Update::new(Function::CompareExchange { expected: 1 }, 2, 64);
            let on_failure = OnFailure::Load(Order::Relaxed);
            return perform(What::Rmw { at, update, order: Order::Acquire, on_failure }, Location::caller()) == 1;
        }
        // No other allocation of the execution reuses the block, so no exchange is needed, which would drain buffers.
        free.thread == thread || perform(What::Load { at, order: Order::Acquire }, Location::caller()) == 1
    }

    /// Returns the location that tells whether a block is free.
    fn freed_cell(&self, free: Free) -> Shared {
        let _busy = self.heap.be_busy();
        let key = *self.reuse.cells.borrow_mut().entry(free).or_insert_with(|| self.new_freed_key());
        Shared { key, initial: 0, may_race: false }
    }

    /// Returns whether a block may have been freed for all that `thread` has done: a thread that it has not started has
    /// not.
    fn may_have_begun(&self, thread: ThreadId, free: Free) -> bool {
        let is_parent = free.is_of_child && thread.index() == 0;
        !is_parent || self.races.try_borrow().is_ok_and(|races| races.parent(free.thread) == Some(thread))
    }

    /// Handles an allocation of `thread`, which may reuse a block that another thread has freed.
    fn expose_frees(&self, thread: ThreadId, size: usize) {
        if self.reuse.most > 0 {
            let _busy = self.heap.be_busy();
            let frees = self.heap.frees_of_others(thread, size);
            frees.into_iter().filter_map(Free::name).for_each(|name| self.expose(name));
        }
    }

    /// Handles a free: a thread that allocates such a block later may reuse it.
    fn expose_free(&self, free: Free) {
        let Some(name) = free.name().filter(|_| self.reuse.most > 0) else { return };
        let _busy = self.heap.be_busy();
        let Ok(mut races) = self.races.try_borrow_mut() else { return };
        let births = self.heap.births_of_others(free.thread, free.class);
        if births.into_iter().any(|(owner, time)| !races.knows_time(free.thread, owner, time)) {
            drop(races);
            self.expose(name);
        }
    }
}
