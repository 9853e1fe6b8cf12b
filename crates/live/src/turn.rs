//! What a thread does between two hints that it waits.

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
    note(|turn| match turn.reads.iter_mut().find(|(known, _)| known.address == cell.address) {
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
/// A turn that read nothing or changed something was not in vain, and nothing is waited for.
pub(crate) fn hint(place: &'static std::panic::Location<'static>) {
    let mut turn = Turn::default();
    note(|own| turn = std::mem::take(own));
    if turn.changed || turn.reads.is_empty() {
        return;
    }
    let which = match turn.reads.len() {
        1 => 0,
        several => perform(What::Choose { alternatives: several as u32 }, place) as usize,
    };
    let (cell, value) = turn.reads[which];
    perform(What::Await { at: cell, until: Until::Not(value) }, place);
}
