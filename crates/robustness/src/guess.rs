//! One store that is guessed to wait in its buffer, and what an execution of sequential consistency says of it.
//!
//! Everything that the monitor of robustness asks of a store is a matter of yes and no once the store is fixed: who is
//! after it in happens-before, and which stores are after it in the order of moments by a way of stores alone. So a
//! guess is a few bits for each thread and location. It is given up when something needs the store to be in memory.

use teetotal_judge::monitors::robustness::Waits;
use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::{Loc, OnFailure, Op, Order, Subject, ThreadId, Value};

/// The newest event of the thread comes after the store in happens-before.
const AFTER: u8 = 1;
/// A store of the thread reaches memory after the store, or is it.
const STORED: u8 = 2;
/// The same for one before the newest barrier.
const BARRED: u8 = 4;
/// The thread wrote the location of the store after it.
const WROTE: u8 = 8;
/// The thread waits until its buffer is empty.
const DRAINS: u8 = 16;

/// The newest write of the location comes after the store in happens-before, and some access does.
const WRITE_AFTER: u8 = 1;
const ACCESS_AFTER: u8 = 2;
/// The newest write of the location is a store that reaches memory after the store, or is it.
const PENDING: u8 = 4;

/// A store that waits in its buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Guess {
    pub(super) thread: ThreadId,
    /// Where the store stands in the code.
    pub(super) place: u32,
    pub(super) loc: Loc,
    /// What the location held before.
    old: Value,
    /// Whether a thread wrote the location after the store.
    overwritten: bool,
    threads: Vec<u8>,
    locations: Vec<u8>,
    /// Who wrote the newest write, for locations where that is pending.
    writers: Vec<ThreadId>,
}

impl Guess {
    /// That `store`, which was just performed, waits; its location held `old` before.
    pub(super) fn new(store: &Event, old: Value, n_threads: usize, n_locations: usize) -> Option<Guess> {
        let loc = store.loc?;
        let mut guess = Guess {
            thread: store.thread,
            place: store.place,
            loc,
            old,
            overwritten: false,
            threads: vec![0; n_threads],
            locations: vec![0; n_locations],
            writers: vec![ThreadId(0); n_locations],
        };
        guess.threads[store.thread.index()] = AFTER | STORED;
        guess.locations[loc.index()] = WRITE_AFTER | ACCESS_AFTER | PENDING;
        guess.writers[loc.index()] = store.thread;
        if store.order == Order::SeqCst {
            guess.threads[store.thread.index()] |= DRAINS;
        }
        Some(guess)
    }

