//! Plain accesses to blocks of a model: accesses without a type of this crate.
//!
//! The first access of a thread to each block between two of its operations is observed ([`crate::heap`]). Like
//! accesses to types of this crate, they must be ordered after the allocation of the block and before its free. Which
//! field is accessed, and whether it is written, does not matter.
//!
//! Observing them costs time, so a search begins without it and restarts with it at one of two events: a free of a
//! block that another thread may still use, or a read of the address of a block whose allocation does not happen before
//! the read.

use teetotal_program::ThreadId;

use crate::heap::{BlockEvent, BlockId, Closed, FaultKind, MemoryFault, Moment, is_of_models, is_poison, open_page};
use crate::hidden::{Kind, Name};
use crate::lifetimes::{end, fault, follow_poison};
use crate::overflow::CAN_RETURN;
use crate::races::Races;
use crate::runtime::{Execution, current_unguarded};

/// In which executions plain accesses are observed, that is, accesses to memory without a type of this crate.
///
/// This needs [`alloc::Checked`](crate::alloc::Checked) as the global allocator. Accesses are observed by page faults,
/// at which a debugger stops; system calls on watched memory fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PlainAccesses {
    /// All executions.
    #[default]
    All,
    /// The first 1,000 executions, and one of 64 after that.
    ///
    /// If there are more, errors may be missed, and a caveat is reported.
    Sampled,
    /// No execution.
    Never,
}

/// Returns the name that is concrete if plain accesses are observed.
fn name() -> Name {
    static PLAIN: u8 = 0;
    Name::new(Kind::Thing, &PLAIN)
}

/// What to do about a faulting access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failed {
    /// It is not an access of a model.
    Unknown,
    /// It is retried.
    Again,
    /// [`explain`] is called, and the access is retried if that returns.
    Explained,
}

/// Handles a faulting access to `address`, where memory is closed or not mapped.
///
/// Called by a signal handler, on a small stack.
pub(crate) fn on_fault(address: usize) -> Failed {
    let execution = current_unguarded().filter(|execution| !execution.is_over.get());
    let running = execution.and_then(|execution| Some((execution, execution.running()?)));
    let is_block = is_of_models(address);
    match running {
        Some((execution, _)) if is_poison(address) => {
            execution.heap.note_faulted(address);
            Failed::Explained
        }
        Some((execution, thread)) if is_block => execution.on_closed(thread, address),
        // Code outside of threads may access leftovers of an execution.
        _ if is_block && open_page(address) => Failed::Again,
        _ => Failed::Unknown,
    }
}

/// Reports or records a faulting access of the current thread.
pub(crate) fn explain() {
    let Some(execution) = current_unguarded() else { std::process::abort() };
    let (address, thread) = (execution.heap.faulted(), execution.running());
    match (thread, execution.heap.closed_at(address)) {
        _ if is_poison(address) => follow_poison(),
        // The operation that looks at its object is about to be refused, and knows its place.
        (Some(_), Some(Closed::Freed)) if execution.misused.get().is_some() && open_page(address) => {}
        (Some(thread), Some(Closed::Live(id))) => {
            let now = execution.moment_of(thread);
            if execution.is_unpublished(thread, id) {
                let here = execution.heap.here(thread, now);
                let (_, _, is_shared) = execution.heap.born_when(id, thread);
                let kind = if is_shared { FaultKind::UnpublishedBlock } else { FaultKind::ReusedBlock };
                let fault = fault(kind, (thread, now.after), here.place.clone(), execution.heap.history(id));
                end(execution, MemoryFault { plain: Some(here), ..fault });
            }
            execution.heap.touch(id, Some(thread), now);
        }
        (Some(thread), Some(Closed::Freed)) => {
            let now = execution.moment_of(thread);
            let place = execution.heap.here(thread, now).place;
            if let Some(fault) = execution.use_after_free(thread, now.after, address, place) {
                end(execution, fault);
            }
            std::process::abort();
        }
        _ => _ = open_page(address),
    }
}

impl Execution {
    /// Starts observing plain accesses, if the search knows that they matter.
    pub(crate) fn track_plain(&self) {
        if self.is_open(name()) {
            self.heap.track_plain();
        }
    }

