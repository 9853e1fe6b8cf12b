//! The rules by which the order grows and writers fall away, until nothing more follows.
//!
//! `r` reads from `w` in memory or, where `w` is a store of its own thread, in the buffer. With `own` the newest write
//! of its thread to the location before it:
//! 1. `w` is out of the question if `r` must come before it and it is not the thread's own; if it must come before `own`;
//!    or if some other write must come between `w` and `r`.
//! 2. Once `w` is the only one left: it comes before `r`, unless it is the thread's own; `own` comes before it or is it;
//!    a write that comes after `w` comes after `r`; and one that comes before `r` comes before `w`.
//! 3. While several are left: what comes before all of them comes before `r`, unless one is the thread's own or the first
//!    value; and a write that comes after all of them comes after `r`.

use super::candidates::{Open, Part, Writer};
use super::layout::{Layout, Read};
use crate::axiomatic::PartialOrder;

/// Applies the rules until nothing changes; gives whether nothing is contradicted.
pub(super) fn close(layout: &Layout<'_>, part: &Part, open: &mut Open) -> bool {
    let mut found = Vec::new();
    loop {
        let mut changes = false;
        for index in 0..open.reads.len() {
            let read = &layout.reads[open.reads[index].read];
            let (order, writers) = (&open.order, &mut open.reads[index].writers);
            let writes = &part.writes[read.loc.index()];
            let before = writers.len();
            writers.retain(|&writer| may_read(layout, order, writes, read, writer));
            changes |= writers.len() < before;
            found.clear();
            match writers[..] {
                [] => return false,
                [writer] => follows(layout, order, writes, read, writer, &mut found),
                _ => follows_from_all(layout, order, writes, read, writers, &mut found),
            }
            for &(first, second) in &found {
                changes = true;
                if !open.order.add(first, second) {
                    return false;
                }
            }
        }
        if !changes {
            return true;
        }
    }
}

/// Whether the order does not forbid that `read` takes its value from `writer`.
fn may_read(layout: &Layout<'_>, order: &PartialOrder, writes: &[u64], read: &Read, writer: Writer) -> bool {
    let between = |after: Option<&[u64]>| {
        let before = order.before(read.moment).iter().zip(writes);
        let mut words = before
            .enumerate()
            .map(|(word, (before, writes))| before & writes & after.map_or(u64::MAX, |after| after[word]));
        words.any(|word| word != 0)
    };
    match writer {
        None => read.own.is_none() && !between(None),
        Some(moment) => {
            let is_late = order.precedes(read.moment, moment) && !layout.is_own(moment, read);
            let is_hidden = read.own.is_some_and(|own| own != moment && order.precedes(moment, own));
            !is_late && !is_hidden && !between(Some(order.after(moment)))
        }
    }
}

/// Puts into `found` what must come before what, and does not yet, because `read` takes its value from `writer`.
fn follows(
    layout: &Layout<'_>,
    order: &PartialOrder,
    writes: &[u64],
    read: &Read,
    writer: Writer,
    found: &mut Vec<(usize, usize)>,
) {
    let late = |word: usize| match writer {
        None => writes[word],
        Some(moment) => writes[word] & order.after(moment)[word],
    };
    for word in 0..writes.len() {
        let of_read = if read.moment / 64 == word { 1 << (read.moment % 64) } else { 0 };
        each_bit(word, late(word) & !order.after(read.moment)[word] & !of_read, |other| {
            found.push((read.moment, other));
        });
    }
    let Some(moment) = writer else { return };
    if !layout.is_own(moment, read) && !order.precedes(moment, read.moment) {
        found.push((moment, read.moment));
    }
    if let Some(own) = read.own.filter(|&own| own != moment && !order.precedes(own, moment)) {
        found.push((own, moment));
    }
    for (word, writes) in writes.iter().enumerate() {
        let of_writer = if moment / 64 == word { 1 << (moment % 64) } else { 0 };
        let early = order.before(read.moment)[word] & writes;
        each_bit(word, early & !order.before(moment)[word] & !of_writer, |other| found.push((other, moment)));
    }
}

/// The same for what follows whichever of several writers it is.
fn follows_from_all(
    layout: &Layout<'_>,
    order: &PartialOrder,
    writes: &[u64],
    read: &Read,
    writers: &[Writer],
    found: &mut Vec<(usize, usize)>,
) {
    let foreign = |writer: &Writer| writer.is_some_and(|moment| !layout.is_own(moment, read));
    let are_foreign = writers.iter().all(foreign);
    for (word, &writes) in writes.iter().enumerate() {
        let of_read = if read.moment / 64 == word { 1 << (read.moment % 64) } else { 0 };
        let (mut early, mut late) = (u64::MAX, writes);
        for &writer in writers {
            late &= writer.map_or(u64::MAX, |moment| order.after(moment)[word]);
            early &= writer.map_or(0, |moment| order.before(moment)[word]);
        }
        each_bit(word, late & !order.after(read.moment)[word] & !of_read, |other| found.push((read.moment, other)));
        if are_foreign {
            each_bit(word, early & !order.before(read.moment)[word] & !of_read, |other| {
                found.push((other, read.moment));
            });
        }
    }
}

fn each_bit(word: usize, mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(64 * word + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
