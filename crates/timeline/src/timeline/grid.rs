//! Draws the rows of a timeline side by side: a column for each thread, and one for memory.
//!
//! Each write to memory has an arrow from its thread to the column of memory.

use super::layout::{BUFFER, Layout, Shape, below, shows_note};
use super::rows::Row;
use crate::ansi::Role;
use crate::line::Line;
use crate::style::{Glyphs, Options};
use crate::text;

/// Renders the timeline, if it fits.
pub(super) fn draw(rows: &[Row], threads: &[&str], options: Options) -> Option<String> {
    let layout = Layout::new(rows, threads, options.width)?;
    let mut out = String::new();
    let grid = Grid { layout, glyphs: options.style.glyphs() };
    let head = grid.head(threads);
    let lines = head.into_iter().chain(rows.iter().flat_map(|row| grid.row(row)));
    lines.for_each(|line| line.finish(options.style, &mut out));
    Some(out)
}

/// A piece of a cell: its column, its role and its text.
type Piece = (usize, Role, String);

struct Grid {
    layout: Layout,
    glyphs: Glyphs,
}

impl Grid {
    /// Draws the names of the columns, and a rule below them.
    fn head(&self, threads: &[&str]) -> [Line; 2] {
        let mut names = self.begin("step");
        for (thread, name) in threads.iter().enumerate() {
            self.rule(thread, &mut names);
            let column = self.layout.columns[thread];
            let name: String = name.chars().take(column.width).collect();
            names.push(Role::Heading, &name);
            if let Shape::Flat { buffer: Some(at), .. } = column.shape {
                names.pad_to(self.layout.column_at(thread) + at);
                names.push(Role::Faint, BUFFER);
            }
        }
        self.rule(threads.len(), &mut names);
        names.push(Role::Heading, "memory");

        let mut under = Line::default();
        let Glyphs { horizontal, cross, .. } = self.glyphs;
        for thread in 0..=threads.len() {
            under.fill_to(self.layout.column_at(thread) - 2, Role::Faint, horizontal);
            under.push(Role::Faint, &cross.to_string());
        }
        under.fill_to(self.layout.memory_at() + self.layout.memory, Role::Faint, horizontal);
        [names, under]
    }

    fn row(&self, row: &Row) -> Vec<Line> {
        let n_threads = self.layout.columns.len();
        let cells: Vec<Vec<Vec<Piece>>> = (0..n_threads).map(|thread| self.cell(row, thread)).collect();
        let memory = text::wrap(&row.memory, self.layout.memory, 0);
        // An arrow leaves from the last line of the statement.
        let arrow = row.actor.filter(|_| row.writes()).map(|actor| (actor, self.statement_height(row, actor) - 1));
        let memory_from = arrow.map_or(0, |(_, line)| line);
        let height = cells.iter().map(Vec::len).chain([memory_from + memory.len(), 1]).max().unwrap_or(1);
        let line = |index: usize| {
            let mut line = self.begin(if index == 0 { &row.label } else { "" });
            let arrow_from = arrow.filter(|&(_, at)| at == index).map(|(actor, _)| actor);
            for (thread, cell) in cells.iter().enumerate() {
                if arrow_from.is_some_and(|actor| actor < thread) {
                    self.cross(thread, &mut line);
                    continue;
                }
                self.rule(thread, &mut line);
                for (at, role, text) in cell.get(index).into_iter().flatten() {
                    line.pad_to(self.layout.column_at(thread) + at);
                    line.push(*role, text);
                }
            }
            match arrow_from {
                Some(_) => self.arrive(&mut line),
                None => self.rule(n_threads, &mut line),
            }
            if let Some(text) = index.checked_sub(memory_from).and_then(|index| memory.get(index)) {
                line.push(if row.actor.is_some() { Role::Memory } else { Role::Faint }, text);
            }
            line
        };
        (0..height).map(line).collect()
    }

    /// Returns the lines of a row for one thread.
    fn cell(&self, row: &Row, thread: usize) -> Vec<Vec<Piece>> {
        let cell = &row.cells[thread];
        let column = self.layout.columns[thread];
        let buffer_role = if cell.buffer_changed { Role::Buffer } else { Role::Faint };
        match column.shape {
            Shape::Flat { note, buffer, instead } => {
                let mut pieces = vec![(0, Role::Plain, cell.does.clone())];
                if shows_note(cell, instead) {
                    pieces.push((note, Role::Plain, cell.note.clone()));
                }
                let end = pieces.last().map_or(0, |(at, _, text)| at + text::width(text));
                // An arrow replaces the buffer, which the next row shows.
                let arrow = row.writes() && row.actor == Some(thread);
                if let Some(at) = buffer.filter(|&at| end < at && !arrow && !cell.buffer.is_empty()) {
                    pieces.push((at, buffer_role, cell.buffer.clone()));
                }
                vec![pieces]
            }
            Shape::Stacked => {
                let lines = below(cell).into_iter().enumerate().flat_map(|(index, part)| {
                    let at = if index == 0 { 0 } else { 2 };
                    let role = if part.starts_with(BUFFER) { buffer_role } else { Role::Plain };
                    text::wrap(&part, column.width - at, 2).into_iter().map(move |part| vec![(at, role, part)])
                });
                lines.collect()
            }
        }
    }

    /// Returns the number of lines of the statement of `thread`.
    fn statement_height(&self, row: &Row, thread: usize) -> usize {
        let column = self.layout.columns[thread];
        match column.shape {
            Shape::Flat { .. } => 1,
            Shape::Stacked => text::wrap(&row.cells[thread].does, column.width, 2).len().max(1),
        }
    }

    /// Starts a line with `label` in its gutter.
    fn begin(&self, label: &str) -> Line {
        let mut line = Line::default();
        line.pad_to(self.layout.gutter - text::width(label));
        line.push(Role::Faint, label);
        line
    }

    /// Draws the rule to the left of a column.
    fn rule(&self, thread: usize, line: &mut Line) {
        let at = self.layout.column_at(thread);
        line.pad_to(at - 2);
        line.push(Role::Faint, &self.glyphs.vertical.to_string());
        line.pad_to(at);
    }

    /// Draws an arrow through the rule to the left of a column.
    fn cross(&self, thread: usize, line: &mut Line) {
        self.shaft(self.layout.column_at(thread) - 2, line);
        line.push(Role::Memory, &self.glyphs.cross.to_string());
    }

    /// Ends an arrow at the rule to the left of memory.
    fn arrive(&self, line: &mut Line) {
        let at = self.layout.memory_at();
        self.shaft(at - 2, line);
        line.push(Role::Memory, &self.glyphs.head.to_string());
        line.pad_to(at);
    }

    /// Draws an arrow up to column `to`, after a space.
    fn shaft(&self, to: usize, line: &mut Line) {
        let crossed = line.ends_with(self.glyphs.cross);
        if !crossed && line.width() < to {
            line.push(Role::Plain, " ");
        }
        line.fill_to(to, Role::Memory, self.glyphs.horizontal);
    }
}
