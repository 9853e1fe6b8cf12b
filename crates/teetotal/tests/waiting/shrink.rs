//! A smaller program that still differs.

use crate::program::{Program, Statement};

/// The program without a statement for which it still differs.
pub(crate) fn shrink(mut program: Program, differs: &dyn Fn(&Program) -> bool) -> Program {
    loop {
        let smaller = removals(&program).into_iter().find(|smaller| !smaller.is_empty() && differs(smaller));
        match smaller {
            Some(smaller) => program = smaller,
            None => return program,
        }
    }
}

/// The program without one of its statements each.
fn removals(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for index in 0..program.len() {
        let without = |statements| {
            let mut smaller = program.clone();
            smaller[index] = statements;
            smaller
        };
        all.extend(without_one(&program[index]).into_iter().map(without));
    }
    all
}

fn without_one(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for at in 0..statements.len() {
        let mut smaller = statements.to_vec();
        let removed = smaller.remove(at);
        all.push(smaller);
        if let Statement::Loop(limit, body) = removed {
            for body in without_one(&body).into_iter().filter(|body| has_access(body)) {
                let mut smaller = statements.to_vec();
                smaller[at] = Statement::Loop(limit, body);
                all.push(smaller);
            }
        }
    }
    all
}

/// Whether each iteration of a loop with this body accesses memory.
fn has_access(body: &[Statement]) -> bool {
    let accesses = |statement: &Statement| {
        !matches!(
            statement,
            Statement::Hint(_)
                | Statement::BreakIf(..)
                | Statement::Count(..)
                | Statement::Loop(..)
                | Statement::Read(_)
                | Statement::Write(_)
        )
    };
    body.iter().any(accesses)
}
