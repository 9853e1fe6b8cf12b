//! A replayed execution as text.

use std::sync::Arc;

use teetotal_engine::Replayed;
use teetotal_judge::Ending;
use teetotal_program::condition::Condition;
use teetotal_program::ir::{Program, printer};

use crate::aftermath::Aftermath;
use crate::finding;
use crate::outcome::paragraph;
use crate::words::count;
use teetotal_timeline::Options;
use teetotal_timeline::Timeline;

/// Renders a replayed execution with its violations.
#[must_use]
pub fn replayed(program: &Arc<Program>, again: &Replayed, drawing: Options) -> String {
    let model = again.token.model;
    let steps = count(again.trace.steps().len() as u64, "step");
    let mut out = format!("{}: an execution of {steps} under {}\n\n", program.name, model.info().name);
    let ended = again.ending == Some(Ending::Completed);
    let outcome = ended.then_some(again.values.as_slice());
    out.push_str(&Timeline { program, trace: &again.trace, model, outcome }.render(drawing));
    out.push('\n');
    for (_, finding) in &again.findings {
        for line in finding::describe(program, finding, &again.trace) {
            paragraph(&line, drawing, &mut out);
        }
    }
    for line in remarks(program, again) {
        paragraph(&line, drawing, &mut out);
    }
    out
}

/// Returns notes on an execution besides its violations.
fn remarks(program: &Arc<Program>, again: &Replayed) -> Vec<String> {
    let mut remarks = Vec::new();
    if again.findings.is_empty() {
        remarks.push("this execution violates no check".to_owned());
    }
    match &again.ending {
        None if again.findings.is_empty() => remarks.push("the token ends here; the threads could continue".to_owned()),
        Some(Ending::Discarded) if program.filter.is_some() => {
            remarks.push("the filter or an assumption rules it out, so it does not count".to_owned());
        }
        Some(Ending::Discarded) => remarks.push("an assumption does not hold, so it does not count".to_owned()),
        Some(Ending::Completed) => {
            if let Some(condition @ Condition::Exists(formula)) = &program.condition {
                let answer = if formula.holds(&Aftermath::new(program, &again.trace)) {
                    "satisfies"
                } else {
                    "does not satisfy"
                };
                remarks.push(format!("it {answer} {}", printer::condition(program, condition)));
            }
        }
        None | Some(Ending::Blocked(_) | Ending::Failed) => {}
    }
    remarks
}
