//! Reference counts of `Arc`s.
//!
//! The counts are abstracted as long as no thread can observe the order in which they change; see [`crate::hidden`]. If
//! concrete, they are one location, with the strong count in the lower half and the weak count in the upper.

use std::panic::Location;

use teetotal_clocks::Clock;
use teetotal_program::{OnFailure, Order, ThreadId, Value};

use crate::complaint::Complaint;
use crate::heap::FaultKind;
use crate::hidden::{Kind, Name, unseen};
use crate::identity::Identity;
use crate::lifetimes::Told;
use crate::request::{Cell, Function, Update, What};
use crate::runtime::{
    Execution, current, fail, is_active, note_taken, perform, perform_in_drop, refuse_captured, running,
};

const STRONG: Value = (1 << 32) - 1;
const WEAK: Value = 1 << 32;

/// The data of an execution about the counts of one `Arc`.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Their name in the ledger: the place where the `Arc` was created.
    name: Name,
    address: usize,
    possession: Option<usize>,
    /// Their location, if they are concrete.
    identity: Option<Box<Identity>>,
    /// The clocks of threads that dropped a strong reference.
    dropped: Clock,
    /// The clocks of threads after they dropped a reference, strong or weak.
    released: Clock,
    /// The times at which a reference was added, or a weak one dropped.
    changed: Clock,
    /// The threads that read the counts, if any.
    looked: Option<Box<Looked>>,
    /// The places where the `Arc` was created, and where the last strong reference was dropped.
    told: Option<(Told, Option<Told>)>,
}

/// The reads of the counts of an `Arc`.
#[derive(Debug, Default)]
struct Looked {
    /// The times of reads of whether there is a strong reference.
    asked: Clock,
    /// The times of reads of the number of references.
    counted: Clock,
}

/// The identity of an `Arc`: its execution, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag {
    generation: u64,
    index: usize,
}

/// How the last reference is dropped.
pub(super) enum Last {
    /// As an operation.
    Plain,
    /// Abstracted under this name, with the clocks of the threads that dropped other references.
    Unseen(Name, Clock),
}

impl Tag {
    /// Creates the counts of an `Arc` outside of models.
    pub(super) const NONE: Tag = Tag { generation: 0, index: 0 };

    /// Creates the counts of a new `Arc`. If it is a `possession`, it is tracked for leaks.
    pub(super) fn new(address: usize, place: &'static Location<'static>, is_possession: bool) -> Self {
        if running().is_none() {
            return Tag::NONE;
        }
        let tag = current(|execution| {
            let name = Name::new(Kind::Thing, place);
            let possession = is_possession.then(|| execution.possessions.borrow_mut().add("Arc", place, address));
            let identity = execution.is_open(name).then(|| Box::new(Identity::new()));
            let mut arcs = execution.arcs.borrow_mut();
            arcs.push(Counts {
                name,
                address,
                possession,
                identity,
                dropped: Clock::default(),
                released: Clock::default(),
                changed: Clock::default(),
                looked: None,
                told: execution.told(place).map(|made| (made, None)),
            });
            execution.heap.note_counted(address);
            note_taken(arcs.len(), 1);
            Tag { generation: execution.generation.get(), index: arcs.len() - 1 }
        });
        tag.unwrap_or(Tag::NONE)
    }

    /// Creates the counts of a new `Arc` whose counts are not read and whose value has no destructor: no code can
    /// observe which reference is the last, only loops whether there are more.
    pub(super) fn uncounted(address: usize) -> Self {
        if running().is_none() {
            return Tag::NONE;
        }
        let tag = Tag { generation: 0, index: address };
        note_taken(tag.index + 1, 1);
        tag
    }

    /// Returns the counts of the `Arc` that points to `address`.
    pub(super) fn of(address: usize) -> Self {
        let tag = current(|execution| {
            let index = execution.arcs.borrow().iter().rposition(|counts| counts.address == address)?;
            Some(Tag { generation: execution.generation.get(), index })
        });
        tag.flatten().unwrap_or(Tag::NONE)
    }

    /// Records that it points to `address`.
    pub(super) fn set_address(self, address: usize) {
        self.with(|execution, counts| {
            counts.address = address;
            execution.heap.note_counted(address);
        });
    }

