//! Computes the widths of the columns of a timeline, and whether it fits side by side.

use super::rows::{Cell, Row};
use crate::text;

/// The space between a statement, its note, and the buffer.
const GAP: usize = 3;
/// The width between two columns: a space, a rule, a space.
pub(super) const RULE: usize = 3;
/// The minimum width of a column.
const NARROWEST: usize = 16;
/// The title of a buffer.
pub(super) const BUFFER: &str = "buffer";

/// The columns of a timeline.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) gutter: usize,
    pub(super) columns: Vec<Column>,
    pub(super) memory: usize,
}

/// The column of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) width: usize,
    pub(super) shape: Shape,
}

/// How a cell is arranged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// In one line: the statement, its note at `note`, and the pending stores at `buffer` if there is room.
    ///
    /// If the buffer is shown `instead` of notes, a statement that changes the buffer has no note.
    Flat { note: usize, buffer: Option<usize>, instead: bool },
    /// One below the other, wrapped if they are too long.
    Stacked,
}

impl Layout {
    /// Returns the widest arrangement that fits into `width`, if any.
    pub(super) fn new(rows: &[Row], threads: &[&str], width: usize) -> Option<Layout> {
        let all = 0..threads.len();
        let gutter = rows.iter().map(|row| text::width(&row.label)).chain([4]).max().unwrap_or(0);
        let memory = memory_width(rows, NARROWEST);
        let narrow = memory_width(rows, 0);
        use BufferPlace::{Apart, Instead, Shared};
        for (place, memory) in [(Apart, memory), (Shared, memory), (Instead, memory), (Instead, narrow)] {
            let columns = all.clone().map(|thread| flat(rows, thread, threads[thread], place)).collect();
            let layout = Layout { gutter, columns, memory };
            if layout.width() <= width {
                return Some(layout);
            }
        }
        let columns = all.map(|thread| stacked(rows, thread, threads[thread])).collect();
        let mut layout = Layout { gutter, columns, memory };
        while layout.width() > width {
            let widest = layout.columns.iter_mut().rev().max_by_key(|column| column.width)?;
            if widest.width <= NARROWEST {
                return None;
            }
            widest.width -= 1;
        }
        Some(layout)
    }

    fn width(&self) -> usize {
        self.memory_at() + self.memory
    }

    /// Returns where the column of `thread` begins.
    pub(super) fn column_at(&self, thread: usize) -> usize {
        self.gutter + RULE + self.columns[..thread].iter().map(|column| column.width + RULE).sum::<usize>()
    }

    /// Returns where the column of memory begins.
    pub(super) fn memory_at(&self) -> usize {
        self.column_at(self.columns.len())
    }
}

/// Returns a width that fits every write; the initial and final contents of memory wrap beyond `limit`.
fn memory_width(rows: &[Row], limit: usize) -> usize {
    let needed = |row: &Row| match text::width(&row.memory) {
        long if !row.writes() && long > limit => row.memory.split(' ').map(text::width).max().unwrap_or(0).max(limit),
        width => width,
    };
    rows.iter().map(needed).chain([text::width("memory")]).max().unwrap_or(0)
}

/// Where a buffer is drawn in a cell of one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BufferPlace {
    /// To the right of everything else, so that every row shows it.
    Apart,
    /// To the right of the statements that change it, so that the notes of other rows may hide it.
    Shared,
    /// Instead of the note of the statement that changes it, and closer to the statement.
    Instead,
}

fn flat(rows: &[Row], thread: usize, name: &str, place: BufferPlace) -> Column {
    let cells = || rows.iter().map(|row| (row, &row.cells[thread]));
    let longest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let instead = place == BufferPlace::Instead;
    let gap = if instead { GAP - 1 } else { GAP };
    let noted = |cell: &Cell| shows_note(cell, instead);
    let note = gap + longest(&mut cells().filter(|(_, c)| !c.note.is_empty()).map(|(_, c)| text::width(&c.does)));
    let end = |cell: &Cell| if noted(cell) { note + text::width(&cell.note) } else { text::width(&cell.does) };

    // An arrow begins after the text of its cell, and replaces the buffer.
    let arrows = longest(&mut cells().filter(|(row, _)| row.writes()).map(|(_, c)| end(c) + 2));
    let texts = longest(&mut cells().filter(|(row, _)| !row.writes()).map(|(_, c)| end(c))).max(text::width(name));
    let buffers = longest(&mut cells().map(|(_, c)| text::width(&c.buffer)));
    let width = texts.max(arrows);
    if buffers == 0 {
        return Column { width, shape: Shape::Flat { note, buffer: None, instead } };
    }
    let buffer = match place {
        BufferPlace::Apart => texts + GAP,
        BufferPlace::Shared | BufferPlace::Instead => {
            let changes = |(row, cell): &(&Row, &Cell)| cell.buffer_changed && !row.writes();
            longest(&mut cells().filter(changes).map(|(_, c)| end(c))).max(text::width(name)).max(note - 1) + 1
        }
    };
    Column {
        width: width.max(buffer + buffers.max(text::width(BUFFER))),
        shape: Shape::Flat { note, buffer: Some(buffer), instead },
    }
}

fn stacked(rows: &[Row], thread: usize, name: &str) -> Column {
    let lines = rows.iter().flat_map(|row| below(&row.cells[thread]));
    let width = lines.map(|line| text::width(&line) + 2).chain([text::width(name)]).max().unwrap_or(0);
    Column { width, shape: Shape::Stacked }
}

/// Returns the parts of a cell to show one below the other: the first flush, the others indented.
pub(super) fn below(cell: &Cell) -> Vec<String> {
    let mut parts = Vec::new();
    if cell.does.is_empty() {
        return parts;
    }
    parts.push(cell.does.clone());
    if cell.buffer_changed && !cell.buffer.is_empty() {
        parts.push(format!("{BUFFER} {}", cell.buffer));
    } else if !cell.note.is_empty() {
        parts.push(cell.note.clone());
    }
    parts
}

/// Returns whether a one-line cell shows the note of its statement.
pub(super) fn shows_note(cell: &Cell, instead: bool) -> bool {
    let replaced = instead && cell.buffer_changed;
    !cell.note.is_empty() && !replaced
}
