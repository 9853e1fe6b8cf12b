//! Lifetimes as events: allocation, creation, move and free are plain accesses to a block.

use std::alloc::Layout;
use std::cell::RefMut;
use std::panic::Location;

use teetotal_program::ThreadId;

use crate::complaint::{Access, Complaint, Kind, Place, Race};
use crate::heap::{BlockEvent, BlockId, FaultKind, Freed, History, MemoryFault, Moment, is_in_std_arc};
use crate::identity::{Identity, Key};
use crate::loops::mix;
use crate::races::Races;
use crate::reuse::{put_up, reused};
use crate::runtime::{Execution, current_unguarded, fail, note};

/// An allocation or a free with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    thread: ThreadId,
    when: Moment,
    pub(crate) place: &'static Location<'static>,
}

impl Told {
    fn event(self) -> BlockEvent {
        BlockEvent { thread: Some(self.thread), after: self.when.after, place: Some(self.place.into()) }
    }
}

impl Execution {
    /// Returns an allocation or free by the current thread at `place`.
    pub(crate) fn told(&self, place: &'static Location<'static>) -> Option<Told> {
        let thread = self.running()?;
        Some(Told { thread, when: self.moment_of(thread), place })
    }

    /// Returns the error of a use, at `place`, of freed memory at `address`.
    pub(crate) fn told_fault(
        &self,
        kind: FaultKind,
        place: &'static Location<'static>,
        address: usize,
        size: usize,
        (allocated, freed): (Told, Told),
    ) -> Option<MemoryFault> {
        let (thread, knows) = (self.running()?, |thread, told: Told| {
            let knows = |mut races: RefMut<'_, Races>| races.knows_time(thread, told.thread, told.when.time);
            told.thread == thread || self.races.try_borrow_mut().is_ok_and(knows)
        });
        let is_ordered = knows(thread, freed);
        let history = History { address, size, allocated: allocated.event(), freed: Some(freed.event()) };
        let fault = fault(kind, (thread, self.moment_of(thread).after), Some(place.into()), history);
        Some(MemoryFault { is_ordered, ..fault })
    }

    /// Returns the current thread, if its code and not this crate allocates and frees.
    #[inline]
    fn allocating(&self) -> Option<ThreadId> {
        let is_own = self.heap.is_busy.get() || self.is_in_call() || self.is_over.get();
        if is_own { None } else { self.running() }
    }

    /// Returns the time at which `thread`, which is running, creates something.
    ///
    /// A creation in an abstracted section is ordered before every thread that observes it: the section is that of a
    /// lazy value, or its effect is an operation, so that it is no longer abstracted.
    fn creation_of(&self, thread: ThreadId) -> Moment {
        let now = self.moment_of(thread);
        if self.is_unseen(thread) { Moment { time: 0, ..now } } else { now }
    }

    /// Returns the time of `thread`, which is running.
    pub(crate) fn moment_of(&self, thread: ThreadId) -> Moment {
        // The clocks of a thread are allocated at the first query.
        let _busy = self.heap.be_busy();
        self.races.try_borrow_mut().map_or(Moment::default(), |mut races| races.moment(thread))
    }
}

/// Returns whether everything that orders frees after accesses is known, so that an access that orders nothing may race
/// with a free.
///
/// Where it may be of the standard library, such as the counts of an `Arc`, a notification says nothing about that.
pub(crate) fn orders_frees() -> bool {
    current_unguarded().is_none_or(|execution| !execution.trusts_frees)
}

/// Allocates a block for the current thread; returns `None` if it comes from the system.
pub(crate) fn allocate(layout: Layout) -> Option<*mut u8> {
    let execution = current_unguarded()?;
    if !execution.heap.is_on() {
        return None;
    }
    let thread = execution.allocating()?;
    let (size, align) = (layout.size(), layout.align());
    let again = reused(execution, thread, size, align);
    let now = execution.creation_of(thread);
    let block = match again {
        Some(id) => execution.heap.reuse(id, now, thread),
        None => match execution.heap.allocate(thread, now, size, align) {
            Some(block) => block,
            None => {
                execution.heap.note_partial();
                execution.ledger.note_unchecked_memory();
                return None;
            }
        },
    };
    note_owned(execution, block, 1);
    Some(block as *mut u8)
}

