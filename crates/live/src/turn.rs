//! What a thread does between two hints that it waits.

use std::panic::Location;

use teetotal_program::Value;

use crate::request::{Cell, Until, What};
use crate::runtime::{current, perform, running};

/// What a turn accessed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    accesses: Vec<Seen>,
}

/// A cell that a turn accessed: what was in it at first and is now, what the turn read last, and whether it wrote.
#[derive(Clone, Copy, Debug)]
struct Seen {
    cell: Cell,
    first: Value,
    now: Value,
    read: Option<Value>,
    is_written: bool,
}

/// Takes note that the thread that runs read `value`.
pub(crate) fn note_read(cell: Cell, value: Value) {
    note(|turn| {
        let seen = turn.seen(cell, value);
        seen.read = Some(value);
        seen.now = value;
    });
}

/// Takes note that the thread that runs wrote `new` over `old`.
pub(crate) fn note_update(cell: Cell, old: Value, new: Value) {
    note(|turn| {
        let seen = turn.seen(cell, old);
        // Writing again what was there is a read for whoever waits.
        seen.read = if new == old { Some(old) } else { seen.read };
        seen.now = new;
        seen.is_written |= new != old;
    });
}

impl Turn {
    fn seen(&mut self, cell: Cell, value: Value) -> &mut Seen {
        let known = self.accesses.iter().position(|seen| seen.cell.key == cell.key);
        let index = known.unwrap_or_else(|| {
            self.accesses.push(Seen { cell, first: value, now: value, read: None, is_written: false });
            self.accesses.len() - 1
        });
        &mut self.accesses[index]
    }

    /// The reads of a turn that left everything as it was, by whatever way.
    fn reads(&self) -> Vec<(Cell, Value)> {
        if self.accesses.iter().any(|seen| seen.is_written && seen.now != seen.first) {
            return Vec::new();
        }
        self.accesses.iter().filter_map(|seen| Some((seen.cell, seen.read?))).collect()
    }
}

fn note(f: impl FnOnce(&mut Turn)) {
    current(|execution| {
        let Some(thread) = running() else { return };
        let mut turns = execution.turns.borrow_mut();
        if turns.len() <= thread.index() {
            turns.resize_with(thread.index() + 1, Turn::default);
        }
        f(&mut turns[thread.index()]);
    });
}

/// The thread that runs says that it waits: it goes on when something that its turn read is different.
///
/// A turn that read nothing or changed something was not in vain, and nothing is waited for. Where it was found that a
/// thread would wait for good, it may also go on once nobody else can.
pub(crate) fn hint(place: &'static Location<'static>) {
    let mut turn = Turn::default();
    note(|own| turn = std::mem::take(own));
    let reads = turn.reads();
    if reads.is_empty() {
        return;
    }
    let n_reads = reads.len() as u32;
    let is_open = current(|execution| execution.is_open(hint_name(place))).unwrap_or(false);
    let which = match n_reads + u32::from(is_open) {
        1 => 0,
        alternatives => perform(What::Choose { alternatives }, place) as usize,
    };
    match reads.get(which) {
        Some(&(cell, value)) => {
            perform(What::Await { at: cell, until: Until::Not(value), timed: is_open, is_hint: true }, place);
        }
        None => {
            perform(What::Rest, place);
        }
    }
}

/// What a hint is called in the ledger.
pub(crate) fn hint_name(place: &'static Location<'static>) -> usize {
    std::ptr::from_ref(place) as usize
}