    fn with<R>(self, f: impl FnOnce(&Execution, &mut Counts) -> R) -> Option<R> {
        if self.generation == 0 {
            return None;
        }
        current(|execution| {
            if execution.generation.get() != self.generation {
                return None;
            }
            execution.arcs.borrow_mut().get_mut(self.index).map(|counts| f(execution, counts))
        })
        .flatten()
    }

    /// Calls `f` with the counts, in a thread whose operations are part of the search.
    fn searched<R>(self, f: impl FnOnce(&Execution, ThreadId, &mut Counts) -> R) -> Option<R> {
        let thread = running()?;
        self.with(|execution, counts| (!execution.is_over.get()).then(|| f(execution, thread, counts))).flatten()
    }

    /// Returns the location of the counts, if they are concrete.
    fn cell(self) -> Option<Cell> {
        let identity = self.with(|_, counts| counts.identity.as_deref().map(std::ptr::from_ref)).flatten()?;
        // SAFETY: the counts are there as long as the execution is.
        let key = unsafe { &*identity }.key();
        Some(Cell { key, initial: 1, may_race: false })
    }

    fn change(
        self,
        function: Function,
        operand: Value,
        order: Order,
        place: &'static Location<'static>,
    ) -> Option<Value> {
        let at = self.cell().filter(|_| is_active())?;
        let update = Update::new(function, operand, 64);
        Some(perform(What::Rmw { at, update, order, on_failure: OnFailure::Load(Order::Relaxed) }, place))
    }

    /// Adds a strong reference.
    pub(super) fn strong_added(self, place: &'static Location<'static>) {
        note_taken(self.index + 1, 1);
        if self.change(Function::Add, 1, Order::Relaxed, place).is_none() {
            self.has_changed();
        }
    }

    /// Adds a weak reference.
    pub(super) fn weak_added(self, place: &'static Location<'static>) {
        note_taken(self.index + 1, WEAK as i64);
        if self.change(Function::Add, WEAK, Order::Relaxed, place).is_none() {
            self.has_changed();
        }
    }

    /// Removes a weak reference.
    pub(super) fn weak_dropped(self, place: &'static Location<'static>) {
        note_taken(self.index + 1, -(WEAK as i64));
        if self.change(Function::Sub, WEAK, Order::Release, place).is_none() {
            self.has_changed();
        }
    }

    fn has_changed(self) {
        self.searched(|execution, thread, counts| {
            let mut races = execution.races.borrow_mut();
            counts.changed.set(thread, races.time(thread));
            if counts.looked.as_ref().is_some_and(|looked| !races.knows(thread, &looked.counted)) {
                execution.expose(counts.name);
            }
        });
    }

    /// Removes a strong reference; if it `is_last`, returns how that is dropped.
    pub(super) fn strong_dropped(self, is_last: &dyn Fn() -> bool, place: &'static Location<'static>) -> Last {
        note_taken(self.index + 1, -1);
        let last = self.with(|execution, counts| {
            if counts.identity.is_some() {
                return None;
            }
            let Some(thread) = execution.running().filter(|_| !execution.is_over.get()) else {
                return Some(Last::Plain);
            };
            let mut races = execution.races.borrow_mut();
            let mut knows = |clock| races.knows(thread, clock);
            if counts.looked.as_ref().is_some_and(|looked| !knows(&looked.asked) || !knows(&looked.counted)) {
                execution.expose(counts.name);
            }
            // If the others are known to be dropped before, it is the last in any order.
            let is_hidden = is_last() && !races.knows(thread, &counts.dropped);
            let last = if is_hidden { Last::Unseen(counts.name, counts.dropped.clone()) } else { Last::Plain };
            races.tell(thread, &mut counts.dropped);
            Some(last)
        });
        match last {
            Some(Some(last)) => last,
            Some(None) => {
                self.strong_dropped_in_the_open(is_last, place);
                Last::Plain
            }
            None => Last::Plain,
        }
    }

    fn strong_dropped_in_the_open(self, is_last: &dyn Fn() -> bool, place: &'static Location<'static>) {
        if let Some(at) = self.cell().filter(|_| running().is_some()) {
            let update = Update::new(Function::Sub, 1, 64);
            let on_failure = OnFailure::Load(Order::Relaxed);
            perform_in_drop(What::Rmw { at, update, order: Order::Release, on_failure }, place);
            if is_last() && is_active() {
                perform(What::Fence { order: Order::Acquire }, place);
            }
        }
    }

