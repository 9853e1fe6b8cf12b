//! Writes an execution of sequential consistency as a trace.

use std::collections::BTreeSet;
use std::io::{self, Write};

use teetotal_memory::{Event, EventKind, Trace};
use teetotal_program::{Loc, Order, ThreadId, Value};

use super::own::ORDERS;
use super::{Format, HEADER};

/// What things are called.
pub trait Naming {
    fn thread(&self, thread: ThreadId) -> String;

    fn location(&self, loc: Loc) -> String;

    /// What `loc` holds from the beginning.
    fn initial(&self, loc: Loc) -> Value;

    /// Where `event` stands in the source.
    fn place(&self, event: &Event) -> Option<String>;

    /// Whether `event`, a load, would have waited for another value.
    fn waits(&self, event: &Event) -> bool;
}

/// A thread that is blocked forever, at an await or a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    pub thread: ThreadId,
    pub loc: Loc,
    /// A load or a lock.
    pub kind: EventKind,
    pub order: Order,
    /// Where in the source.
    pub place: Option<String>,
}

/// Writes `trace`, of which `roots` are the threads that no thread starts.
///
/// Each step of it performs one event. The format std leaves out what it has no words for: see the guide.
pub fn write(
    out: &mut dyn Write,
    format: Format,
    trace: &Trace,
    roots: &[ThreadId],
    waiting: &[Waiting],
    naming: &dyn Naming,
) -> io::Result<()> {
    let spawned = trace.events().iter().filter_map(|event| match event.kind {
        EventKind::Spawn(thread) => Some(thread.index() + 1),
        _ => None,
    });
    let known = roots.iter().map(|thread| thread.index() + 1).chain(spawned).max().unwrap_or(0);
    let threads = (0..known.max(trace.n_threads())).map(|index| naming.thread(ThreadId::at(index)));
    let waited_for = waiting.iter().map(|waiting| waiting.loc.index() + 1).max().unwrap_or(0);
    let locations = (0..waited_for.max(trace.n_locations())).map(|index| naming.location(Loc::at(index)));
    let text = Text { trace, naming, threads: distinct(threads), locations: distinct(locations) };
    match format {
        Format::Own => text.own(out, roots, waiting),
        Format::Std => trace.events().iter().try_for_each(|event| text.event_in_std(out, event)),
    }
}

struct Text<'t> {
    trace: &'t Trace,
    naming: &'t dyn Naming,
    threads: Vec<String>,
    locations: Vec<String>,
}

