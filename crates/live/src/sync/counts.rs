//! How many references there are to what an `Arc` points to.
//!
//! The counts are hidden from the search as long as nobody can tell in which order they change; see [`crate::hidden`].
//! In the open they are one location, with the strong references in the lower half and the weak ones in the upper.

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

/// What an execution knows of the counts of one `Arc`.
#[derive(Debug)]
pub(crate) struct Counts {
    /// What they are called in the ledger: where the `Arc` was made.
    name: Name,
    address: usize,
    possession: Option<usize>,
    /// What the search knows them by, if they are in the open.
    identity: Option<Box<Identity>>,
    /// What those knew who dropped a reference.
    dropped: Clock,
    /// What those knew who let go of a reference, strong or weak, when they had done so.
    released: Clock,
    /// When there was another reference, strong or weak, or one weak reference less.
    changed: Clock,
    /// Which threads looked at them, if any did.
    looked: Option<Box<Looked>>,
    /// Where the `Arc` was made, and where the last strong reference was dropped.
    told: Option<(Told, Option<Told>)>,
}

/// Who looked at the counts of an `Arc`.
#[derive(Debug, Default)]
struct Looked {
    /// When somebody looked whether there was a strong reference.
    asked: Clock,
    /// When somebody looked how many there were.
    counted: Clock,
}

/// Which `Arc` of which execution it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag {
    generation: u64,
    index: usize,
}

/// How the last reference is dropped.
pub(super) enum Last {
    /// As it is.
    Plain,
    /// Hidden under this name, with what others knew who dropped theirs.
    Unseen(Name, Clock),
}

impl Tag {
    /// Of an `Arc` outside of models.
    pub(super) const NONE: Tag = Tag { generation: 0, index: 0 };

    /// Of a new `Arc`. One that is a `possession` must be given back.
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

    /// Of a new `Arc` whose counts are not asked for, and which holds what has no destructor: no code can tell which
    /// reference is the last, only loops whether there are more.
    pub(super) fn uncounted(address: usize) -> Self {
        if running().is_none() {
            return Tag::NONE;
        }
        let tag = Tag { generation: 0, index: address };
        note_taken(tag.index + 1, 1);
        tag
    }

    /// Of the `Arc` that points to `address`.
    pub(super) fn of(address: usize) -> Self {
        let tag = current(|execution| {
            let index = execution.arcs.borrow().iter().rposition(|counts| counts.address == address)?;
            Some(Tag { generation: execution.generation.get(), index })
        });
        tag.flatten().unwrap_or(Tag::NONE)
    }

    /// It points to `address`.
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

    /// The same, in a thread whose operations are the search's affair.
    fn searched<R>(self, f: impl FnOnce(&Execution, ThreadId, &mut Counts) -> R) -> Option<R> {
        let thread = running()?;
        self.with(|execution, counts| (!execution.is_over.get()).then(|| f(execution, thread, counts))).flatten()
    }

    /// The location of the counts, if they are in the open.
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

    /// There is another strong reference.
    pub(super) fn strong_added(self, place: &'static Location<'static>) {
        note_taken(self.index + 1, 1);
        if self.change(Function::Add, 1, Order::Relaxed, place).is_none() {
            self.has_changed();
        }
    }

    /// There is another weak reference.
    pub(super) fn weak_added(self, place: &'static Location<'static>) {
        note_taken(self.index + 1, WEAK as i64);
        if self.change(Function::Add, WEAK, Order::Relaxed, place).is_none() {
            self.has_changed();
        }
    }

    /// There is one weak reference less.
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

    /// There is one strong reference less; if it `is_last`, gives how that is dropped.
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
            // If the others are known to have gone before, it is the last in any order.
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

    /// Refuses an `Arc` that was made outside of the execution, whose counts are not searched.
    fn refuse_captured(self, place: &'static Location<'static>) {
        if current(|execution| execution.generation.get() != self.generation).unwrap_or(false) {
            refuse_captured(place);
        }
        if is_active() {
            current(Execution::note_operation);
        }
    }

    /// Runs `f`, which lets go of a reference. If that frees the memory, the free comes after all that was done through
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
                // What the thread does with the memory from here on is not ordered by this.
                execution.close_blocks(thread);
            }
        });
        result
    }

    /// What the thread that runs does next depends on how many references there are.
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

    /// Somebody looks how many references there are; gives strong and weak ones if they are in the open.
    pub(super) fn count(self, order: Order, place: &'static Location<'static>) -> Option<(usize, usize)> {
        let Some(at) = self.cell().filter(|_| is_active()) else {
            self.note_counted(place);
            return None;
        };
        let counts = perform(What::Load { at, order }, place);
        Some(((counts & STRONG) as usize, (counts / WEAK) as usize))
    }

    /// Somebody wants the last strong reference; gives whether it is, if that is in the open.
    pub(super) fn take_last(self, place: &'static Location<'static>) -> Option<bool> {
        if self.cell().is_none() || !is_active() {
            self.count(Order::Acquire, place);
            return None;
        }
        let old = self.change(Function::SubIf { low: STRONG, value: 1 }, 1, Order::AcqRel, place)?;
        Some(old & STRONG == 1)
    }

    /// Somebody makes a weak reference strong; gives whether that is possible, if it is in the open.
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

    /// A weak reference could not be made strong although the counts say so.
    pub(super) fn not_upgraded(self, place: &'static Location<'static>) {
        self.change(Function::Sub, 1, Order::Relaxed, place);
    }

    /// A weak reference was made strong.
    pub(super) fn upgraded(self) {
        note_taken(self.index + 1, 1);
    }

    /// Ends the thread that runs if it uses a reference, at `place`, although the last one was dropped.
    pub(super) fn refuse_ended(self, kind: FaultKind, place: &'static Location<'static>) {
        let fault = self.searched(|execution, _, counts| {
            let (made, ended) = counts.told?;
            execution.told_fault(kind, place, counts.address, 0, (made, ended?))
        });
        if let Some(fault) = fault.flatten() {
            fail(Complaint::Memory(Box::new(fault)), place);
        }
    }

    /// The last strong reference is dropped.
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
