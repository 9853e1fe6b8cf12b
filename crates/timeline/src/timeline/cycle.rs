//! Why an execution is not sequentially consistent: a cycle, in words.
//!
//! A cycle of happens-before is a list of events each of which must come before the next [BURNIM, Prop. 1].

use std::collections::VecDeque;

use teetotal_memory::relations::{self, Relation};
use teetotal_memory::{EventId, EventKind, Source, Trace};

use super::Timeline;
use super::names::{Names, number};
use crate::ansi::Role;
use crate::line::Line;
use crate::style::Options;
use crate::text;

/// The number of events up to which cycles through all of them are compared.
const MANY: usize = 256;

/// Returns a shortest cycle, beginning with its first event in the order of issue.
///
/// In a long execution it is the shortest among the events of some cycle.
pub(super) fn shortest(trace: &Trace) -> Option<Vec<EventId>> {
    let mut before = relations::happens_before(trace);
    if before.is_acyclic() {
        before = between_steps(trace, &before);
    }
    let some = before.cycle()?;
    let mut among: Vec<EventId> =
        if before.n_events() <= MANY { (0..before.n_events()).map(EventId::at).collect() } else { some.clone() };
    among.sort_unstable();
    let mut best = some;
    for &start in &among {
        // Breadth-first search, until it is back at the start.
        let mut came_from: Vec<Option<EventId>> = vec![None; before.n_events()];
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            if before.has(at, start) {
                let mut path = vec![at];
                while let Some(previous) = came_from[path[path.len() - 1].index()] {
                    path.push(previous);
                }
                path.reverse();
                if path.len() < best.len() {
                    best = path;
                }
                break;
            }
            for &next in among.iter().filter(|&&next| next != start && before.has(at, next)) {
                if came_from[next.index()].is_none() {
                    came_from[next.index()] = Some(at);
                    queue.push_back(next);
                }
            }
        }
    }
    let first = (0..best.len()).min_by_key(|&index| best[index]).unwrap_or(0);
    best.rotate_left(first);
    Some(best)
}

/// Returns the cycle with each step represented by its first event: under sequential consistency a step is atomic.
fn between_steps(trace: &Trace, before: &Relation) -> Relation {
    let mut steps = Relation::empty(before.n_events());
    let first = |id: EventId| events_of_step(trace, id).next().unwrap_or(id);
    for (from, to) in before.pairs().map(|(from, to)| (first(from), first(to))) {
        if from != to {
            steps.add(from, to);
        }
    }
    steps
}

/// Returns the events that were issued in the same step.
fn events_of_step(trace: &Trace, id: EventId) -> impl Iterator<Item = EventId> + '_ {
    let step = trace.event(id).step;
    trace.ids().filter(move |(_, event)| event.step == step).map(|(id, _)| id)
}

/// Returns the events of two steps by which one comes before the other.
fn related(trace: &Trace, before: &Relation, first: EventId, second: EventId) -> (EventId, EventId) {
    if before.has(first, second) {
        return (first, second);
    }
    let pairs = events_of_step(trace, first).flat_map(|a| events_of_step(trace, second).map(move |b| (a, b)));
    pairs.into_iter().find(|&(a, b)| before.has(a, b)).unwrap_or((first, second))
}

/// Adds one line for each event of the cycle, with an arrow to the next and the reason for it.
pub(super) fn draw(timeline: &Timeline<'_>, cycle: &[EventId], options: Options, out: &mut String) {
    let names = Names::new(timeline.program, timeline.trace);
    let label = |id: EventId| {
        let event = timeline.trace.event(id);
        format!("{} {}", number(event.step), names.statement(event))
    };
    let next = |index: usize| cycle[(index + 1) % cycle.len()];
    let before = relations::happens_before(timeline.trace);
    let edges: Vec<[String; 3]> = (0..cycle.len())
        .map(|index| {
            let (from, to) = related(timeline.trace, &before, cycle[index], next(index));
            [label(from), reason(timeline.trace, &names, from, to), label(to)]
        })
        .collect();
    let [from, why, to] = [0, 1, 2].map(|part| edges.iter().map(|edge| text::width(&edge[part])).max().unwrap_or(0));
    let glyphs = options.style.glyphs();
    if 2 + from + 1 + why + 7 + to > options.width {
        for [from, why, to] in &edges {
            let start = format!("{from} {0}{0}", glyphs.horizontal);
            let end = format!("{}{} {to}", glyphs.horizontal, glyphs.head);
            let whole = format!("{} {why} {}", text::unbroken(&start), text::unbroken(&end));
            for (index, part) in text::wrap(&whole, options.width.saturating_sub(2), 4).iter().enumerate() {
                let mut line = Line::default();
                line.push(Role::Plain, if index == 0 { "  " } else { "    " });
                line.push(Role::Plain, part.trim_start());
                line.finish(options.style, out);
            }
        }
        return;
    }
    for edge in &edges {
        let mut line = Line::default();
        line.push(Role::Plain, "  ");
        line.push(Role::Plain, &edge[0]);
        line.pad_to(2 + from + 1);
        line.fill_to(2 + from + 3, Role::Memory, glyphs.horizontal);
        line.push(Role::Plain, &format!(" {} ", edge[1]));
        line.fill_to(2 + from + 3 + why + 3, Role::Memory, glyphs.horizontal);
        line.push(Role::Memory, &glyphs.head.to_string());
        line.push(Role::Plain, &format!(" {}", edge[2]));
        line.finish(options.style, out);
    }
}

/// Returns why `first` comes before `second`, in words.
fn reason(trace: &Trace, names: &Names<'_>, first: EventId, second: EventId) -> String {
    let (a, b) = (trace.event(first), trace.event(second));
    if a.thread == b.thread && a.index < b.index {
        return format!("before in {}", names.thread(a.thread));
    }
    if a.kind == EventKind::Spawn(b.thread) {
        return format!("starts {}", names.thread(b.thread));
    }
    if b.kind == EventKind::Join(a.thread) {
        return "waited for by".to_owned();
    }
    if b.source == Some(Source::Write(first)) {
        return "read by".to_owned();
    }
    match (a.loc, a.read) {
        _ if a.is_write() && comes_before(trace, first, second) => "overwritten by".to_owned(),
        (Some(loc), Some(value)) => format!("read {}, then overwritten by", names.value(loc, value)),
        _ => "before".to_owned(),
    }
}

/// Returns whether two events write the same location, `first` first.
fn comes_before(trace: &Trace, first: EventId, second: EventId) -> bool {
    let position = |id: EventId| {
        let writes = trace.event(id).loc.map(|loc| trace.coherence(loc)).unwrap_or_default();
        writes.iter().position(|&write| write == id)
    };
    trace.event(first).loc == trace.event(second).loc && position(first) < position(second)
}
