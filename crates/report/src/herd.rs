//! A report as herd7 prints it, so that results can be compared line by line.

use teetotal_judge::MonitorId;
use teetotal_program::condition::{Condition, Formula};
use teetotal_program::ir::printer;

use crate::finding;
use crate::outcome::Report;
use crate::state;
use crate::tally::Tally;
use crate::verdict::{Verdict, certainty};

impl Report<'_> {
    /// Renders the block that herd7 prints for one test, including the blank line after it.
    ///
    /// `seconds` is printed in the `Time` line. The `Hash` line is omitted: it is a hash of the test that only herd7
    /// computes.
    #[must_use]
    pub fn herd(&self, tally: Tally, seconds: f64) -> String {
        let Report { program, outcome, .. } = self;
        let name = &program.name;
        let demand = Condition::ForAll(Formula::True);
        let condition = program.condition.as_ref().unwrap_or(&demand);
        let Tally { holding, failing } = tally;
        let (kind, positive, negative, ok) = match condition {
            Condition::Exists(_) => ("Allowed", holding, failing, holding > 0),
            Condition::NotExists(_) => ("Forbidden", failing, holding, holding == 0),
            Condition::ForAll(_) => ("Required", holding, failing, failing == 0),
        };
        let states = state::states(program, outcome);
        let mut out = format!("Test {name} {kind}\nStates {}\n", states.len());
        for state in states {
            out.push_str(&state);
            out.push('\n');
        }
        // herd7 marks incomplete results like this.
        let limited = if outcome.coverage.is_complete() { "" } else { "Loop " };
        let answer = if ok { "Ok" } else { "No" };
        let shown = printer::condition(program, condition);
        let word = tally.word();
        out.push_str(&format!("{limited}{answer}\nWitnesses\nPositive: {positive} Negative: {negative}\n"));
        out.push_str(&format!("Condition {shown}\nObservation {name} {word} {holding} {failing}\n"));
        out.push_str(&format!("Time {name} {seconds:.2}\n\n"));
        out
    }

    /// Returns notes for which the format of herd7 has no place, one per line.
    #[must_use]
    pub fn beside_herd(&self) -> Vec<String> {
        let Report { program, options, outcome } = self;
        let head = format!("{} under {}", program.name, outcome.model.info().name);
        let wrong = outcome.violations.iter().filter(|violation| violation.monitor != MonitorId::Condition);
        let wrong = wrong.filter_map(|v| finding::describe(program, &v.finding, &v.trace).into_iter().next());
        let mut lines: Vec<String> = wrong.map(|line| format!("{head}: {line}")).collect();
        if self.verdict() == Verdict::Vacuous || !outcome.coverage.is_complete() {
            lines.push(format!("{head}: {}", certainty(program, options, outcome)));
        }
        lines
    }
}