impl Text<'_> {
    fn own(&self, out: &mut dyn Write, roots: &[ThreadId], waiting: &[Waiting]) -> io::Result<()> {
        writeln!(out, "{HEADER}")?;
        let names: Vec<&str> = roots.iter().map(|&thread| self.thread(thread)).collect();
        writeln!(out, "threads {}", names.join(" "))?;
        for loc in (0..self.trace.n_locations()).map(Loc::at) {
            match self.naming.initial(loc) {
                0 => {}
                value => writeln!(out, "initial {} {value}", self.location(loc))?,
            }
        }
        self.trace.events().iter().try_for_each(|event| self.event(out, event))?;
        for Waiting { thread, loc, kind, order, place } in waiting {
            let what = if *kind == EventKind::Lock { "lock" } else { "await" };
            write!(out, "{} waits {what} {}", self.thread(*thread), self.location(*loc))?;
            finish(out, *order, place.as_deref())?;
        }
        Ok(())
    }

    fn event(&self, out: &mut dyn Write, event: &Event) -> io::Result<()> {
        write!(out, "{} {}", self.thread(event.thread), self.operation(event))?;
        if let Some(loc) = event.loc {
            write!(out, " {}", self.location(loc))?;
        }
        let values = [event.read.filter(|_| event.kind != EventKind::Unlock), event.written];
        values.into_iter().flatten().try_for_each(|value| write!(out, " {value}"))?;
        if let EventKind::Spawn(other) | EventKind::Join(other) = event.kind {
            write!(out, " {}", self.thread(other))?;
        }
        if event.kind == EventKind::Choose {
            return writeln!(out);
        }
        finish(out, event.order, self.naming.place(event).as_deref())
    }

    fn operation(&self, event: &Event) -> &'static str {
        match event.kind {
            EventKind::Load if self.naming.waits(event) => "await",
            EventKind::Load => "load",
            EventKind::Store => "store",
            EventKind::Rmw if event.fails_as_load => "cas",
            EventKind::Rmw => "rmw",
            EventKind::FailedRmw if event.fails_as_load => "cas-failed",
            EventKind::FailedRmw => "rmw-failed",
            EventKind::Fence => "fence",
            EventKind::GlobalFence => "global-fence",
            EventKind::Lock => "lock",
            EventKind::Unlock => "unlock",
            EventKind::Spawn(_) => "spawn",
            EventKind::Join(_) => "join",
            EventKind::Choose => "choose",
        }
    }

    fn event_in_std(&self, out: &mut dyn Write, event: &Event) -> io::Result<()> {
        let thread = self.thread(event.thread);
        let place = self.naming.place(event).map_or_else(|| event.place.to_string(), |place| one_line(&place));
        let name = event.loc.map_or("", |loc| self.location(loc));
        let is_lock = event.loc.is_some_and(|loc| self.is_exclusive(loc));
        let mut line = |operation: &str, on: &str| writeln!(out, "{thread}|{operation}({on})|{place}");
        match event.kind {
            EventKind::Load => line("r", name),
            EventKind::FailedRmw if event.fails_as_load => line("r", name),
            EventKind::Store => line("w", name),
            EventKind::Lock if is_lock => line("acq", name),
            EventKind::Unlock if is_lock => line("rel", name),
            EventKind::Rmw | EventKind::FailedRmw | EventKind::Lock | EventKind::Unlock => {
                let lock = format!("rmw.{name}");
                line("acq", &lock)?;
                line("r", name)?;
                if event.is_write() {
                    line("w", name)?;
                }
                line("rel", &lock)
            }
            EventKind::Fence if event.order != Order::SeqCst => Ok(()),
            EventKind::Fence | EventKind::GlobalFence => {
                let lock = format!("fence.{thread}");
                line("acq", &lock)?;
                line("rel", &lock)
            }
            EventKind::Spawn(other) => line("fork", self.thread(other)),
            EventKind::Join(other) => line("join", self.thread(other)),
            EventKind::Choose => Ok(()),
        }
    }

    /// Whether `loc` is a lock that one thread at a time has, and nothing else.
    fn is_exclusive(&self, loc: Loc) -> bool {
        let mut holder = None;
        self.trace.events().iter().filter(|event| event.loc == Some(loc)).all(|event| match (event.kind, holder) {
            (EventKind::Lock, None) => {
                holder = Some(event.thread);
                true
            }
            (EventKind::Unlock, Some(thread)) if thread == event.thread => {
                holder = None;
                true
            }
            _ => false,
        })
    }

    fn thread(&self, thread: ThreadId) -> &str {
        self.threads.get(thread.index()).map_or("_", String::as_str)
    }

    fn location(&self, loc: Loc) -> &str {
        self.locations.get(loc.index()).map_or("_", String::as_str)
    }
}

fn finish(out: &mut dyn Write, order: Order, place: Option<&str>) -> io::Result<()> {
    if let Some((name, _)) = ORDERS.iter().find(|(_, known)| *known == order) {
        write!(out, " {name}")?;
    }
    match place {
        Some(place) => writeln!(out, " @ {}", one_line(place)),
        None => writeln!(out),
    }
}

/// The names without what ends a word in one of the formats or begins another kind of line, and no two alike.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let plain = |c: char| !(c.is_whitespace() || c.is_control() || "|()".contains(c));
    let mut known = BTreeSet::new();
    let names = names.map(|name| {
        let mut word: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        if word.is_empty() || word.starts_with(['#', '@']) || matches!(word.as_str(), "threads" | "initial") {
            word.insert(0, '_');
        }
        while !known.insert(word.clone()) {
            word.push('~');
        }
        word
    });
    names.collect()
}

fn one_line(place: &str) -> String {
    place.chars().map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect()
}