/// Frees the block at `address`.
pub(crate) fn free(address: usize) {
    let Some(execution) = current_unguarded() else { return };
    let thread = execution.running();
    let is_checked = execution.allocating().is_some();

    let is_known = |_: &ThreadId| is_checked;
    let now = thread.filter(is_known).map_or(Moment::default(), |thread| execution.moment_of(thread));
    // A freed block must be known to exist, and other threads must have finished with it before it is poisoned.
    if let Some(thread) = thread.filter(is_known)
        && let Some(id) = execution.heap.block_at(address)
    {
        refuse_free(execution, (thread, now), id);
    }
    let parent = |thread| execution.races.try_borrow().ok().and_then(|races| races.parent(thread));
    let is_of_child = |thread| parent(thread).is_some_and(|parent| parent.index() == 0);
    match execution.heap.free(thread, now, is_of_child, address) {
        Freed::Now => note_owned(execution, address, -1),
        Freed::Stays(free) => {
            note_owned(execution, address, -1);
            if is_checked {
                put_up(execution, free);
            }
        }
        Freed::Twice(id) => {
            if let Some(thread) = thread.filter(is_known) {
                let place = execution.heap.here(thread, now).place;
                let is_ordered = execution.knows_free(thread, id);
                let fault = fault(FaultKind::DoubleFree, (thread, now.after), place, execution.heap.history(id));
                end(execution, MemoryFault { is_ordered, ..fault });
            }
        }
        Freed::Unknown => {}
    }
}

/// Ends the current thread if it may not free a block now.
fn refuse_free(execution: &Execution, (thread, now): (ThreadId, Moment), id: BlockId) {
    let fault = |kind| {
        let freed = execution.heap.here(thread, now);
        let fault = fault(kind, (thread, now.after), freed.place.clone(), execution.heap.history(id));
        MemoryFault { freed: Some(freed), ..fault }
    };
    if !execution.knows_allocation(thread, id) {
        end(execution, MemoryFault { freed: None, ..fault(FaultKind::UnpublishedBlock) });
    }
    // The counts of an `Arc` of std, which are not observed, order its last reference after all others.
    let is_ordered = || {
        let _busy = execution.heap.be_busy();
        execution.n_dropping.get() == 0 && is_in_std_arc()
    };
    if let Some(access) = execution.rival_in(thread, id)
        && !execution.may_be_ordered(thread, &access)
        && !is_ordered()
    {
        end(execution, MemoryFault { access: Some(access), ..fault(FaultKind::RacingFree) });
    }
    if let Some(access) = execution.plain_rival(thread, id)
        && !is_ordered()
    {
        end(execution, MemoryFault { plain: Some(access), ..fault(FaultKind::RacingFree) });
    }
}

/// Returns the error of a use of a block by a thread after this many operations.
pub(crate) fn fault(kind: FaultKind, by: (ThreadId, u32), place: Option<Place>, block: History) -> MemoryFault {
    let ((thread, after), History { address, size, allocated, freed }) = (by, block);
    let (access, plain, is_ordered) = (None, None, false);
    MemoryFault { kind, thread, after, place, address, size, allocated, freed, access, plain, is_ordered }
}

/// Reports that the current thread has followed a pointer that it read from a freed block.
pub(crate) fn follow_poison() -> ! {
    let fault = current_unguarded().and_then(|execution| {
        let thread = execution.running()?;
        let now = execution.moment_of(thread);
        let place = execution.heap.here(thread, now).place;
        let unknown = History { address: 0, size: 0, allocated: BlockEvent::default(), freed: None };
        Some((execution, fault(FaultKind::StalePointer, (thread, now.after), place, unknown)))
    });
    match fault {
        Some((execution, fault)) => end(execution, fault),
        None => std::process::abort(),
    }
}

/// Records for the detection of loops that a block was allocated or freed.
fn note_owned(execution: &Execution, block: usize, how_many: i64) {
    if !execution.heads.is_empty() && execution.running().is_some() {
        let number = mix(3, block as u64).wrapping_mul(how_many as u64);
        note(|noted| noted.balance = noted.balance.wrapping_add(number));
    }
}

/// Ends the current thread.
pub(crate) fn end(execution: &Execution, fault: MemoryFault) -> ! {
    let place = execution.last_place().unwrap_or(Location::caller());
    fail(Complaint::Memory(Box::new(fault)), place)
}

