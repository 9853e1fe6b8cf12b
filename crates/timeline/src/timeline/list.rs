//! Draws the rows of a timeline one after the other, if they do not fit side by side.

use super::rows::Row;
use crate::ansi::Role;
use crate::line::Line;
use crate::style::Options;
use crate::text;

/// Renders one paragraph for each row.
pub(super) fn draw(rows: &[Row], threads: &[&str], options: Options) -> String {
    let gutter = rows.iter().map(|row| text::width(&row.label)).max().unwrap_or(0);
    let names = threads.iter().map(|name| text::width(name)).max().unwrap_or(0).min(options.width / 4);
    let indent = gutter + 2 + names + 2;
    let mut out = String::new();
    let mut write = |label: &str, name: &str, text: &str| {
        for (index, part) in text::wrap(text, options.width.saturating_sub(indent).max(8), 2).iter().enumerate() {
            let mut line = Line::default();
            if index == 0 {
                line.pad_to(gutter - text::width(label));
                line.push(Role::Faint, label);
                line.push(Role::Plain, "  ");
                line.push(Role::Heading, name);
                if line.width() > indent - 2 {
                    std::mem::take(&mut line).finish(options.style, &mut out);
                }
            }
            line.pad_to(indent);
            line.push(Role::Plain, part);
            line.finish(options.style, &mut out);
        }
    };
    for row in rows {
        for (thread, cell) in row.cells.iter().enumerate().filter(|(_, cell)| !cell.does.is_empty()) {
            write(&row.label, threads[thread], &sentence(row, thread, options));
            debug_assert!(row.actor.is_none_or(|actor| actor == thread), "only the actor of {} acts", cell.does);
        }
        if row.actor.is_none() && !row.memory.is_empty() {
            write(&row.label, "", &format!("memory {}", row.memory));
        }
    }
    out
}

/// Returns everything that a row shows of a thread.
fn sentence(row: &Row, thread: usize, options: Options) -> String {
    let glyphs = options.style.glyphs();
    let cell = &row.cells[thread];
    let mut text = cell.does.clone();
    for part in [cell.note.as_str(), if cell.buffer_changed { cell.buffer.as_str() } else { "" }] {
        if !part.is_empty() {
            text.push_str(&format!(" {} {part}", glyphs.dot));
        }
    }
    if row.writes() {
        text.push_str(&format!(" {} memory {}", glyphs.dot, row.memory));
    }
    text
}
