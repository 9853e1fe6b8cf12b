//! The rows of a timeline: what each step of an execution did.

use teetotal_memory::{Event, EventId, EventKind, Model, ModelVisitor, Source, Step, StepRecord};
use teetotal_program::ir::{Address, Instruction};
use teetotal_program::{Loc, Order, Value};

use super::names::{Names, number};
use super::{Note, Timeline};
use crate::style::Glyphs;

/// One row: a step, or the state before the first or after the last.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) label: String,
    /// The cell of each thread.
    pub(super) cells: Vec<Cell>,
    /// The thread whose step it is.
    pub(super) actor: Option<usize>,
    /// The new contents of memory.
    pub(super) memory: String,
}

/// The cell of one thread.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// The statement, or the store that leaves.
    pub(super) does: String,
    /// The note, such as the value that was read.
    pub(super) note: String,
    /// The pending stores after the step, as `[x=1 y=2]`; empty if there are none.
    pub(super) buffer: String,
    /// Whether the step changed the buffer.
    pub(super) buffer_changed: bool,
}

impl Row {
    /// Returns whether the step wrote memory.
    pub(super) fn writes(&self) -> bool {
        self.actor.is_some() && !self.memory.is_empty()
    }
}

/// Returns every row of an execution: the start, its steps with what threads did between them, and the end.
pub(super) fn rows_with(timeline: &Timeline<'_>, notes: &[Note], glyphs: Glyphs) -> Vec<Row> {
    Narrator::new(timeline, glyphs).tell(notes)
}

/// Follows an execution step by step.
struct Narrator<'a> {
    timeline: &'a Timeline<'a>,
    names: Names<'a>,
    glyphs: Glyphs,
    traits: Traits,
    /// The contents of memory, for each location that some event uses.
    memory: Vec<(Loc, Value)>,
    /// The pending stores of each thread, oldest first.
    buffers: Vec<Vec<EventId>>,
    /// The number of store-store barriers that each thread has passed.
    epochs: Vec<u32>,
}

impl<'a> Narrator<'a> {
    fn new(timeline: &'a Timeline<'a>, glyphs: Glyphs) -> Self {
        let (program, trace) = (timeline.program, timeline.trace);
        let mut used: Vec<Loc> = trace.events().iter().filter_map(|event| event.loc).collect();
        used.sort_unstable();
        used.dedup();
        let n_threads = program.threads.len();
        Narrator {
            timeline,
            names: Names::new(program, trace),
            glyphs,
            traits: timeline.model.visit(TraitsOf),
            memory: used.into_iter().map(|loc| (loc, program.locations[loc.index()].initial)).collect(),
            buffers: vec![Vec::new(); n_threads],
            epochs: vec![0; n_threads],
        }
    }

    fn tell(mut self, notes: &[Note]) -> Vec<Row> {
        let mut rows = vec![self.standstill("start")];
        self.add_notes(notes, 0, &mut rows);
        for (index, record) in self.timeline.trace.steps().iter().enumerate() {
            rows.push(match record.step {
                Step::Issue { .. } => self.issue(index, record),
                Step::Commit { .. } => self.commit(index, record),
            });
            self.add_notes(notes, index + 1, &mut rows);
        }
        let mut end = self.standstill("end");
        for cell in end.cells.iter_mut().filter(|cell| !cell.buffer.is_empty()) {
            cell.does = "still buffered".to_owned();
            cell.buffer_changed = true;
        }
        rows.push(end);
        rows
    }

    /// Returns the rows for what threads did after this many steps.
    fn add_notes(&self, notes: &[Note], after: usize, rows: &mut Vec<Row>) {
        for note in notes.iter().filter(|note| note.after == after) {
            let row = self.row(0, note.thread, note.text.clone(), String::new());
            rows.push(Row { label: String::new(), ..row });
        }
    }

    /// Returns a row in which nothing happens: the contents of memory and buffers.
    fn standstill(&self, label: &str) -> Row {
        let memory: Vec<String> = self.memory.iter().map(|&(loc, value)| self.names.holds(loc, value)).collect();
        Row { label: label.to_owned(), cells: self.cells(), actor: None, memory: memory.join(" ") }
    }

    fn issue(&mut self, index: usize, record: &StepRecord) -> Row {
        let trace = self.timeline.trace;
        let thread = record.step.thread().index();
        let before = self.buffer(thread);
        let events: Vec<EventId> =
            trace.ids().skip(record.event.index()).take_while(|(_, e)| e.step as usize == index).map(|e| e.0).collect();
        let Some(&first) = events.first() else { return self.row(index, thread, "goes on".to_owned(), String::new()) };
        let event = trace.event(first);
        if self.traits.buffers {
            self.buffers[thread].extend(events.iter().filter(|&&id| trace.event(id).is_store()));
        }
        if event.kind == EventKind::Fence && matches!(event.order, Order::Release | Order::AcqRel) {
            self.epochs[thread] = event.epoch + 1;
        }
        let (statement, note) = (self.names.statement(event), self.note(&events));
        // The pending store may replace the note if there is little room, so what was read goes with the statement.
        let stores = events.iter().any(|&id| trace.event(id).is_store());
        let mut row = match stores && event.is_read() {
            true => self.row(index, thread, format!("{statement}, {note}"), String::new()),
            false => self.row(index, thread, statement, note),
        };
        row.cells[thread].buffer_changed = before != row.cells[thread].buffer;
        let at_once = |id: &&EventId| trace.event(**id).committed.is_some_and(|step| step as usize == index);
        if let Some(&written) = events.iter().find(at_once) {
            row.memory = self.write(written);
        }
        row
    }