impl Execution {
    /// Returns an access to a location in a block that is not ordered with the free by `thread`.
    fn rival_in(&self, thread: ThreadId, id: BlockId) -> Option<Access> {
        let mut races = self.races.try_borrow_mut().ok()?;
        self.heap.find_in(id, |key| races.rival(thread, key))
    }

    /// Returns whether the free by `thread` may be ordered after `access` by synchronization outside of this crate.
    ///
    /// If operations of this crate lead from the access to the free, only these count. Otherwise synchronization of the
    /// standard library may order them, if that is allowed; an execution in which the access comes later is then an
    /// error.
    fn may_be_ordered(&self, thread: ThreadId, access: &Access) -> bool {
        // Observing an atomic write does not order what comes after it, such as the end of an `Arc` of std.
        let time = access.time + u32::from(access.kind == Kind::ATOMIC_WRITE);
        let may_be = self.trusts_frees && !self.races.borrow_mut().has_led_to((access.thread, time), thread);
        if may_be {
            let _busy = self.heap.be_busy();
            self.ledger.note_trusted(access.place);
        }
        may_be
    }

    /// Returns whether `thread` comes after the allocation of a block.
    fn knows_allocation(&self, thread: ThreadId, id: BlockId) -> bool {
        let (owner, time, is_shared) = self.heap.born_when(id, thread);
        // A value that is passed under a lock of std is ordered, although this is not observed.
        !is_shared
            || owner == thread
            || self.races.try_borrow_mut().is_ok_and(|mut races| races.knows_time(thread, owner, time))
    }

    /// Returns whether `thread` comes after the free of a block.
    fn knows_free(&self, thread: ThreadId, id: BlockId) -> bool {
        let Some((by, time)) = self.heap.freed_when(id) else { return true };
        by == thread || self.races.try_borrow_mut().is_ok_and(|mut races| races.knows_time(thread, by, time))
    }

    /// A location is accessed at `address`: it was made or moved there by the thread that allocated the block.
    #[inline]
    pub(crate) fn see(&self, key: Key, address: usize) {
        if let Some((_, owner, born)) = self.heap.see(key, address)
            && let Ok(mut races) = self.races.try_borrow_mut()
        {
            races.create(owner, born, key);
        }
    }

    /// Records that the current thread creates a cell.
    pub(crate) fn construct(&self, identity: &Identity, place: &'static Location<'static>) {
        if self.is_over.get() {
            return;
        }
        if let (Some(thread), Some(key)) = (self.running(), identity.begin(self)) {
            let now = self.creation_of(thread);
            self.races.borrow_mut().construct(thread, now, key, place);
        }
    }

    /// Returns the error of an access by `thread` after this many operations, if `address` is in freed memory.
    pub(crate) fn use_after_free(
        &self,
        thread: ThreadId,
        after: u32,
        address: usize,
        place: Option<Place>,
    ) -> Option<MemoryFault> {
        let id = self.heap.once_freed_at(address)?;
        let is_reused = self.heap.freed_at(address).is_none();
        let kind = if is_reused { FaultKind::ReusedBlock } else { FaultKind::UseAfterFree };
        let fault = fault(kind, (thread, after), place, self.heap.history(id));
        Some(MemoryFault { is_ordered: self.knows_free(thread, id), ..fault })
    }

    /// Returns the error of a continuing access by `thread`, if the block was freed since it began.
    pub(crate) fn use_since_free(
        &self,
        thread: ThreadId,
        key: Key,
        place: &'static Location<'static>,
    ) -> Option<MemoryFault> {
        let address = self.heap.lost(key)?;
        self.use_after_free(thread, self.moment_of(thread).after, address, Some(place.into()))
    }

    /// Returns the error for a race: a race with the creation of a location is an error about its block.
    pub(crate) fn complaint_of(&self, race: Race) -> Complaint {
        let created = (race.first.kind == Kind::CREATION).then(|| self.heap.block_of(race.key)).flatten();
        let Some(id) = created else { return Complaint::Race(race) };
        let by = (race.second.thread, race.second.after);
        let fault = fault(FaultKind::UnpublishedBlock, by, Some(race.second.place.into()), self.heap.history(id));
        Complaint::Memory(Box::new(MemoryFault { access: Some(race.second), ..fault }))
    }
}
