//! Shows an execution: a column for each thread, time downward, and an explanation in words.

use teetotal_memory::{Event, EventKind, ModelId, Trace};
use teetotal_program::Value;
use teetotal_program::ir::Program;

use crate::ansi::Role;
use crate::line::Line;
use crate::style::Options;
use crate::text;

mod cycle;
mod grid;
mod layout;
mod list;
mod names;
mod rows;
mod words;

/// An execution to show.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a> {
    pub program: &'a Program,
    /// The execution of `program` under `model`, complete or up to some step.
    pub trace: &'a Trace,
    pub model: ModelId,
    /// The final values of [`Program::observed`], if they are known.
    pub outcome: Option<&'a [Value]>,
}

/// What a thread did between two steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The number of steps before it.
    pub after: usize,
    /// The thread, by its number.
    pub thread: usize,
    pub text: String,
}

impl Timeline<'_> {
    /// Renders the execution as text: the steps, the outcome, and an explanation.
    ///
    /// The text is a function of the arguments. Steps are counted from 1.
    #[must_use]
    pub fn render(&self, options: Options) -> String {
        let mut out = self.render_steps(options);
        if let Some(outcome) = self.outcome {
            out.push('\n');
            paragraph(&format!("Outcome: {}", self.program.show_outcome(outcome)), 2, options, &mut out);
        }
        let words = self.render_words(options);
        if !words.is_empty() {
            out.push('\n');
            out.push_str(&words);
        }
        out
    }

    /// Renders the steps only: side by side if the width allows it, otherwise one after the other.
    #[must_use]
    pub fn render_steps(&self, options: Options) -> String {
        self.render_steps_with(&[], options)
    }

    /// Renders the steps only, with rows for what threads did between them, in this order.
    #[must_use]
    pub fn render_steps_with(&self, notes: &[Note], options: Options) -> String {
        let rows = rows::rows_with(self, notes, options.style.glyphs());
        let threads: Vec<&str> = self.program.threads.iter().map(|thread| thread.name.as_str()).collect();
        grid::draw(&rows, &threads, options).unwrap_or_else(|| list::draw(&rows, &threads, options))
    }

    /// Renders the explanation only, which is empty if there is nothing to explain.
    #[must_use]
    pub fn render_words(&self, options: Options) -> String {
        let mut out = String::new();
        let cycle = cycle::shortest(self.trace);
        for sentence in words::sentences(self, cycle.as_deref()) {
            paragraph(&sentence, 2, options, &mut out);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        match cycle {
            Some(cycle) => {
                paragraph(words::IMPOSSIBLE, 0, options, &mut out);
                cycle::draw(self, &cycle, options, &mut out);
            }
            None if self.model != ModelId::STRONGEST && !self.trace.steps().is_empty() => {
                paragraph(words::POSSIBLE, 0, options, &mut out);
            }
            None => {}
        }
        out
    }
}

/// Adds `text`, wrapped into lines, all but the first indented.
fn paragraph(text: &str, indent: usize, options: Options, out: &mut String) {
    for part in text::wrap(text, options.width, indent) {
        let mut line = Line::default();
        line.push(Role::Plain, &part);
        line.finish(options.style, out);
    }
}

/// Returns the alternative that the step of an event took, if it had several.
#[must_use]
pub fn alternative(trace: &Trace, event: &Event) -> Option<Value> {
    let same = |other: &&Event| other.step == event.step && other.kind == EventKind::Choose;
    trace.events().iter().find(same).and_then(|choice| choice.read)
}
