//! An error in a source text: what, where, and what to do.

use std::ops::Range;

use teetotal_program::{Source, Span};

/// A message about one place in a source.
#[derive(Clone, Copy, Debug)]
pub struct Snippet<'a> {
    /// The message, to follow `error: `.
    pub message: &'a str,
    /// The source that contains the place.
    pub source: &'a Source,
    /// The place; one outside of the text is named, but not shown.
    pub span: Span,
    /// The label beside the marks.
    pub label: Option<&'a str>,
    /// Help lines.
    pub help: Option<&'a str>,
}

/// The maximum line length; longer lines are truncated around the place.
const MAX_COLUMNS: usize = 100;

/// The number of columns that a truncated line keeps before the place.
const BEFORE: usize = 30;

/// The distance of tab stops in columns.
const TAB: usize = 4;

const CUT: &str = "...";

impl Snippet<'_> {
    /// Renders the message, the line with its place marked, and the help; ends with a line feed.
    #[must_use]
    pub fn render(&self) -> String {
        let Span { line, column, .. } = self.span;
        let number = line.to_string();
        let gutter = " ".repeat(number.len() + 1);
        let mut out = format!("error: {}\n", self.message);
        out.push_str(&format!("{gutter}--> {}:{line}:{column}\n", self.source.name));
        if let Some(text) = self.line() {
            let (text, marked) = window(&cells(text), self.marked(text));
            let label = self.label.map_or_else(String::new, |label| format!(" {label}"));
            let marks = format!("{}{}{label}", " ".repeat(marked.start), "^".repeat(marked.len().max(1)));
            let shown = format!(" {number} | {text}");
            out.push_str(&format!("{gutter} |\n{}\n{gutter} | {marks}\n", shown.trim_end()));
        } else if let Some(label) = self.label {
            out.push_str(&format!("{gutter} = {label}\n"));
        }
        if let Some(help) = self.help {
            out.push_str(&format!("help: {help}\n"));
        }
        out
    }

    /// Returns the line of the place, without its line feed.
    fn line(&self) -> Option<&str> {
        let index = usize::try_from(self.span.line).ok()?.checked_sub(1)?;
        let text = self.source.text.as_deref()?;
        // After a final line feed comes an empty line; an unexpected end of the text is there.
        let line = text.split('\n').nth(index)?;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Returns the characters of `line` that the place covers, at most one past the end.
    fn marked(&self, line: &str) -> Range<usize> {
        let n_characters = line.chars().count();
        let start = (self.span.column.max(1) as usize - 1).min(n_characters);
        let end = start.saturating_add(self.span.length as usize).min(n_characters);
        start..end
    }
}

/// Returns each character of a line as displayed, with its width in columns.
fn cells(line: &str) -> Vec<(String, usize)> {
    let mut cells = Vec::new();
    let mut column = 0;
    for c in line.chars() {
        let cell = match c {
            '\t' => {
                let width = TAB - column % TAB;
                (" ".repeat(width), width)
            }
            c if c.is_control() || is_bidirectional(c) => ('\u{fffd}'.to_string(), 1),
            c => (c.to_string(), columns(c)),
        };
        column += cell.1;
        cells.push(cell);
    }
    cells
}

/// Returns the text of the cells, truncated if it is too long, and the columns of the marked ones.
fn window(cells: &[(String, usize)], marked: Range<usize>) -> (String, Range<usize>) {
    let width = |range: Range<usize>| cells[range].iter().map(|(_, width)| width).sum::<usize>();
    if width(0..cells.len()) <= MAX_COLUMNS {
        let start = width(0..marked.start);
        return (text_of(cells), start..start + width(marked));
    }
    let mut first = marked.start;
    let mut room = BEFORE;
    while first > 0 && cells[first - 1].1 <= room {
        first -= 1;
        room -= cells[first].1;
    }
    let mut last = first;
    let mut room = MAX_COLUMNS;
    while last < cells.len() && cells[last].1 <= room {
        room -= cells[last].1;
        last += 1;
    }
    let before = if first > 0 { CUT } else { "" };
    let after = if last < cells.len() { CUT } else { "" };
    let start = before.len() + width(first..marked.start);
    let text = format!("{before}{}{after}", text_of(&cells[first..last]));
    (text, start..start + width(marked.start..marked.end.clamp(marked.start, last)))
}

fn text_of(cells: &[(String, usize)]) -> String {
    cells.iter().map(|(text, _)| text.as_str()).collect()
}

/// Returns whether a character changes the direction of the text around it, so that text is displayed in another order.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the width of a character on most terminals.
fn columns(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}
