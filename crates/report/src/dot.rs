//! The events of an execution as a graph for Graphviz: program order, reads-from, coherence, from-read.
//!
//! Of each relation only the generating edges are drawn: program order from an event to the next of its thread,
//! coherence from a write to the next one, and from-read to the first write that comes after what was read.

use teetotal_memory::{Event, EventId, EventKind, Source, Trace};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Program, printer};
use teetotal_program::{Loc, ThreadId, Value};

use crate::outcome::Report;
use crate::verdict::asks;

impl Report<'_> {
    /// Renders the violation or the witness as a directed graph; without either, a graph with the verdict only.
    #[must_use]
    pub fn dot(&self) -> String {
        let Report { program, options, outcome } = self;
        if let Some(violation) = outcome.violations.first() {
            return dot(program, &violation.trace, &self.verdict_line());
        }
        match &outcome.satisfying {
            Some(witness) if asks(program, options) => {
                let title = format!("{}\n{}", self.verdict_line(), program.show_outcome(&witness.values));
                dot(program, &witness.trace, &title)
            }
            _ => dot(program, &Trace::default(), &self.verdict_line()),
        }
    }
}

/// Renders the events of `trace` as a directed graph with `title` below it; each thread is a cluster.
#[must_use]
pub fn dot(program: &Program, trace: &Trace, title: &str) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&program.name));
    out.push_str(&format!("  label={};\n", quoted(title)));
    out.push_str("  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
    for (index, thread) in program.threads.iter().enumerate() {
        let own: Vec<_> = trace.ids().filter(|(_, event)| event.thread == ThreadId::at(index)).collect();
        if own.is_empty() {
            continue;
        }
        out.push_str(&format!("  subgraph cluster_{index} {{\n    label={};\n", quoted(&thread.name)));
        for (id, event) in own {
            out.push_str(&format!("    e{} [label={}];\n", id.index(), quoted(&label(program, event))));
        }
        out.push_str("  }\n");
    }
    for (relation, color, edges) in [
        ("po", "black", program_order(trace)),
        ("rf", "red", reads_from(trace)),
        ("co", "blue", coherence(trace)),
        ("fr", "darkorange", from_read(trace)),
    ] {
        for (from, to) in edges {
            let (from, to) = (from.index(), to.index());
            out.push_str(&format!("  e{from} -> e{to} [label={relation}, color={color}, fontcolor={color}];\n"));
        }
    }
    out.push_str("}\n");
    out
}

/// Returns the statement of an event, and below it what it read and wrote.
fn label(program: &Program, event: &Event) -> String {
    let code = &program.threads[event.thread.index()].code;
    let place = event.place as usize;
    let statement = if place < code.len() { printer::statement(program, event.thread, place) } else { "?".to_owned() };
    let mut lines = vec![format!("({}) {statement}", event.step + 1)];
    if let Some(loc) = event.loc {
        let show = |value: Value| program.show_value(Term::Memory(loc), value);
        let name = program.location_name(loc);
        let initial = if event.source == Some(Source::Initial) { " (initial)" } else { "" };
        lines.extend(event.read.map(|value| format!("reads {name}={}{initial}", show(value))));
        lines.extend(event.written.map(|value| format!("writes {name}={}", show(value))));
    }
    lines.join("\n")
}

type Edges = Vec<(EventId, EventId)>;

/// Returns the edges from each event to the next of its thread, from a spawn to the first event of its thread, and from
/// the last event to a join.
fn program_order(trace: &Trace) -> Edges {
    let mut edges = Edges::new();
    let mut last: Vec<Option<EventId>> = vec![None; trace.n_threads()];
    let mut spawned: Vec<Option<EventId>> = vec![None; trace.n_threads()];
    for (id, event) in trace.ids() {
        let thread = event.thread.index();
        edges.extend(last[thread].or(spawned[thread]).map(|before| (before, id)));
        last[thread] = Some(id);
        match event.kind {
            EventKind::Spawn(child) if child.index() < spawned.len() => {
                spawned[child.index()].get_or_insert(id);
            }
            EventKind::Join(child) => edges.extend(last.get(child.index()).copied().flatten().map(|end| (end, id))),
            _ => {}
        }
    }
    edges
}

fn reads_from(trace: &Trace) -> Edges {
    let source = |(id, event): (EventId, &Event)| match event.source {
        Some(Source::Write(write)) => Some((write, id)),
        Some(Source::Initial) | None => None,
    };
    trace.ids().filter_map(source).collect()
}

/// Returns the writes to each location in the order in which they reach memory.
fn writes(trace: &Trace) -> Vec<Vec<EventId>> {
    (0..trace.n_locations()).map(|loc| trace.coherence(Loc::at(loc))).collect()
}

fn coherence(trace: &Trace) -> Edges {
    writes(trace).iter().flat_map(|writes| writes.windows(2)).map(|pair| (pair[0], pair[1])).collect()
}

fn from_read(trace: &Trace) -> Edges {
    let orders = writes(trace);
    let mut positions = vec![0; trace.events().len()];
    for order in &orders {
        order.iter().enumerate().for_each(|(position, write)| positions[write.index()] = position);
    }
    let mut edges = Edges::new();
    for (id, event) in trace.ids() {
        let (Some(loc), Some(source)) = (event.loc, event.source) else { continue };
        let after = match source {
            Source::Initial => 0,
            Source::Write(write) => positions[write.index()] + 1,
        };
        // A read-modify-write does not come before itself.
        let next = orders[loc.index()][after..].iter().find(|&&write| write != id);
        edges.extend(next.map(|&write| (id, write)));
    }
    edges
}

/// Escapes `text` for Graphviz.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_graphviz_would_take_for_its_own_is_escaped() {
        assert_eq!(quoted("a \"b\" /\\ c\nd\te"), r#""a \"b\" /\\ c\nd e""#);
    }
}
