//! What a thread does between two hints that it waits.

use std::panic::Location;

use teetotal_program::Value;

use crate::request::{Cell, Until, What};
use crate::runtime::{current, perform, running};

/// The reads of a turn, and whether it changed something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    reads: Vec<(Cell, Value)>,
    changed: bool,
}

/// Takes note of a read by the thread that runs.
pub(crate) fn note_read(cell: Cell, value: Value) {
    note(|turn| match turn.reads.iter_mut().find(|(known, _)| known.key == cell.key) {
        Some(known) => known.1 = value,
        None => turn.reads.push((cell, value)),
    });
}

/// Takes note that the thread that runs changed something.
pub(crate) fn note_change() {
    note(|turn| turn.changed = true);
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
    if turn.changed || turn.reads.is_empty() {
        return;
    }
    let n_reads = turn.reads.len() as u32;
    let is_open = current(|execution| execution.is_open(hint_name(place))).unwrap_or(false);
    let which = match n_reads + u32::from(is_open) {
        1 => 0,
        alternatives => perform(What::Choose { alternatives }, place) as usize,
    };
    match turn.reads.get(which) {
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
