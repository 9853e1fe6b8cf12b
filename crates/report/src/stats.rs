//! The statistics of a search as text.

use teetotal_check::SearchId;
use teetotal_engine::{Limits, Stats};

use super::outcome::Report;
use crate::words::bytes;

impl Report<'_> {
    /// Returns names and values of all counts, for a table; the caller measures elapsed time.
    #[must_use]
    pub fn stats(&self) -> Vec<(&'static str, String)> {
        let Stats { executions, completed, blocked, discarded, failed, abandoned, .. } = self.outcome.stats;
        let Stats { classes, solver_calls, solver_work, states, coarse, steps, .. } = self.outcome.stats;
        let Stats { bytes: size, pending, .. } = self.outcome.stats;
        let mut stats = vec![
            ("search", format!("{}, since {}", self.outcome.search, self.outcome.search_reason)),
            ("limits", limits(&self.options.limits, self.outcome.search)),
            ("states", states.to_string()),
            (
                "executions",
                format!(
                    "{executions} ({completed} completed, {blocked} blocked, {discarded} discarded, {failed} failed)"
                ),
            ),
            ("abandoned", abandoned.to_string()),
            ("steps", steps.to_string()),
            ("memory", bytes(size)),
            ("pending", pending.to_string()),
        ];
        if coarse > 0 {
            stats.push(("coarse", coarse.to_string()));
        }
        if classes > 0 {
            stats.push(("classes", classes.to_string()));
        }
        if solver_calls > 0 {
            stats.push(("solver calls", solver_calls.to_string()));
            stats.push(("solver work", format!("{solver_work} frontiers and conflicts")));
        }
        stats
    }
}

/// Returns the limits that are set and applied.
fn limits(limits: &Limits, search: SearchId) -> String {
    let heeded = |name: &str| search.info().limits.contains(&name);
    let set = limits.entries().into_iter().filter_map(|(name, value)| {
        let value = value.filter(|_| heeded(name))?;
        Some(if name == "memory" { format!("{name} {}", bytes(value)) } else { format!("{name} {value}") })
    });
    let set: Vec<String> = set.collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
