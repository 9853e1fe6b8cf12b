//! An execution of a model as the straight-line program that its threads ran, for display.

use std::collections::BTreeMap;

use teetotal_live::{Live, Matter, Place, is_of_allocator};
use teetotal_memory::{Event, EventKind, Trace};
use teetotal_program::ir::{Builder, Expr, Instruction, Program, Update};
use teetotal_program::{Loc, OnFailure, Order, Span, Subject, ThreadId, Type, Value};

use super::source_text::SourceTexts;

/// The range of values that are taken for addresses.
pub(super) const ADDRESSES: std::ops::Range<Value> = 1 << 40..1 << 47;

/// A program, and its trace with the values to show.
#[derive(Debug)]
pub(super) struct Storyboard {
    pub(super) program: Program,
    pub(super) trace: Trace,
    /// The names of pointers, by their values.
    pub(super) pointers: BTreeMap<Value, String>,
    /// The values that replace pointers in the trace.
    pub(super) shown: BTreeMap<Value, Value>,
}

/// Returns the place of an event in the source.
pub(super) fn place_of(live: &Live, event: &Event) -> Option<Place> {
    live.places(event.thread).get(event.index as usize).map(|&place| place.into())
}

/// Builds the program of the threads of `live`, whose execution is `trace`.
pub(super) fn draw(live: &Live, trace: &Trace, texts: &mut SourceTexts) -> Option<Storyboard> {
    let mut builder = Builder::new("model");
    builder.quote_source();
    let names = location_names(live, trace, texts);
    let mut trace = trace.clone();
    let pointers = pointer_names(live, &trace);
    let locations: Vec<Loc> = names.iter().map(|name| builder.shared_as(name, Type::U64, 0)).collect();
    let named: BTreeMap<Value, Loc> = pointers.iter().map(|(&value, name)| (value, builder.shared(name, 0))).collect();
    let shown: BTreeMap<Value, Value> = named.iter().map(|(&value, &loc)| (value, builder.address_of(loc))).collect();
    if !named.is_empty() {
        builder.name_addresses();
    }
    let show = |value: Value| shown.get(&value).copied().unwrap_or(value);
    locations.iter().for_each(|&loc| builder.set_initial(loc, show(live.initial(loc))));
    trace.map_values(show);
    let statements = Statements::new(live, &trace, &names, texts);
    builder.source("the model", Some(&statements.lines.join("\n")));
    for thread in (0..n_threads(&trace)).map(ThreadId::at) {
        builder.thread(&thread_name(thread), |t| {
            for (id, event) in trace.ids().filter(|(_, event)| event.thread == thread) {
                t.at(statements.span(id.index()));
                let register = t.temporary();
                let at = locations.get(event.loc.map_or(0, Loc::index)).copied();
                t.push(instruction(event, register, at));
            }
        });
    }
    Some(Storyboard { program: builder.build().ok()?, trace, pointers, shown })
}

/// Returns the number of threads: the first one, and all that were started, even if they have performed no operation.
fn n_threads(trace: &Trace) -> usize {
    let started = trace.events().iter().filter_map(|event| match event.kind {
        EventKind::Spawn(thread) => Some(thread.index() + 1),
        _ => None,
    });
    started.max().unwrap_or(1).max(trace.n_threads())
}

/// Returns the name of a thread.
pub(super) fn thread_name(thread: ThreadId) -> String {
    if thread.0 == 0 { "main".to_owned() } else { format!("T{thread}") }
}

fn instruction(event: &Event, register: teetotal_program::Reg, at: Option<Loc>) -> Instruction {
    let order = event.order;
    let written = || Expr::Const(event.written.unwrap_or(0));
    let Some(at) = at else {
        return match event.kind {
            EventKind::Spawn(thread) => Instruction::Spawn { thread, order: Order::Release },
            EventKind::Join(thread) => Instruction::Join { thread, order: Order::Acquire },
            EventKind::Choose => Instruction::Choose { to: register, alternatives: 2 },
            _ => Instruction::Fence { order },
        };
    };
    let at = at.into();
    match event.kind {
        EventKind::Load => Instruction::Load { to: register, from: at, order },
        EventKind::Store => Instruction::Store { to: at, value: written(), order },
        EventKind::Rmw | EventKind::Lock | EventKind::Unlock => {
            Instruction::Rmw { old: register, at, update: Update::Exchange(written()), order }
        }
        EventKind::FailedRmw => {
            let expected = Expr::Const(event.read.unwrap_or(0).wrapping_add(1));
            let update = Update::CompareExchange { expected, new: Expr::Const(0), on_failure: OnFailure::Load(order) };
            Instruction::Rmw { old: register, at, update, order }
        }
        EventKind::Fence => Instruction::Fence { order },
        EventKind::GlobalFence => Instruction::GlobalFence,
        EventKind::Spawn(thread) => Instruction::Spawn { thread, order: Order::Release },
        EventKind::Join(thread) => Instruction::Join { thread, order: Order::Acquire },
        EventKind::Choose => Instruction::Choose { to: register, alternatives: 2 },
    }
}

/// The statements of an execution as text, one on each line.
struct Statements {
    lines: Vec<String>,
}