    /// Prepares the use of an object of this crate at `address` by the current thread, which is not a plain access;
    /// returns whether it is in memory that was not freed.
    #[cold]
    pub(crate) fn open_for_operation(&self, address: usize) -> bool {
        match self.heap.closed_at(address) {
            Some(Closed::Freed) => return false,
            Some(Closed::Live(id) | Closed::Beside(id)) => self.heap.touch(id, None, Moment::default()),
            None => {}
        }
        true
    }

    /// Handles an access by `thread` to closed memory.
    fn on_closed(&self, thread: ThreadId, address: usize) -> Failed {
        self.heap.note_faulted(address);
        match self.heap.closed_at(address) {
            Some(Closed::Freed) => Failed::Explained,
            Some(Closed::Live(id)) if self.is_told(thread, id) => Failed::Explained,
            Some(Closed::Live(id)) => {
                self.heap.touch(id, Some(thread), self.moment_of(thread));
                Failed::Again
            }
            Some(Closed::Beside(id)) => {
                self.heap.touch(id, None, Moment::default());
                Failed::Again
            }
            None if open_page(address) => Failed::Again,
            None => Failed::Unknown,
        }
    }

    /// Returns whether an access is reported: it is an error, or places are recorded.
    fn is_told(&self, thread: ThreadId, id: BlockId) -> bool {
        CAN_RETURN && self.heap.records_sites() || self.is_unpublished(thread, id)
    }

    /// Returns whether `thread` does not know of the allocation of a block, and has its address from a location, or had
    /// it from when the block was another one.
    fn is_unpublished(&self, thread: ThreadId, id: BlockId) -> bool {
        let (owner, time, is_shared) = self.heap.born_when(id, thread);
        let mut races = self.races.try_borrow_mut();
        (is_shared || self.heap.is_reused_block(id))
            && owner != thread
            && races.as_mut().is_ok_and(|races| !races.knows_time(thread, owner, time))
    }

    /// Called when `thread` has read or written the address of a block for the first time; plain accesses to it may
    /// matter.
    pub(crate) fn look_at_published(&self, races: &mut Races, thread: ThreadId, id: BlockId) {
        let (owner, time, _) = self.heap.born_when(id, thread);
        if self.heap.can_track_plain() && owner != thread && !races.knows_time(thread, owner, time) {
            self.expose(name());
        }
    }

    /// Returns a plain access to a block that is not ordered before its free by `thread`.
    pub(crate) fn plain_rival(&self, thread: ThreadId, id: BlockId) -> Option<BlockEvent> {
        if !self.heap.tracks_plain() {
            self.look_at_free(thread, id);
            return None;
        }
        let trusted = std::cell::Cell::new(false);
        let rival = self.heap.plain_rival(id, |other, when| {
            let Ok(mut races) = self.races.try_borrow_mut() else { return true };
            if other == thread || races.knows_time(thread, other, when.time) {
                return true;
            }
            let is_trusted = self.trusts_frees && !races.has_led_to((other, when.time), thread);
            trusted.set(trusted.get() || is_trusted);
            is_trusted
        });
        if trusted.get()
            && let Some(place) = self.last_place()
        {
            self.ledger.note_trusted(place);
        }
        rival
    }

    /// Called when `thread` frees a block: plain accesses to it matter if another thread may have its address and still
    /// use it.
    fn look_at_free(&self, thread: ThreadId, id: BlockId) {
        if self.heap.can_track_plain() && self.heap.is_shared(id) {
            let is_last = self.races.try_borrow_mut().is_ok_and(|mut races| races.knows_ends(thread));
            if !is_last {
                self.expose(name());
            }
        }
    }

    /// Closes the blocks whose accesses are to be seen before `thread` runs.
    #[inline]
    pub(crate) fn close_blocks(&self, thread: ThreadId) {
        if self.heap.tracks_plain_now() && !self.is_over.get() {
            let is_alone = self.races.borrow_mut().knows_ends(thread);
            self.heap.close(is_alone);
        }
    }
}
