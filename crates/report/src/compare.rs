//! Models side by side: which final states each allows, and why a weaker one allows more.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_check::{CheckError, Violation};
use teetotal_engine::{Coverage, Schedule, Token, trace_of};
use teetotal_judge::MonitorId;
use teetotal_judge::axiomatic::accepts;
use teetotal_memory::{ModelId, Trace};
use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;
use teetotal_program::{Loc, Value};

use crate::finding;
use crate::outcome::Report;
use crate::reason;
use crate::state::{Shown, shows};

mod json;
mod text;

/// The results of several models for one program, side by side.
#[derive(Clone, Copy, Debug)]
pub struct SideBySide<'a> {
    pub program: &'a Arc<Program>,
    /// The outcome under each model, the strongest first.
    pub reports: &'a [Report<'a>],
}

/// An end of executions, and the models that allow it.
struct Row<'a> {
    text: String,
    /// Whether it is a violation; otherwise it is a final state.
    failed: bool,
    /// Whether the program asks for the state, or forbids it.
    wanted: bool,
    /// For each model an execution with this end, if one was found.
    examples: Vec<Option<Example<'a>>>,
}

/// An execution that leads to a row.
#[derive(Clone, Copy)]
enum Example<'a> {
    State(&'a Schedule),
    Failure(&'a Violation),
}

/// Whether a row was found under one model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Yes,
    No,
    /// Not found, but the search is incomplete.
    Unknown,
}

/// How the first model with a row differs from the one before it.
struct Added {
    model: ModelId,
    before: ModelId,
    trace: Trace,
    token: Token,
    /// The reason; `None` if the stronger model allows the execution too but was not searched completely.
    reason: Option<String>,
}

impl<'a> SideBySide<'a> {
    /// Returns whether the search was complete under every model.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reports.iter().all(|report| report.outcome.coverage.is_complete())
    }

    /// Checks every execution that explains what a model adds against the axiomatic definition of the model.
    pub fn confirm(&self) -> Result<(), CheckError> {
        let initial = |loc: Loc| self.program.locations[loc.index()].initial;
        for added in self.rows().iter().filter_map(|row| self.added(row)) {
            accepts(added.model, &added.trace, initial).map_err(|rejection| CheckError::Disagreement {
                model: added.model.info().name,
                reason: rejection.to_string(),
                token: added.token.to_string(),
            })?;
        }
        Ok(())
    }

    /// Returns the final states in the order of their text, then the violations.
    fn rows(&self) -> Vec<Row<'a>> {
        let n_models = self.reports.len();
        let mut rows: BTreeMap<(bool, String), Row<'a>> = BTreeMap::new();
        let mut add = |index: usize, failed: bool, text: String, wanted: bool, example: Example<'a>| {
            let key = (failed, text.clone());
            let row =
                rows.entry(key).or_insert_with(|| Row { text, failed, wanted: false, examples: vec![None; n_models] });
            row.wanted |= wanted;
            row.examples[index].get_or_insert(example);
        };
        for (index, report) in self.reports.iter().enumerate() {
            for (values, schedule) in &report.outcome.states {
                let text = self.program.show_outcome(values);
                let text = if text.is_empty() { "(nothing is observed)".to_owned() } else { text };
                add(index, false, text, self.is_wanted(values), Example::State(schedule));
            }
            let failures = report.outcome.violations.iter().filter(|v| v.monitor != MonitorId::Condition);
            for violation in failures {
                let lines = finding::describe(self.program, &violation.finding, &violation.trace);
                let text = lines.into_iter().next().unwrap_or_default();
                add(index, true, text, true, Example::Failure(violation));
            }
        }
        rows.into_values().collect()
    }

    fn is_wanted(&self, values: &[Value]) -> bool {
        let Some(condition) = &self.program.condition else { return false };
        let state = Shown { program: self.program, values };
        shows(self.program, condition.formula())
            && match condition {
                Condition::Exists(formula) => formula.holds(&state),
                Condition::NotExists(_) | Condition::ForAll(_) => condition.is_broken_by(&state),
            }
    }

    /// Returns whether each model has a row. What one model has, the weaker ones have too.
    fn answers(&self, row: &Row<'_>) -> Vec<Answer> {
        let first = first_of(row).unwrap_or(self.reports.len());
        let answer = |(index, report): (usize, &Report<'_>)| match report.outcome.coverage {
            _ if index >= first => Answer::Yes,
            Coverage::Complete => Answer::No,
            Coverage::Stopped(_) => Answer::Unknown,
        };
        self.reports.iter().enumerate().map(answer).collect()
    }

    /// Returns what the first model with this row adds; `None` for a row of the strongest one.
    fn added(&self, row: &Row<'_>) -> Option<Added> {
        let first = first_of(row)?;
        let stronger = self.reports.get(first.checked_sub(1)?)?.outcome;
        let before = stronger.model;
        let model = self.reports[first].outcome.model;
        let (trace, token) = match row.examples[first]? {
            Example::State(schedule) => {
                let again = trace_of(self.program, model, schedule);
                (again.trace, again.token)
            }
            Example::Failure(violation) => (violation.trace.clone(), violation.token.clone()),
        };
        let reason = reason::reason(self.program, &trace, before).or_else(|| {
            let is_impossible = stronger.coverage.is_complete();
            is_impossible.then(|| reason::late_store(self.program, &trace)).flatten()
        });
        Some(Added { model, before, trace, token, reason })
    }
}

/// Returns the position of the first model under which a row was found.
fn first_of(row: &Row<'_>) -> Option<usize> {
    row.examples.iter().position(Option::is_some)
}
