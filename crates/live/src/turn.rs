//! What a thread does between two hints that it waits.

use std::panic::Location;

use teetotal_program::{ThreadId, Value};

use crate::identity::Key;
use crate::request::{Cell, Matter, Until, What};
use crate::runtime::{Execution, current, perform, running};

/// So often in a row a thread goes on because nobody else can, and reads all the same.
///
/// It may count, and give up at last.
const MOST_RESTS: u32 = 30;

/// What a turn accessed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    accesses: Vec<Seen>,
    /// What the last turn read, when the thread said that it waits.
    looked_at: Vec<(Key, Value)>,
    /// Whether something in it went wrong for no reason, so that to try again is not in vain.
    is_spurious: bool,
    /// Whether it waits for something that it has chosen; in another execution it waits for something else, or goes on
    /// when nobody else can.
    has_chosen: bool,
    /// How many turns in a row before this one went on because nobody else could, and read all the same.
    n_rests: u32,
    /// How many turns in a row were in vain, with the one that has just ended, for whoever wants to know.
    pub(crate) in_vain: u32,
    /// How many turns in a row before this one changed something, and where they ended.
    n_changes: u32,
    place: Option<&'static Location<'static>>,
    /// How many waits in a row ended because the time was over, and where.
    n_time_outs: u32,
    timed: Option<&'static Location<'static>>,
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

/// Something in the turn of the thread that runs went wrong for no reason.
pub(crate) fn forget_turn() {
    note(|turn| turn.is_spurious = true);
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
        if self.is_spurious || self.accesses.iter().any(|seen| seen.is_written && seen.now != seen.first) {
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
/// A turn that read nothing or changed something was not in vain, and nothing is waited for; but who does that again and
/// again goes on only when nobody else can, since otherwise it might do so without end. Where it was found that a thread
/// would wait for good, it may also go on once nobody else can.
pub(crate) fn hint(place: &'static Location<'static>) {
    let mut turn = Turn::default();
    let mut is_idle = false;
    note(|own| {
        is_idle = own.accesses.is_empty() && !own.is_spurious;
        if is_idle {
            return;
        }
        turn = std::mem::take(own);
        (own.n_time_outs, own.timed) = (turn.n_time_outs, turn.timed);
    });
    // To say so several times is to say it once: what was in vain before that stays so.
    if is_idle {
        return;
    }
    let reads = turn.reads();
    if reads.is_empty() {
        // Only who comes to the same place again is in a loop.
        let is_again = turn.place.is_some_and(|last| std::ptr::eq(last, place)) && !turn.accesses.is_empty();
        let n_changes = if is_again { turn.n_changes + 1 } else { 0 };
        note(|own| (own.n_changes, own.place) = (n_changes, Some(place)));
        let most = current(|execution| execution.changes_in_a_row).unwrap_or(u32::MAX);
        if n_changes > most {
            leave_out_turns();
            perform(What::Rest { before: n_changes }, place);
        }
        return;
    }
    let looked_at: Vec<_> = reads.iter().map(|(cell, value)| (cell.key, *value)).collect();
    let is_vain = turn.n_rests > 0 && turn.looked_at == looked_at;
    let in_vain = if is_vain { turn.in_vain + 1 } else { 0 };
    note(|own| (own.looked_at, own.in_vain) = (looked_at, in_vain));
    if is_vain {
        return rest_again(turn.n_rests, reads[0], place);
    }
    let n_reads = reads.len() as u32;
    let is_open = current(|execution| execution.is_open(hint_name(place))).unwrap_or(false);
    let which = match n_reads + u32::from(is_open) {
        1 => 0,
        alternatives => perform(What::Choose { alternatives, matter: Matter::Wait }, place) as usize,
    };
    match reads.get(which) {
        Some(&read) => wait_for(read, is_open, place),
        None => rest(0, place),
    }
}

/// Whether the time is over for which the thread that runs waits at `place`; it may be at any time.
pub(crate) fn is_time_over(place: &'static Location<'static>) -> bool {
    let is_over = perform(What::Choose { alternatives: 2, matter: Matter::TimeOut }, place) == 1;
    note_timed_wait(is_over, place);
    is_over
}

/// Takes note of how a wait of the thread that runs has ended.
///
/// For who waits at `place` again and again, the time is over only when nobody else can go on: otherwise that might go on
/// without end.
pub(crate) fn note_timed_wait(is_over: bool, place: &'static Location<'static>) {
    let mut n_time_outs = 0;
    note(|own| {
        let is_again = is_over && own.timed.is_some_and(|last| std::ptr::eq(last, place));
        own.n_time_outs = if is_again { own.n_time_outs + 1 } else { 0 };
        own.timed = is_over.then_some(place);
        n_time_outs = own.n_time_outs;
    });
    let most = current(|execution| execution.changes_in_a_row).unwrap_or(u32::MAX);
    if n_time_outs > most {
        leave_out_turns();
        perform(What::Rest { before: n_time_outs }, place);
    }
}

fn wait_for((at, value): (Cell, Value), is_open: bool, place: &'static Location<'static>) {
    note(|own| own.has_chosen = true);
    perform(What::Await { at, until: Until::Not(value), timed: is_open, is_hint: true }, place);
    note(|own| own.has_chosen = false);
}

/// Goes on when nobody else can; so it was `before`, and nobody else can go on still.
///
/// Who would do so without end while another has only chosen what to wait for is in an execution that leads nowhere.
fn rest_again(before: u32, read: (Cell, Value), place: &'static Location<'static>) {
    let leads_nowhere = || current(|execution| execution.turns.borrow().iter().any(|turn| turn.has_chosen));
    if before >= MOST_RESTS && leads_nowhere() == Some(true) {
        leave_out_turns();
        wait_for(read, true, place);
    } else {
        rest(before, place);
    }
}

fn rest(before: u32, place: &'static Location<'static>) {
    perform(What::Rest { before }, place);
    note(|own| own.n_rests = before + 1);
}

/// Says that there are executions in which a thread goes round once more.
fn leave_out_turns() {
    current(|execution| (!execution.is_over.get()).then(|| execution.ledger.leave_out_turns()));
}

impl Execution {
    /// What `thread` read in the turn after which it said that it waits.
    pub(crate) fn looked_at(&self, thread: ThreadId) -> Vec<(Key, Value)> {
        self.turns.borrow().get(thread.index()).map_or_else(Vec::new, |turn| turn.looked_at.clone())
    }
}

/// What a hint is called in the ledger.
pub(crate) fn hint_name(place: &'static Location<'static>) -> usize {
    std::ptr::from_ref(place) as usize
}