    fn commit(&mut self, index: usize, record: &StepRecord) -> Row {
        let thread = record.step.thread().index();
        self.buffers[thread].retain(|&store| store != record.event);
        let text = format!("{} leaves the buffer", self.names.write(record.event));
        let mut row = self.row(index, thread, text, String::new());
        row.cells[thread].buffer_changed = true;
        row.memory = self.write(record.event);
        row
    }

    fn row(&self, index: usize, thread: usize, does: String, note: String) -> Row {
        let mut cells = self.cells();
        cells[thread] = Cell { does, note, ..std::mem::take(&mut cells[thread]) };
        Row { label: number(index as u32), cells, actor: Some(thread), memory: String::new() }
    }

    fn cells(&self) -> Vec<Cell> {
        (0..self.buffers.len()).map(|thread| Cell { buffer: self.buffer(thread), ..Cell::default() }).collect()
    }

    /// Commits a write, and returns the new contents of its location.
    fn write(&mut self, id: EventId) -> String {
        let event = self.timeline.trace.event(id);
        if let Some(newer) = self.newer_write(id) {
            return format!("{}, before {}", self.names.write(id), self.names.write(newer));
        }
        for (loc, value) in &mut self.memory {
            if Some(*loc) == event.loc {
                *value = event.written.unwrap_or(*value);
            }
        }
        self.names.write(id)
    }

    /// A write that was performed earlier and comes directly after `id` in modification order.
    fn newer_write(&self, id: EventId) -> Option<EventId> {
        let trace = self.timeline.trace;
        let event = trace.event(id);
        let is_earlier = |&write: &EventId| trace.event(write).committed < event.committed;
        let writes = trace.coherence(event.loc?);
        writes.into_iter().skip_while(|&write| write != id).skip(1).find(is_earlier)
    }

    /// Returns the pending stores of a thread as `[x=1 y=2]`, with `|` at a barrier.
    fn buffer(&self, thread: usize) -> String {
        let trace = self.timeline.trace;
        let mut text = String::new();
        let mut epoch = None;
        for &store in &self.buffers[thread] {
            if !text.is_empty() {
                text.push_str(if self.traits.barriers && epoch != Some(trace.event(store).epoch) {
                    " | "
                } else {
                    " "
                });
            }
            text.push_str(&self.names.write(store));
            epoch = Some(trace.event(store).epoch);
        }
        match epoch {
            None => text,
            Some(epoch) if self.traits.barriers && epoch < self.epochs[thread] => format!("[{text} |]"),
            Some(_) => format!("[{text}]"),
        }
    }

    /// Returns the note on the events of one step.
    fn note(&self, events: &[EventId]) -> String {
        let trace = self.timeline.trace;
        let event = trace.event(events[0]);
        match event.kind {
            EventKind::Load if events.len() > 1 => {
                let is_read = |id: &&EventId| trace.event(**id).is_read();
                let reads = events.iter().filter(is_read).map(|&id| self.reads(trace.event(id), true));
                format!("reads {}", reads.collect::<Vec<_>>().join(", "))
            }
            EventKind::Choose if self.timeline.program.quotes_source => String::new(),
            EventKind::Load => format!("reads {}", self.reads(event, !self.names_its_location(event))),
            EventKind::FailedRmw => format!("reads {}, writes nothing", self.reads(event, false)),
            EventKind::Rmw | EventKind::Lock | EventKind::Unlock => match (event.loc, event.read, event.written) {
                (Some(loc), Some(old), Some(new)) => {
                    let [old, new] = [old, new].map(|value| self.names.value(loc, value));
                    format!("{old} {} {new}", self.glyphs.becomes)
                }
                _ => String::new(),
            },
            EventKind::Store if event.committed == Some(event.step) => String::new(),
            EventKind::Store => "buffered".to_owned(),
            EventKind::Choose => format!("takes {}", event.read.unwrap_or(0)),
            EventKind::Fence | EventKind::GlobalFence | EventKind::Spawn(_) | EventKind::Join(_) => String::new(),
        }
    }

    /// Returns the value of a read and its source.
    fn reads(&self, event: &Event, with_location: bool) -> String {
        let (Some(loc), Some(value)) = (event.loc, event.read) else { return String::new() };
        let value = if with_location { self.names.equals(loc, value) } else { self.names.value(loc, value) };
        match event.source {
            None | Some(Source::Initial) => format!("{value} (initial)"),
            Some(Source::Write(id)) => {
                let from = number(self.timeline.trace.event(id).step);
                if event.forwarded { format!("{value} from own buffer {from}") } else { format!("{value} from {from}") }
            }
        }
    }

    /// Returns whether the statement of an event names the location that it uses.
    fn names_its_location(&self, event: &Event) -> bool {
        let code = &self.timeline.program.threads[event.thread.index()].code;
        match code.get(event.place as usize) {
            Some(Instruction::Load { from: address, .. } | Instruction::Rmw { at: address, .. }) => {
                matches!(address, Address::Static(_))
            }
            _ => true,
        }
    }
}

/// Properties of a model that the rows depend on.
#[derive(Clone, Copy)]
struct Traits {
    buffers: bool,
    barriers: bool,
}

struct TraitsOf;

impl ModelVisitor for TraitsOf {
    type Output = Traits;

    fn visit<M: Model>(self) -> Traits {
        Traits { buffers: M::BUFFERS, barriers: M::BARRIERS }
    }
}
