//! What is said of a model that is read: statements that look at shared variables more than once in one step.

use crate::diagnostics::Diagnostic;
use crate::promela::syntax::{Action, Expr, Model, Name, Statement};

/// A notice for each statement with more than one access to shared variables.
pub(super) fn notices(model: &Model) -> Vec<Diagnostic> {
    let mut notices = Vec::new();
    model.proctypes.iter().for_each(|proctype| look(&proctype.body, &mut notices));
    notices.sort_by_key(|notice| (notice.span.line, notice.span.column));
    notices.dedup();
    notices
}

fn look(statements: &[Statement], notices: &mut Vec<Diagnostic>) {
    for statement in statements {
        let mut count = accesses(&statement.it);
        match &statement.it {
            Action::If(options) | Action::Do(options) => {
                let first = options.iter().filter_map(|option| option.first());
                let guards: Vec<usize> = first.map(|first| guard_accesses(&first.it)).collect();
                // One guard with several accesses has a notice of its own.
                count = if guards.iter().all(|&accesses| accesses < 2) { guards.iter().sum() } else { 0 };
                options.iter().for_each(|option| look(option, notices));
            }
            Action::Atomic(body) | Action::DStep(body) | Action::Block(body) => look(body, notices),
            _ => {}
        }
        if count > 1 {
            let message = format!("one step accesses shared variables {count} times");
            notices.push(Diagnostic::new(statement.span, message));
        }
    }
}

fn accesses(action: &Action) -> usize {
    match action {
        Action::Guard(expr) | Action::Assert(expr) => expr.n_shared(),
        Action::Assign(place, value) => {
            let mut count = value.n_shared() + usize::from(matches!(place.name, Name::Global(_)));
            place.shared_index(&mut |_| count += 1);
            count
        }
        _ => 0,
    }
}

fn guard_accesses(action: &Action) -> usize {
    match action {
        Action::Guard(expr) => Expr::n_shared(expr),
        Action::CompareExchange { into: None, .. } => 1,
        _ => 0,
    }
}