    /// Rejects an `Arc` that was created outside of the execution, whose counts are not searched.
    fn refuse_captured(self, place: &'static Location<'static>) {
        if current(|execution| execution.generation.get() != self.generation).unwrap_or(false) {
            refuse_captured(place);
        }
        if is_active() {
            current(Execution::note_operation);
        }
    }

    /// Runs `f`, which drops a reference. If that frees the memory, the free is ordered after everything done through
    /// other references.
    pub(super) fn let_go<R>(self, f: impl FnOnce() -> R) -> R {
        let others = self.searched(|execution, thread, counts| {
            let is_unknown = execution.heap.is_on() && !execution.races.borrow_mut().knows(thread, &counts.released);
            is_unknown.then(|| (counts.name, counts.released.clone()))
        });
        let result = match others.flatten() {
            Some((name, released)) => unseen(name, Some(&released), f),
            None => f(),
        };
        self.searched(|execution, thread, counts| {
            if execution.heap.is_on() {
                execution.races.borrow_mut().tell(thread, &mut counts.released);
                // Later accesses of the thread to the memory are not ordered by this.
                execution.close_blocks(thread);
            }
        });
        result
    }

    /// Records that the next operations of the current thread depend on the number of references.
    pub(super) fn note_counted(self, place: &'static Location<'static>) {
        self.refuse_captured(place);
        self.searched(|execution, thread, counts| {
            let mut races = execution.races.borrow_mut();
            if !races.knows(thread, &counts.dropped) || !races.knows(thread, &counts.changed) {
                execution.expose(counts.name);
            }
            counts.looked.get_or_insert_default().counted.set(thread, races.time(thread));
        });
    }

    /// Reads the counts; returns the strong and the weak count if they are concrete.
    pub(super) fn count(self, order: Order, place: &'static Location<'static>) -> Option<(usize, usize)> {
        let Some(at) = self.cell().filter(|_| is_active()) else {
            self.note_counted(place);
            return None;
        };
        let counts = perform(What::Load { at, order }, place);
        Some(((counts & STRONG) as usize, (counts / WEAK) as usize))
    }

    /// Tests for the last strong reference; returns the result if the counts are concrete.
    pub(super) fn take_last(self, place: &'static Location<'static>) -> Option<bool> {
        if self.cell().is_none() || !is_active() {
            self.count(Order::Acquire, place);
            return None;
        }
        let old = self.change(Function::SubIf { low: STRONG, value: 1 }, 1, Order::AcqRel, place)?;
        Some(old & STRONG == 1)
    }

    /// Upgrades a weak reference; returns whether that is possible, if the counts are concrete.
    pub(super) fn upgrade(self, place: &'static Location<'static>) -> Option<bool> {
        self.refuse_captured(place);
        if let Some(old) = self.change(Function::AddIf { bits: STRONG }, 1, Order::Acquire, place) {
            return Some(old & STRONG != 0);
        }
        self.searched(|execution, thread, counts| {
            let mut races = execution.races.borrow_mut();
            if !races.knows(thread, &counts.dropped) {
                execution.expose(counts.name);
            }
            counts.looked.get_or_insert_default().asked.set(thread, races.time(thread));
        });
        self.has_changed();
        None
    }

    /// Records that a weak reference could not be upgraded although the counts allow it.
    pub(super) fn not_upgraded(self, place: &'static Location<'static>) {
        self.change(Function::Sub, 1, Order::Relaxed, place);
    }

    /// Records that a weak reference was upgraded.
    pub(super) fn upgraded(self) {
        note_taken(self.index + 1, 1);
    }

    /// Ends the current thread if it uses a reference, at `place`, although the last one was dropped.
    pub(super) fn refuse_ended(self, kind: FaultKind, place: &'static Location<'static>) {
        let fault = self.searched(|execution, _, counts| {
            let (made, ended) = counts.told?;
            execution.told_fault(kind, place, counts.address, 0, (made, ended?))
        });
        if let Some(fault) = fault.flatten() {
            fail(Complaint::Memory(Box::new(fault)), place);
        }
    }

    /// Drops the last strong reference.
    pub(super) fn gone(self, place: &'static Location<'static>) {
        self.with(|execution, counts| {
            let ended = execution.told(place);
            counts.told = counts.told.map(|(made, _)| (made, ended));
            if let Some(possession) = counts.possession.take() {
                execution.possessions.borrow_mut().remove(possession);
            }
        });
    }
}
