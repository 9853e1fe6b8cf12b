//! A line of our own format: `thread operation operands ordering @ place`.

use teetotal_memory::{Event, EventKind};
use teetotal_program::{Loc, Order, ThreadId};

use super::reader::{Item, event};
use super::registry::shown;
use super::state::{State, Wrong};
use super::words::{Words, number};

/// What each ordering is called.
pub(super) const ORDERS: [(&str, Order); 6] = [
    ("plain", Order::Plain),
    ("relaxed", Order::Relaxed),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq-rel", Order::AcqRel),
    ("seq-cst", Order::SeqCst),
];

/// Reads a line that is not the first; also gives where its place begins.
pub(super) fn read(line: &[u8], state: &mut State, at: u64) -> Result<(Item, usize), Wrong> {
    let (text, place) = match line.windows(3).position(|three| three == b" @ ") {
        Some(mark) => (&line[..mark], mark + 3),
        None => (line, line.len()),
    };
    let mut words = Words::new(text);
    let first = words.next().unwrap_or_default();
    let item = match first {
        b"threads" => {
            for name in words {
                state.declare(name)?;
            }
            Item::Threads
        }
        b"initial" => {
            let mut operands = Operands { words, what: "initial" };
            let (loc, value) = (state.location(operands.word("a location")?), operands.value()?);
            operands.end()?;
            state.holds(loc, value)?;
            Item::Nothing
        }
        thread => {
            let thread = state.acts(thread)?;
            let operation = words.next().ok_or_else(|| ("an operation is missing".to_owned(), None))?;
            perform(thread, operation, words, state, at)?
        }
    };
    Ok((item, place))
}

/// What is left of a line after its operation.
struct Operands<'l> {
    words: Words<'l>,
    /// The operation, for those who have to be told.
    what: &'static str,
}

impl<'l> Operands<'l> {
    fn word(&mut self, wanted: &str) -> Result<&'l [u8], Wrong> {
        self.words.next().ok_or_else(|| (format!("`{}` needs {wanted}", self.what), None))
    }

    fn value(&mut self) -> Result<u64, Wrong> {
        let word = self.word("a value")?;
        number(word).ok_or_else(|| (format!("`{}` is not a value from 0 to {}", shown(word), u64::MAX), None))
    }

    /// The ordering, which may be left out, and then the end.
    fn order(&mut self, default: Order) -> Result<Order, Wrong> {
        let Some(word) = self.words.next() else { return Ok(default) };
        let known = ORDERS.iter().find(|(name, _)| name.as_bytes() == word);
        let help = "the orderings are plain, relaxed, acquire, release, acq-rel and seq-cst";
        let (_, order) = known.ok_or_else(|| (format!("`{}` is not an ordering", shown(word)), Some(help)))?;
        self.end()?;
        Ok(*order)
    }

    fn end(&mut self) -> Result<(), Wrong> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err((format!("unexpected `{}` after `{}`", shown(word), self.what), None)),
        }
    }
}

/// What the operations are called, and what they are.
#[derive(Clone, Copy)]
enum Operation {
    /// Reads a value; whether it may wait for it.
    Load(bool),
    /// Writes a value: a store, or giving a lock back.
    Write(EventKind),
    /// Reads one value and writes another; whether it is a load where it fails.
    Rmw(EventKind, bool),
    Failed(bool),
    Fence(EventKind),
    Spawn,
    Join,
    Choose,
    /// Is blocked forever at one of the others.
    Waits,
}

const OPERATIONS: [(&str, Operation); 15] = [
    ("load", Operation::Load(false)),
    ("store", Operation::Write(EventKind::Store)),
    ("await", Operation::Load(true)),
    ("rmw", Operation::Rmw(EventKind::Rmw, false)),
    ("cas", Operation::Rmw(EventKind::Rmw, true)),
    ("rmw-failed", Operation::Failed(false)),
    ("cas-failed", Operation::Failed(true)),
    ("lock", Operation::Rmw(EventKind::Lock, false)),
    ("unlock", Operation::Write(EventKind::Unlock)),
    ("fence", Operation::Fence(EventKind::Fence)),
    ("global-fence", Operation::Fence(EventKind::GlobalFence)),
    ("spawn", Operation::Spawn),
    ("join", Operation::Join),
    ("choose", Operation::Choose),
    ("waits", Operation::Waits),
];

