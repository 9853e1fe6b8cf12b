//! The result of a search as text: the verdict, the reason, and one execution that shows it.

use std::sync::Arc;

use teetotal_check::{Options, Outcome, Violation, Witness};
use teetotal_engine::{Coverage, StopReason, Token};
use teetotal_judge::MonitorId;
use teetotal_program::ir::{Program, printer};

use crate::finding;
use crate::robustness;
use crate::sample;
use crate::stop;
use crate::verdict::{Verdict, asks, asserts, certainty};
use crate::words;
use teetotal_timeline::Line;
use teetotal_timeline::Role;
use teetotal_timeline::Timeline;
use teetotal_timeline::text;
use teetotal_timeline::{Options as Drawing, Style};

/// The report on a search: the program, the options and the outcome.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The program; the command for `teetotal replay` names its file, or its name if it has none.
    pub program: &'a Arc<Program>,
    pub options: &'a Options,
    pub outcome: &'a Outcome,
}

/// How detailed a report is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The verdict line only.
    Verdict,
    /// The verdict, notes, and the execution of a violation.
    Brief,
    /// In addition, an execution that answers the question of the program, if there is one.
    Witness,
}

/// The maximum number of violations that are listed.
const MANY: usize = 5;

impl Report<'_> {
    /// Returns the verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.program, self.options, self.outcome)
    }

    /// Returns the verdict line, `SB: holds under sc (complete, 9 states)`, without a line feed.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let mut line = String::new();
        self.write_verdict(Style::default(), &mut line);
        line.trim_end().to_owned()
    }

    /// Renders the report as text.
    #[must_use]
    pub fn render(&self, detail: Detail, drawing: Drawing) -> String {
        let mut out = String::new();
        self.write_verdict(drawing.style, &mut out);
        if detail == Detail::Verdict {
            return out;
        }
        for note in self.notes() {
            paragraph(&format!("  {note}"), drawing, &mut out);
        }
        if let [first, others @ ..] = self.outcome.violations.as_slice() {
            self.write_violation(first, drawing, &mut out);
            self.write_others(others, drawing, &mut out);
            self.write_fences(drawing, &mut out);
        } else if let (true, Some(witness)) = (asks(self.program, self.options), &self.outcome.satisfying) {
            self.write_witness(witness, detail, drawing, &mut out);
        }
        out
    }

    fn write_verdict(&self, style: Style, out: &mut String) {
        let role = match self.verdict() {
            Verdict::Violated => Role::Bad,
            Verdict::Holds | Verdict::Observed | Verdict::NeverObserved => Role::Good,
            Verdict::NotObservedYet | Verdict::NotViolatedYet | Verdict::Vacuous => Role::Doubtful,
        };
        let mut line = Line::default();
        let certainty = certainty(self.program, self.options, self.outcome);
        line.push(Role::Heading, &self.program.name);
        line.push(Role::Plain, ": ");
        line.push(role, self.verdict().words());
        line.push(Role::Plain, &format!(" under {} ({certainty})", self.outcome.model.info().name));
        line.finish(style, out);
    }

    /// Adds the question, what weakens the claim, and what to try.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (true, Some(condition)) = (asks(self.program, self.options), &self.program.condition) {
            let answer = match (self.verdict(), &self.outcome.satisfying) {
                (Verdict::Violated, Some(_)) => ", which is observed",
                (Verdict::Violated, None) if self.outcome.coverage.is_complete() => ", which is never observed",
                _ => "",
            };
            notes.push(format!("asks: {}{answer}", printer::condition(self.program, condition)));
        }
        notes.extend(self.robust());
        notes.extend(sample::describe(self.options, self.outcome).into_iter().map(|note| format!("note: {note}")));
        if let Some(filter) = &self.program.filter {
            notes.push(format!("filter: {}", printer::proposition(self.program, filter)));
        }
        notes.extend(self.vacuity().map(|note| format!("note: {note}")));
        notes.extend(self.waiting().map(|note| format!("note: {note}")));
        if self.program.n_operations() == 0 {
            notes.push("note: no thread uses shared memory, so this is the answer under every model".to_owned());
        }
        if let Coverage::Stopped(reason) = self.outcome.coverage
            && reason != StopReason::Violation
        {
            notes.extend(stop::help(self.program, &self.options.limits, reason).map(|help| format!("help: {help}")));
        }
        notes
    }

    /// Adds what follows if a program is robust.
    fn robust(&self) -> Option<String> {
        let Report { options, outcome, .. } = self;
        let complete = outcome.violations.is_empty() && outcome.coverage.is_complete() && !outcome.is_vacuous();
        if !options.question().is_robustness() || !complete {
            return None;
        }
        let model = outcome.model.info().name.to_uppercase();
        let also = options.monitors.iter().any(|id| !id.is_about_robustness());
        let correct = if also { ", and all of them are correct" } else { "" };
        Some(format!("every {model} execution is sequentially consistent{correct}"))
    }

    /// Adds whether an execution that is not sequentially consistent also violates a check, after a search of the model
    /// itself.
    #[must_use]
    pub fn confirmation(&self) -> String {
        let Report { program, outcome, .. } = self;
        let model = outcome.model.info().name;
        match (outcome.violations.first(), outcome.coverage.is_complete()) {
            (Some(violation), _) => {
                let lines = finding::describe(program, &violation.finding, &violation.trace);
                let what = lines.first().map_or("a check is violated", String::as_str);
                let command = format!("teetotal replay {} {}", words::argument(program), violation.token);
                format!("confirmed under {model}: {what}\n  {command}")
            }
            (None, true) => format!("not confirmed: no execution under {model} violates another check"),
            (None, false) => {
                let certainty = certainty(program, self.options, outcome);
                format!(
                    "not confirmed so far: no execution under {model} was found that violates another check ({certainty})"
                )
            }
        }
    }

    /// Adds what was not checked although it may seem so.
    fn vacuity(&self) -> Option<String> {
        let Report { program, options, outcome } = self;
        let checks_condition = options.monitors.contains(&MonitorId::Condition) && program.condition.is_some();
        match self.verdict() {
            Verdict::Vacuous if !outcome.is_vacuous() => {
                Some("no execution ended, so the condition was never evaluated".to_owned())
            }
            Verdict::Vacuous if program.filter.is_some() => {
                Some("the filter or an assumption rules out every execution".to_owned())
            }
            Verdict::Vacuous => Some("every execution ends at an assumption that does not hold".to_owned()),
            Verdict::Holds | Verdict::NeverObserved if checks_condition && outcome.stats.completed == 0 => {
                Some("no execution ended, so the condition was never evaluated".to_owned())
            }
            Verdict::Holds if options.question().is_robustness() => None,
            Verdict::Holds if !checks_condition && !asserts(program) => {
                let looked_for: Vec<&str> = options.monitors.iter().rev().filter_map(|id| what_is_left(*id)).collect();
                match looked_for.as_slice() {
                    [] => Some("the program has nothing for these checks to check".to_owned()),
                    _ => Some(format!("the program has no assertions; checked only for {}", words::list(&looked_for))),
                }
            }
            _ => None,
        }
    }

    /// Adds that some execution is blocked forever, if no check reports it.
    fn waiting(&self) -> Option<String> {
        let Report { options, outcome, .. } = self;
        let is_said = options.monitors.contains(&MonitorId::Deadlock) || outcome.stats.blocked == 0;
        (!is_said).then(|| "in some execution a thread is blocked forever; `--check deadlock` shows one".to_owned())
    }

    fn write_violation(&self, violation: &Violation, drawing: Drawing, out: &mut String) {
        let Report { program, .. } = self;
        out.push('\n');
        for line in finding::describe(program, &violation.finding, &violation.trace) {
            paragraph(&line, drawing, out);
        }
        out.push('\n');
        let timeline = Timeline { program, trace: &violation.trace, model: violation.model, outcome: None };
        out.push_str(&timeline.render(drawing));
        out.push('\n');
        if violation.is_minimal {
            out.push_str("No execution shows this with fewer context switches, then commits, then steps.\n");
        }
        let command = |token: &Token| format!("teetotal replay {} {token}", words::argument(program));
        out.push_str(&format!("replay: {}\n", command(&violation.token)));
        if let Some(token) = &violation.seen_in {
            let executions = words::count(violation.executions, "execution");
            out.push_str(&format!("seen in {executions} of sc, first in: {}\n", command(token)));
        }
    }

    /// Adds one line and a token for each violation after the first.
    fn write_others(&self, others: &[Violation], drawing: Drawing, out: &mut String) {
        if others.is_empty() {
            return;
        }
        let n = others.len() as u64;
        out.push_str(&format!("\n{}:\n", words::count(n, "more violation")));
        for violation in others.iter().take(MANY) {
            let lines = finding::describe(self.program, &violation.finding, &violation.trace);
            if let Some(line) = lines.first() {
                let count = match violation.seen_in {
                    Some(_) => format!(" (in {})", words::count(violation.executions, "execution")),
                    None => String::new(),
                };
                paragraph(&format!("  {line}{count}"), drawing, out);
            }
            out.push_str(&format!("    teetotal replay {} {}\n", words::argument(self.program), violation.token));
        }
        if others.len() > MANY {
            out.push_str(&format!("  and {} more\n", others.len() - MANY));
        }
    }

    /// Adds the fences that make the program robust.
    fn write_fences(&self, drawing: Drawing, out: &mut String) {
        let fences = robustness::fences(self.program, self.outcome);
        if fences.is_empty() || !self.outcome.coverage.is_complete() {
            return;
        }
        let noun = if fences.len() == 1 { "one full fence makes" } else { "full fences make" };
        out.push('\n');
        paragraph(&format!("{noun} the program robust: {}", words::list(&fences)), drawing, out);
    }

    /// Adds the execution that the program asks for.
    fn write_witness(&self, witness: &Witness, detail: Detail, drawing: Drawing, out: &mut String) {
        let Report { program, outcome, .. } = self;
        let command = format!("teetotal replay {} {}", words::argument(program), witness.token);
        if detail == Detail::Brief {
            out.push_str(&format!("  show: {command}\n"));
            return;
        }
        out.push('\n');
        let timeline =
            Timeline { program, trace: &witness.trace, model: outcome.explored, outcome: Some(&witness.values) };
        out.push_str(&timeline.render(drawing));
        out.push_str(&format!("\nreplay: {command}\n"));
    }
}

/// Adds a line, wrapped if it is too long; continuation lines are indented by two more columns.
pub(crate) fn paragraph(line: &str, drawing: Drawing, out: &mut String) {
    let indent = line.len() - line.trim_start().len();
    for (index, part) in text::wrap(line.trim_start(), drawing.width.saturating_sub(indent), 2).iter().enumerate() {
        let mut line = Line::default();
        line.pad_to(indent);
        let role = if index == 0 && indent == 0 { Role::Heading } else { Role::Plain };
        line.push(role, part);
        line.finish(drawing.style, out);
    }
}

/// Returns what a monitor checks in a program without assertions and condition.
fn what_is_left(monitor: MonitorId) -> Option<&'static str> {
    match monitor {
        MonitorId::Assertion => Some("failures such as a division by zero"),
        MonitorId::Condition => None,
        MonitorId::Deadlock => Some("deadlock"),
        MonitorId::Races => Some("data races"),
        MonitorId::Robustness | MonitorId::Sober | MonitorId::SoberAsPrinted | MonitorId::Buffers => None,
    }
}