    /// As bytes; equal guesses have equal bytes.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.thread.0.to_le_bytes());
        out.extend_from_slice(&self.place.to_le_bytes());
        out.extend_from_slice(&self.loc.0.to_le_bytes());
        out.extend_from_slice(&self.old.to_le_bytes());
        out.push(u8::from(self.overwritten));
        out.extend_from_slice(&self.threads);
        out.extend_from_slice(&self.locations);
        self.writers.iter().for_each(|writer| out.extend_from_slice(&writer.0.to_le_bytes()));
    }

    fn is(&self, thread: ThreadId, flag: u8) -> bool {
        self.threads[thread.index()] & flag != 0
    }

    /// Whether what waits for `waits` in `thread` needs the store in memory.
    fn forces(&self, thread: ThreadId, waits: Waits) -> bool {
        match waits {
            Waits::Nothing => false,
            Waits::Barrier => self.is(thread, BARRED),
            Waits::Everything => self.is(thread, STORED),
        }
    }

    /// Whether the operation at which `thread` stands can go before the store although it comes after it.
    pub(super) fn is_overtaken_by(&self, model: ModelId, subject: &impl Subject, thread: ThreadId, op: Op) -> bool {
        let may_try = thread != self.thread && self.is(thread, AFTER) && !self.is(thread, WROTE);
        if !may_try || self.is(thread, DRAINS) {
            return false;
        }
        // What can go before a write can go before the last one, unless the value decides whether it can go at all.
        let depends_on_value =
            matches!(op, Op::Await { .. } | Op::Lock { .. } | Op::Rmw { on_failure: OnFailure::Load(_), .. });
        if self.overwritten && !depends_on_value {
            return false;
        }
        let update = |loc: Loc, order| (loc, Waits::of_kind(model, EventKind::Rmw, order));
        let (loc, waits) = match op {
            Op::Load { loc, .. } => (loc, Waits::Nothing),
            Op::Store { loc, order, .. } => (loc, Waits::of_kind(model, EventKind::Store, order)),
            Op::Rmw { loc, order, on_failure } => match (subject.modify(thread, self.old), on_failure) {
                (None, OnFailure::Load(_)) if model.rules().failure_is_load => (loc, Waits::Nothing),
                _ => update(loc, order),
            },
            Op::Lock { loc, order } if self.old == 0 => update(loc, order),
            Op::Unlock { loc, order } => update(loc, order),
            Op::Await { .. } => {
                let mut locations = Vec::new();
                subject.awaited(thread, &mut locations);
                match locations.as_slice() {
                    [loc] if subject.accepts(thread, &[self.old], 0) => (*loc, Waits::Nothing),
                    _ => return false,
                }
            }
            _ => return false,
        };
        loc == self.loc && !self.forces(thread, waits)
    }

    /// Takes in the next event; gives whether the store can still wait after it.
    pub(super) fn perform(&mut self, model: ModelId, event: &Event) -> bool {
        let thread = event.thread;
        let waits = Waits::of(model, event);
        if self.is(thread, DRAINS) || (!event.is_store() && self.forces(thread, waits)) {
            return false;
        }
        if let EventKind::Join(child) = event.kind
            && self.is(child, STORED)
        {
            return false;
        }
        if let Some(loc) = event.loc {
            let index = loc.index();
            let forwards = self.writers[index] == thread && waits == Waits::Nothing;
            if !event.is_store() && self.locations[index] & PENDING != 0 && (event.is_write() || !forwards) {
                return false;
            }
            self.order(event, index);
            if event.is_store() {
                self.store(event, waits, index);
            }
        }
        self.fork(event);
        let is_marker = event.kind == EventKind::Fence && matches!(event.order, Order::Release | Order::AcqRel);
        if is_marker && self.is(thread, STORED) {
            self.threads[thread.index()] |= BARRED;
        }
        true
    }

    /// Happens-before through an access.
    fn order(&mut self, event: &Event, loc: usize) {
        let needed = if event.is_write() { ACCESS_AFTER } else { WRITE_AFTER };
        if self.locations[loc] & needed != 0 {
            self.threads[event.thread.index()] |= AFTER;
        }
        if self.is(event.thread, AFTER) {
            self.locations[loc] |= ACCESS_AFTER | if event.is_write() { WRITE_AFTER } else { 0 };
        }
    }

    fn store(&mut self, event: &Event, waits: Waits, loc: usize) {
        let thread = event.thread.index();
        let pending = self.locations[loc] & PENDING != 0 || self.forces(event.thread, waits);
        if pending {
            self.locations[loc] |= PENDING;
            self.writers[loc] = event.thread;
            self.threads[thread] |= STORED;
        }
        if Some(self.loc) == event.loc {
            self.threads[thread] |= WROTE;
            self.overwritten = true;
        }
        if event.order == Order::SeqCst && self.is(event.thread, STORED) {
            self.threads[thread] |= DRAINS;
        }
    }

    fn fork(&mut self, event: &Event) {
        match event.kind {
            EventKind::Spawn(child) if self.is(event.thread, AFTER) => self.threads[child.index()] |= AFTER,
            EventKind::Join(child) if self.is(child, AFTER) => self.threads[event.thread.index()] |= AFTER,
            _ => {}
        }
    }
}