fn perform(thread: ThreadId, operation: &[u8], words: Words<'_>, state: &mut State, at: u64) -> Result<Item, Wrong> {
    let known = OPERATIONS.iter().find(|(name, _)| name.as_bytes() == operation);
    let help = "`docs/guide/traces.md` lists the operations";
    let &(what, operation) =
        known.ok_or_else(|| (format!("there is no operation `{}`", shown(operation)), Some(help)))?;
    let mut operands = Operands { words, what };
    let mut may_wait = false;
    let done = match operation {
        Operation::Load(waits) => {
            may_wait = waits;
            let (loc, value) = read_value(&mut operands, state)?;
            let order = operands.order(Order::Relaxed)?;
            Event { loc: Some(loc), read: Some(value), ..event(thread, EventKind::Load, order) }
        }
        Operation::Write(kind) => {
            let (loc, value) = (state.location(operands.word("a location")?), operands.value()?);
            let order = operands.order(if kind == EventKind::Store { Order::Relaxed } else { Order::SeqCst })?;
            state.writes(loc, value, at);
            Event { loc: Some(loc), written: Some(value), ..event(thread, kind, order) }
        }
        Operation::Rmw(kind, fails_as_load) => {
            may_wait = kind == EventKind::Lock || fails_as_load;
            let (loc, old) = read_value(&mut operands, state)?;
            let new = operands.value()?;
            let order = operands.order(Order::SeqCst)?;
            state.writes(loc, new, at);
            let base = event(thread, kind, order);
            Event { loc: Some(loc), read: Some(old), written: Some(new), fails_as_load, ..base }
        }
        Operation::Failed(fails_as_load) => {
            may_wait = true;
            let (loc, value) = read_value(&mut operands, state)?;
            let order = operands.order(Order::SeqCst)?;
            Event { loc: Some(loc), read: Some(value), fails_as_load, ..event(thread, EventKind::FailedRmw, order) }
        }
        Operation::Fence(kind) => event(thread, kind, operands.order(Order::SeqCst)?),
        Operation::Spawn => {
            let other = operands.word("a thread")?;
            let order = operands.order(Order::SeqCst)?;
            event(thread, EventKind::Spawn(state.spawns(other)?), order)
        }
        Operation::Join => {
            let other = operands.word("a thread")?;
            let order = operands.order(Order::SeqCst)?;
            event(thread, EventKind::Join(state.joins(other)?), order)
        }
        Operation::Choose => {
            let taken = operands.value()?;
            operands.end()?;
            Event { read: Some(taken), ..event(thread, EventKind::Choose, Order::Relaxed) }
        }
        Operation::Waits => return waits(thread, operands, state),
    };
    Ok(Item::Event { event: done, may_wait })
}

fn read_value(operands: &mut Operands<'_>, state: &mut State) -> Result<(Loc, u64), Wrong> {
    let (loc, value) = (state.location(operands.word("a location")?), operands.value()?);
    state.reads(loc, value)?;
    Ok((loc, value))
}

/// `thread waits await location` or `thread waits lock location ordering`.
fn waits(thread: ThreadId, mut operands: Operands<'_>, state: &mut State) -> Result<Item, Wrong> {
    let kind = match operands.word("`await` or `lock`")? {
        b"await" => EventKind::Load,
        b"lock" => EventKind::Lock,
        other => return Err((format!("no thread can be blocked at `{}`", shown(other)), None)),
    };
    let loc = state.location(operands.word("a location")?);
    Ok(Item::Waits { thread, loc, kind, order: operands.order(Order::SeqCst)? })
}
