//! A report as herd7 prints it, so that results can be compared line by line.

use teetotal_judge::MonitorId;
use teetotal_program::condition::{Comparison, Condition, Formula, Operand};
use teetotal_program::ir::Program;

use crate::finding;
use crate::outcome::Report;
use crate::state;
use crate::tally::Tally;
use crate::verdict::certainty;

impl Report<'_> {
    /// The block of herd7 for one test, up to and with the blank line after it.
    ///
    /// `seconds` is what the `Time` line says. The `Hash` line is left out: it is a hash of the text of the test that
    /// only herd7 knows how to make.
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
        // This is how herd7 says that it did not look at everything.
        let limited = if outcome.coverage.is_complete() { "" } else { "Loop " };
        let answer = if ok { "Ok" } else { "No" };
        let shown = show_condition(program, condition);
        let word = tally.word();
        out.push_str(&format!("{limited}{answer}\nWitnesses\nPositive: {positive} Negative: {negative}\n"));
        out.push_str(&format!("Condition {shown}\nObservation {name} {word} {holding} {failing}\n"));
        out.push_str(&format!("Time {name} {seconds:.2}\n\n"));
        out
    }

    /// What there is to say that the block of herd7 has no words for, a line each.
    #[must_use]
    pub fn beside_herd(&self) -> Vec<String> {
        let Report { program, outcome, .. } = self;
        let head = format!("{} under {}", program.name, outcome.model.info().name);
        let wrong = outcome.violations.iter().filter(|violation| violation.monitor != MonitorId::Condition);
        let wrong = wrong.filter_map(|v| finding::describe(program, &v.finding, &v.trace).into_iter().next());
        let mut lines: Vec<String> = wrong.map(|line| format!("{head}: {line}")).collect();
        if outcome.is_vacuous() || !outcome.coverage.is_complete() {
            lines.push(format!("{head}: {}", certainty(program, outcome)));
        }
        lines
    }
}

/// A condition with as few parentheses as `/\` before `\/` allows.
pub(crate) fn show_condition(program: &Program, condition: &Condition) -> String {
    let quantifier = match condition {
        Condition::Exists(_) => "exists",
        Condition::NotExists(_) => "~exists",
        Condition::ForAll(_) => "forall",
    };
    format!("{quantifier} ({})", show_formula(program, condition.formula()))
}

/// A formula with as few parentheses.
pub(crate) fn show_formula(program: &Program, formula: &Formula) -> String {
    show(program, formula, Around::Nothing)
}

/// What a formula stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
    Or,
}

fn show(program: &Program, formula: &Formula, around: Around) -> String {
    let joined = |parts: &[Formula], word: &str, here: Around| {
        parts.iter().map(|part| show(program, part, here)).collect::<Vec<_>>().join(word)
    };
    match formula {
        Formula::True => "true".to_owned(),
        Formula::Compare(left, comparison, right) => compare(program, *left, *comparison, *right),
        Formula::Not(part) => format!("not ({})", show(program, part, Around::Nothing)),
        Formula::And(parts) | Formula::Or(parts) if parts.len() == 1 => show(program, &parts[0], around),
        Formula::And(parts) if parts.is_empty() => "true".to_owned(),
        Formula::Or(parts) if parts.is_empty() => "false".to_owned(),
        Formula::And(parts) => joined(parts, " /\\ ", Around::And),
        Formula::Or(parts) if around == Around::And => format!("({})", joined(parts, " \\/ ", Around::Or)),
        Formula::Or(parts) => joined(parts, " \\/ ", Around::Or),
    }
}

fn compare(program: &Program, left: Operand, comparison: Comparison, right: Operand) -> String {
    let symbol = match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    };
    // A constant is shown as what it is compared with: an unsigned location has no negative values.
    let side = |operand: Operand, other: Operand| match (operand, other) {
        (Operand::Term(term), _) => program.term_name(term),
        (Operand::Constant(value), Operand::Term(term)) => state::value(program, term, value),
        (Operand::Constant(value), Operand::Constant(_)) => (value as i64).to_string(),
    };
    format!("{}{symbol}{}", side(left, right), side(right, left))
}
