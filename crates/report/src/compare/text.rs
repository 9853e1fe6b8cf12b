//! A comparison as text: a line with the numbers of states, a table, and a reason for each state that is added.

use teetotal_engine::Coverage;
use teetotal_program::condition::Condition;
use teetotal_program::ir::printer;

use super::{Added, Answer, Row, SideBySide, first_of};
use crate::outcome::{Detail, Report, paragraph};
use crate::stop;
use crate::words;
use teetotal_timeline::Line;
use teetotal_timeline::Options as Drawing;
use teetotal_timeline::Role;
use teetotal_timeline::Timeline;
use teetotal_timeline::text;

/// The number of rows above which those that every model has are only counted.
const MANY_ROWS: usize = 24;

/// The maximum number of rows that are shown.
const MOST_ROWS: usize = 200;

/// The maximum number of explanations that are shown.
const MANY_REASONS: usize = 12;

impl SideBySide<'_> {
    /// Renders the comparison as text.
    #[must_use]
    pub fn render(&self, detail: Detail, drawing: Drawing) -> String {
        let mut out = String::new();
        let rows = self.rows();
        let mut head = Line::default();
        head.push(Role::Heading, &self.program.name);
        head.push(Role::Plain, &format!(": {}", self.counts(&rows)));
        head.finish(drawing.style, &mut out);
        if detail == Detail::Verdict {
            return out;
        }
        for note in self.notes(&rows) {
            paragraph(&format!("  {note}"), drawing, &mut out);
        }
        if !rows.is_empty() {
            out.push('\n');
            self.write_table(&rows, drawing, &mut out);
        }
        self.write_reasons(&rows, detail, drawing, &mut out);
        out
    }

    /// Returns `3 final states under sc, 4 under tso (complete)`; a stop reason common to all searches is mentioned
    /// once.
    fn counts(&self, rows: &[Row<'_>]) -> String {
        let certainty = |report: &Report<'_>| match report.outcome.coverage {
            Coverage::Complete => "complete".to_owned(),
            Coverage::Stopped(reason) => format!("stopped: {}", stop::reason(self.program, reason)),
        };
        let all: Vec<String> = self.reports.iter().map(certainty).collect();
        let alike = all.windows(2).all(|pair| pair[0] == pair[1]);
        let mut parts = Vec::new();
        for (index, (report, certainty)) in self.reports.iter().zip(&all).enumerate() {
            let has = |row: &&Row<'_>| !row.failed && self.answers(row)[index] == Answer::Yes;
            let n_states = rows.iter().filter(has).count() as u64;
            let states = if index == 0 { words::count(n_states, "final state") } else { n_states.to_string() };
            let name = report.outcome.model.info().name;
            let stopped = !report.outcome.coverage.is_complete();
            let at_least = if stopped && (index == 0 || !alike) { "at least " } else { "" };
            let why = if stopped && !alike { format!(" ({certainty})") } else { String::new() };
            parts.push(format!("{at_least}{states} under {name}{why}"));
        }
        let why = all.first().filter(|_| alike).map_or_else(String::new, |certainty| format!(" ({certainty})"));
        format!("{}{why}", parts.join(", "))
    }

    /// Adds the question, and what weakens the table.
    fn notes(&self, rows: &[Row<'_>]) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(condition) = &self.program.condition {
            let word = if matches!(condition, Condition::Exists(_)) { "asks" } else { "requires" };
            let mark = if rows.iter().any(|row| row.wanted) { "* " } else { "" };
            notes.push(format!("{mark}{word}: {}", printer::condition(self.program, condition)));
        }
        if rows.iter().any(|row| self.answers(row).contains(&Answer::Unknown)) {
            notes.push("? not found so far: the search was stopped".to_owned());
        }
        if rows.is_empty() {
            let so_far = if self.is_complete() { "" } else { " so far" };
            notes.push(format!("note: no execution ended{so_far}"));
        }
        let mut helps: Vec<String> = Vec::new();
        for report in self.reports {
            if let Coverage::Stopped(reason) = report.outcome.coverage {
                helps.extend(stop::help(self.program, &report.options.limits, reason));
            }
        }
        helps.dedup();
        notes.extend(helps.into_iter().map(|help| format!("help: {help}")));
        notes
    }

    fn write_table(&self, rows: &[Row<'_>], drawing: Drawing, out: &mut String) {
        let names: Vec<&str> = self.reports.iter().map(|report| report.outcome.model.info().name).collect();
        let widths: Vec<usize> = names.iter().map(|name| text::width(name).max(3)).collect();
        let cells: Vec<(&str, Role)> = names.iter().map(|&name| (name, Role::Heading)).collect();
        write_row(&cells, &widths, "", drawing, out);
        let is_common = |row: &&Row<'_>| self.answers(row).iter().all(|&answer| answer == Answer::Yes);
        let fold = rows.len() > MANY_ROWS;
        let shown = rows.iter().filter(|row| !fold || !is_common(row));
        for row in shown.clone().take(MOST_ROWS) {
            let cells: Vec<_> = self.answers(row).into_iter().map(|answer| (answer.word(), answer.role())).collect();
            let mark = if row.wanted { "*" } else { " " };
            write_row(&cells, &widths, &format!("{mark} {}", row.text), drawing, out);
        }
        let common = if fold { rows.iter().filter(is_common).count() } else { 0 };
        if common > 0 {
            let cells: Vec<_> = names.iter().map(|_| (Answer::Yes.word(), Answer::Yes.role())).collect();
            write_row(&cells, &widths, &format!("  ({common} more)"), drawing, out);
        }
        let cut = shown.count().saturating_sub(MOST_ROWS);
        if cut > 0 {
            out.push_str(&format!("  and {cut} more; `--format json` has them all\n"));
        }
    }

    fn write_reasons(&self, rows: &[Row<'_>], detail: Detail, drawing: Drawing, out: &mut String) {
        let mut added: Vec<(usize, &Row<'_>)> =
            rows.iter().filter_map(|row| Some((first_of(row)?, row))).filter(|&(first, _)| first > 0).collect();
        added.sort_by_key(|&(first, row)| (first, !row.wanted));
        for &(_, row) in added.iter().take(MANY_REASONS) {
            if let Some(added) = self.added(row) {
                out.push('\n');
                self.write_reason(row, &added, detail, drawing, out);
            }
        }
        if added.len() > MANY_REASONS {
            let more = added.len() - MANY_REASONS;
            out.push_str(&format!("\nand {more} more; `--format json` explains them all\n"));
        }
    }

    fn write_reason(&self, row: &Row<'_>, added: &Added, detail: Detail, drawing: Drawing, out: &mut String) {
        let [model, before] = [added.model, added.before].map(|model| model.info().name);
        let is_open = self.answers(row).contains(&Answer::Unknown);
        let title = match (is_open, row.failed) {
            (true, _) => format!("found under {model}, not so far under {before}: {}", row.text),
            (false, true) => format!("{model} adds: {}", row.text),
            (false, false) => format!("{model} adds {}", row.text),
        };
        paragraph(&title, drawing, out);
        let reason = added
            .reason
            .clone()
            .unwrap_or_else(|| format!("{before} allows this execution too: its search was stopped too early"));
        paragraph(&format!("  {reason}"), drawing, out);
        let command = format!("teetotal replay {} {}", words::argument(self.program), added.token);
        if detail == Detail::Witness {
            out.push('\n');
            let timeline = Timeline { program: self.program, trace: &added.trace, model: added.model, outcome: None };
            out.push_str(&timeline.render(drawing));
            out.push_str(&format!("\nreplay: {command}\n"));
        } else {
            out.push_str(&format!("  show: {command}\n"));
        }
    }
}

impl Answer {
    fn word(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "-",
            Answer::Unknown => "?",
        }
    }

    fn role(self) -> Role {
        match self {
            Answer::Yes => Role::Heading,
            Answer::No => Role::Faint,
            Answer::Unknown => Role::Doubtful,
        }
    }
}

/// Writes the cells and `end`, whose first two columns are a mark; long text continues on the next line.
fn write_row(cells: &[(&str, Role)], widths: &[usize], end: &str, drawing: Drawing, out: &mut String) {
    let before = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
    let mark = end.chars().take(2).collect::<String>();
    let rest: String = end.chars().skip(2).collect();
    let parts = text::wrap(&rest, drawing.width.saturating_sub(before + 2).max(20), 0);
    for index in 0..parts.len().max(1) {
        let mut line = Line::default();
        if index == 0 {
            let mut column = 2;
            for (&(text, role), width) in cells.iter().zip(widths) {
                line.pad_to(column);
                line.push(role, text);
                column += width + 2;
            }
            line.pad_to(before);
            line.push(Role::Plain, &mark);
        }
        line.pad_to(before + 2);
        line.push(Role::Plain, parts.get(index).map_or("", String::as_str));
        line.finish(drawing.style, out);
    }
}
