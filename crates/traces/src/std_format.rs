//! A line of the format std: `thread|operation(location)|place`.

use teetotal_memory::{Event, EventKind};
use teetotal_program::Order;

use super::reader::{Item, event};
use super::state::{State, Wrong};

/// Reads a line; also gives where its place begins.
#[inline]
pub(super) fn read(line: &[u8], state: &mut State, number: u64) -> Result<(Item, usize), Wrong> {
    let malformed = || ("not of the form `thread|operation(location)|place`".to_owned(), None);
    let bar = line.iter().position(|&byte| byte == b'|').ok_or_else(malformed)?;
    let open = bar + 1 + line[bar + 1..].iter().position(|&byte| byte == b'(').ok_or_else(malformed)?;
    let close = open + 1 + line[open + 1..].iter().position(|&byte| byte == b')').ok_or_else(malformed)?;
    let (thread, operation, operand) = (&line[..bar], &line[bar + 1..open], &line[open + 1..close]);
    // The place may be left out.
    let place = match line.get(close + 1) {
        None => close + 1,
        Some(b'|') => close + 2,
        Some(_) => return Err(malformed()),
    };
    if thread.is_empty() || operand.is_empty() {
        return Err(malformed());
    }
    let thread = state.acts_or_appears(thread)?;
    let plain =
        |kind, loc, written: Option<u64>| Event { loc: Some(loc), written, ..event(thread, kind, Order::Relaxed) };
    let event = match operation {
        b"r" => plain(EventKind::Load, state.location(operand), None),
        b"w" => {
            let loc = state.location(operand);
            state.writes(loc, 0, number);
            plain(EventKind::Store, loc, Some(0))
        }
        b"acq" => {
            let loc = state.lock(operand);
            if !state.acquires(thread, loc)? {
                return Ok((Item::Nothing, place));
            }
            Event { loc: Some(loc), written: Some(1), ..event(thread, EventKind::Lock, Order::SeqCst) }
        }
        b"rel" => {
            let loc = state.lock(operand);
            if !state.releases(thread, loc)? {
                return Ok((Item::Nothing, place));
            }
            Event { loc: Some(loc), written: Some(0), ..event(thread, EventKind::Unlock, Order::SeqCst) }
        }
        b"fork" => event(thread, EventKind::Spawn(state.spawns(operand)?), Order::SeqCst),
        b"join" => event(thread, EventKind::Join(state.joins(operand)?), Order::SeqCst),
        // Where transactions begin and end is of no interest here.
        b"begin" | b"end" => return Ok((Item::Nothing, place)),
        _ => {
            let what = super::registry::shown(operation);
            let help = "the operations are r, w, acq, rel, fork, join, begin and end";
            return Err((format!("there is no operation `{what}`"), Some(help)));
        }
    };
    Ok((Item::Event { event, may_wait: false }, place))
}
