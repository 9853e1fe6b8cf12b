//! Programs that also access data which is not atomic, and the same programs without hints.

use teetotal::sync::atomic::Ordering;

use crate::program::{self, N_LOCATIONS, N_REGISTERS, Program, Rng, Statement};

/// A program for this seed with accesses to the data.
pub(crate) fn generate(seed: u64) -> Program {
    let mut program = program::generate(seed);
    let rng = &mut Rng::new(!seed);
    if rng.percent(60) {
        program.iter_mut().for_each(|statements| strengthen(statements));
    }
    let (writer, n_threads) = (rng.below(program.len()), program.len());
    insert(&mut program[writer], rng, true);
    for _ in 0..1 + rng.below(2) {
        let other = (writer + 1 + rng.below(n_threads - 1)) % n_threads;
        let is_write = rng.percent(35);
        insert(&mut program[other], rng, is_write);
    }
    program
}

/// Lets loads acquire and stores release.
fn strengthen(statements: &mut [Statement]) {
    for statement in statements {
        match statement {
            Statement::Load(_, _, order) if *order == Ordering::Relaxed => *order = Ordering::Acquire,
            Statement::Store(_, _, order) if *order == Ordering::Relaxed => *order = Ordering::Release,
            Statement::Or(_, _, order) if *order == Ordering::Relaxed => *order = Ordering::AcqRel,
            Statement::Loop(_, body) => strengthen(body),
            _ => {}
        }
    }
}

/// Inserts an access at a place where it may be ordered with others, or anywhere.
fn insert(statements: &mut Vec<Statement>, rng: &mut Rng, is_write: bool) {
    let access =
        if is_write { Statement::Write(1 + rng.below(2) as u64) } else { Statement::Read(rng.below(N_REGISTERS)) };
    let anywhere = rng.below(statements.len() + 1);
    let find = |is_wanted: fn(&Statement) -> bool| statements.iter().position(is_wanted);
    let releases = |statement: &Statement| !matches!(statement, Statement::Load(..) | Statement::Loop(..));
    match rng.below(5) {
        // What is stored tells that it is done.
        0..=1 => statements.insert(find(releases).unwrap_or(anywhere), access),
        // The loop waited for it.
        2 => statements.insert(find(is_loop).map_or(anywhere, |at| at + 1), access),
        // It was seen to be done.
        3 => {
            let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
            let looks = Statement::Load(register, loc, Ordering::Acquire);
            statements.insert(anywhere, Statement::Loop(Some(1), vec![looks, Statement::BreakIf(register, 0), access]));
        }
        _ => match find(is_loop).map(|at| &mut statements[at]) {
            Some(Statement::Loop(_, body)) => body.insert(rng.below(body.len() + 1), access),
            _ => statements.insert(anywhere, access),
        },
    }
}

fn is_loop(statement: &Statement) -> bool {
    matches!(statement, Statement::Loop(..))
}

/// The program without its hints.
pub(crate) fn without_hints(program: &Program) -> Program {
    program.iter().map(|statements| unhinted(statements)).collect()
}

fn unhinted(statements: &[Statement]) -> Vec<Statement> {
    let kept = statements.iter().filter(|statement| !matches!(statement, Statement::Hint(_)));
    let unhinted = kept.map(|statement| match statement {
        Statement::Loop(limit, body) => Statement::Loop(*limit, unhinted(body)),
        other => other.clone(),
    });
    unhinted.collect()
}
