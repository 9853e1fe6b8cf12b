//! A line of output under construction.

use crate::ansi::Role;
use crate::style::Style;
use crate::text;

/// Pieces of text from left to right, each with its role.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pieces: Vec<(Role, String)>,
    width: usize,
}

impl Line {
    pub fn push(&mut self, role: Role, text: &str) {
        self.width += text::width(text);
        self.pieces.push((role, text.to_owned()));
    }

    /// Pads to column `to` with `fill`.
    pub fn fill_to(&mut self, to: usize, role: Role, fill: char) {
        let missing = to.saturating_sub(self.width);
        self.push(role, &fill.to_string().repeat(missing));
    }

    /// Pads to column `to` with spaces.
    pub fn pad_to(&mut self, to: usize) {
        self.fill_to(to, Role::Plain, ' ');
    }

    pub fn ends_with(&self, end: char) -> bool {
        self.pieces.last().is_some_and(|(_, text)| text.ends_with(end))
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the line without trailing spaces, with a line feed.
    pub fn finish(mut self, style: Style, out: &mut String) {
        while let Some((_, text)) = self.pieces.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.pieces.pop();
        }
        for (role, text) in &self.pieces {
            match style.color {
                true if !text.trim().is_empty() => out.push_str(&role.paint(text)),
                _ => out.push_str(text),
            }
        }
        out.push('\n');
    }
}