impl Statements {
    fn new(live: &Live, trace: &Trace, names: &[String], texts: &mut SourceTexts) -> Self {
        let lines = trace.events().iter().map(|event| {
            let place = place_of(live, event);
            let name = || event.loc.and_then(|loc| names.get(loc.index())).map_or("", String::as_str);
            let does = match event.kind {
                EventKind::Spawn(thread) => format!("spawn {}", thread_name(thread)),
                EventKind::Join(thread) => format!("join {}", thread_name(thread)),
                EventKind::Unlock => format!("unlock {}", name()),
                EventKind::Choose => choice(live, event).to_owned(),
                EventKind::Store if place.as_ref().is_some_and(is_of_allocator) => {
                    "the freed block may be reused".to_owned()
                }
                EventKind::Rmw | EventKind::Load
                    if event.read == Some(1) && place.as_ref().is_some_and(is_of_allocator) =>
                {
                    "reuses the freed block".to_owned()
                }
                _ if place.as_ref().is_some_and(is_of_allocator) => "finds no freed block".to_owned(),
                _ => match place.as_ref().and_then(|place| texts.call(place)) {
                    Some(call) => call.text,
                    None => plainly(event, name()),
                },
            };
            // Only the compiler knows where a guard is dropped.
            let line = place
                .filter(|place| event.kind != EventKind::Unlock && !is_of_allocator(place))
                .map(|place| format!(" :{}", place.line));
            does + &line.unwrap_or_default()
        });
        Statements { lines: lines.collect() }
    }

    fn span(&self, line: usize) -> Option<Span> {
        let length = self.lines.get(line)?.chars().count() as u32;
        Some(Span { source: 0, line: line as u32 + 1, column: 1, length })
    }
}

/// Describes the choice.
fn choice(live: &Live, event: &Event) -> &'static str {
    let matter = live.done(event.thread).get(event.index as usize).and_then(|done| done.matter);
    match (matter, event.read) {
        (Some(Matter::Failure), Some(1)) => "fails spuriously",
        (Some(Matter::Failure), _) => "does not fail spuriously",
        (Some(Matter::WakeUp), Some(1)) => "wakes up spuriously",
        (Some(Matter::WakeUp), _) => "does not wake up spuriously",
        (Some(Matter::TimeOut), Some(1)) => "times out",
        (Some(Matter::TimeOut), _) => "does not time out",
        (Some(Matter::Waiter), _) => "chooses which thread to wake",
        (Some(Matter::Reuse), Some(0) | None) => "gets a new block",
        (Some(Matter::Reuse), Some(_)) => "gets a freed block",
        (Some(Matter::Reader), Some(1)) => "waits for the writer",
        (Some(Matter::Reader), _) => "reads before the writer",
        (None, _) => "waits for its turn",
    }
}

/// Describes an event if the source is not available.
fn plainly(event: &Event, name: &str) -> String {
    let written = event.written.unwrap_or(0);
    match event.kind {
        EventKind::Load => format!("load {name}"),
        EventKind::Store => format!("{name} = {written}"),
        EventKind::Rmw => format!("{name} := {written}"),
        EventKind::FailedRmw => format!("compare {name}"),
        EventKind::Lock => format!("lock {name}"),
        _ => "fence".to_owned(),
    }
}

/// Returns the names of the locations, each the shortest that the source has for it.
pub(super) fn location_names(live: &Live, trace: &Trace, texts: &mut SourceTexts) -> Vec<String> {
    let mut names: Vec<Option<String>> = vec![None; trace.n_locations()];
    for event in trace.events() {
        let Some(loc) = event.loc else { continue };
        if event.kind == EventKind::Unlock {
            continue;
        }
        let place = place_of(live, event);
        let on = match place {
            Some(place) if is_of_allocator(&place) => Some("freed".to_owned()),
            place => place.and_then(|place| texts.call(&place)).and_then(|call| call.on),
        };
        let known = &mut names[loc.index()];
        if let Some(on) = on
            && known.as_ref().is_none_or(|known| on.chars().count() < known.chars().count())
        {
            *known = Some(on);
        }
    }
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let letters = (0..names.len()).map(letter_name);
    let names = names.into_iter().zip(letters).map(|(name, letter)| {
        let name = name.unwrap_or(letter);
        let n = used.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
        if *n == 1 { name } else { format!("{name}#{n}") }
    });
    names.collect()
}

/// `a`, `b`, …, `z`, `a1`, …
fn letter_name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

/// Returns names for values that look like addresses, in the order in which they appear; the values differ from run to
/// run.
fn pointer_names(live: &Live, trace: &Trace) -> BTreeMap<Value, String> {
    let initial = (0..trace.n_locations()).map(|index| live.initial(Loc::at(index)));
    let values = trace.events().iter().flat_map(|event| [event.written, event.read]).flatten();
    let mut names: BTreeMap<Value, String> = BTreeMap::new();
    let mut n_pointers = 0;
    for value in initial.chain(values).filter(|value| ADDRESSES.contains(value)) {
        // The low bits are a tag.
        let (base, mark) = (value & !7, value & 7);
        let name = names.entry(base).or_insert_with(|| {
            n_pointers += 1;
            format!("ptr{n_pointers}")
        });
        if mark != 0 {
            let name = format!("{name}+{mark}");
            names.insert(value, name);
        }
    }
    names
}
