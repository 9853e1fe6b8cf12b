//! What makes a program well formed.

use thiserror::Error;

use crate::condition::{Condition, Formula, Operand, Term};
use crate::ir::address::Address;
use crate::ir::expr::Expr;
use crate::ir::instruction::{Instruction, Update};
use crate::ir::program::{Program, ThreadCode};
use crate::names::{Loc, Reg, ThreadId};

/// Why a program is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProgramError {
    #[error("a program has at most {max} threads, this one has {found}")]
    TooManyThreads { found: usize, max: usize },
    #[error("a program has at most {max} locations, this one has {found}")]
    TooManyLocations { found: usize, max: usize },
    #[error("a thread has at most {max} {what}, `{thread}` has {found}")]
    TooLongThread { thread: String, what: &'static str, found: usize, max: usize },
    #[error("two {what} are called `{name}`")]
    DuplicateName { what: &'static str, name: String },
    #[error("an instruction of thread `{thread}` names {what} that is not there")]
    Dangling { thread: String, what: &'static str },
    #[error("the condition names {what} that is not there")]
    DanglingCondition { what: &'static str },
    #[error("a choice of thread `{thread}` has no alternative")]
    EmptyChoice { thread: String },
    #[error("a label of thread `{thread}` is used but stands nowhere")]
    UnplacedLabel { thread: String },
    #[error("thread `{thread}` uses the old value of a read-modify-write outside of one")]
    OldOutsideUpdate { thread: String },
}

/// At most this many threads: thread ids and lock holders stay small.
pub(super) const MAX_THREADS: usize = 1_024;
/// At most this many locations.
pub(super) const MAX_LOCATIONS: usize = 1 << 20;
/// At most this many registers in a thread.
pub(super) const MAX_REGISTERS: usize = 1 << 12;
/// At most this many instructions in a thread.
pub(super) const MAX_INSTRUCTIONS: usize = 1 << 20;

/// Checks everything that the interpreter relies on.
pub(super) fn validate(program: &Program) -> Result<(), ProgramError> {
    limit_sizes(program)?;
    unique("locations", program.locations.iter().map(|l| l.name.as_str()))?;
    unique("threads", program.threads.iter().map(|t| t.name.as_str()))?;
    for thread in &program.threads {
        unique("registers", thread.registers.iter().map(|r| r.name.as_str()))?;
        for instruction in &thread.code {
            check_ways(program, thread, instruction)?;
            check_instruction(program, thread, instruction)?;
        }
    }
    program.observed.iter().try_for_each(|&term| check_term(program, term))?;
    let formulas = program.condition.as_ref().map(Condition::formula).into_iter().chain(&program.filter);
    formulas.into_iter().try_for_each(|formula| check_formula(program, formula))
}

fn limit_sizes(program: &Program) -> Result<(), ProgramError> {
    if program.threads.len() > MAX_THREADS {
        return Err(ProgramError::TooManyThreads { found: program.threads.len(), max: MAX_THREADS });
    }
    if program.locations.len() > MAX_LOCATIONS {
        return Err(ProgramError::TooManyLocations { found: program.locations.len(), max: MAX_LOCATIONS });
    }
    for thread in &program.threads {
        let sizes = [
            ("registers", thread.registers.len(), MAX_REGISTERS),
            ("instructions", thread.code.len(), MAX_INSTRUCTIONS),
        ];
        for (what, found, max) in sizes {
            if found > max {
                return Err(ProgramError::TooLongThread { thread: thread.name.clone(), what, found, max });
            }
        }
    }
    Ok(())
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ProgramError> {
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ProgramError::DuplicateName { what, name: pair[0].to_owned() }),
        None => Ok(()),
    }
}

/// Checks where an instruction may lead to.
fn check_ways(program: &Program, thread: &ThreadCode, instruction: &Instruction) -> Result<(), ProgramError> {
    let name = || thread.name.clone();
    let n_alternatives = match instruction {
        Instruction::Guarded { options, .. } => options.len(),
        Instruction::Choose { alternatives, .. } => *alternatives as usize,
        Instruction::Spawn { thread: child, .. } | Instruction::Join { thread: child, .. }
            if child.index() >= program.threads.len() =>
        {
            return Err(ProgramError::Dangling { thread: name(), what: "a thread" });
        }
        _ => 1,
    };
    if n_alternatives == 0 {
        return Err(ProgramError::EmptyChoice { thread: name() });
    }
    if instruction.targets().any(|target| target as usize > thread.code.len()) {
        return Err(ProgramError::UnplacedLabel { thread: name() });
    }
    Ok(())
}

fn check_instruction(program: &Program, thread: &ThreadCode, instruction: &Instruction) -> Result<(), ProgramError> {
    let dangling = |what| Err(ProgramError::Dangling { thread: thread.name.clone(), what });
    let register = |reg: Reg| reg.index() < thread.registers.len();
    let location = |loc: Loc, length: u32| loc.index() + length as usize <= program.locations.len();
    let address = |address: &Address| match address {
        Address::Static(loc) => location(*loc, 1),
        Address::Indexed { base, length, .. } => location(*base, *length),
        Address::Computed(_) => true,
    };
    let mut registers_exist = true;
    let mut uses_old = false;
    instruction.expressions(|expr| {
        expr.walk(&mut |e| match e {
            Expr::Reg(reg) => registers_exist &= register(*reg),
            Expr::Old => uses_old = true,
            _ => {}
        });
    });
    let mut locations_exist = true;
    match instruction {
        Instruction::Assign { to, .. } => registers_exist &= register(*to),
        Instruction::Load { to, from, .. } => {
            registers_exist &= register(*to);
            locations_exist = address(from);
        }
        Instruction::Store { to, .. } => locations_exist = address(to),
        Instruction::Rmw { old, at, update, .. } => {
            registers_exist &= register(*old);
            locations_exist = address(at);
            uses_old &= !matches!(update, Update::Function(_) | Update::When { .. });
        }
        Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } => locations_exist = address(at),
        Instruction::Await { loads, .. } => {
            registers_exist &= loads.iter().all(|(reg, _)| register(*reg));
            locations_exist = loads.iter().all(|(_, from)| address(from));
        }
        Instruction::Guarded { loads, options } => {
            registers_exist &= loads.iter().all(|(reg, _)| register(*reg));
            locations_exist = loads.iter().all(|(_, from)| address(from))
                && options.iter().all(|option| option.store.as_ref().is_none_or(|(to, _)| address(to)));
        }
        Instruction::Choose { to, .. } => registers_exist &= register(*to),
        _ => {}
    }
    match (registers_exist, locations_exist, uses_old) {
        (false, _, _) => dangling("a register"),
        (_, false, _) => dangling("a location"),
        (_, _, true) => Err(ProgramError::OldOutsideUpdate { thread: thread.name.clone() }),
        _ => Ok(()),
    }
}

fn check_formula(program: &Program, formula: &Formula) -> Result<(), ProgramError> {
    match formula {
        Formula::True => Ok(()),
        Formula::Compare(left, _, right) => [left, right].into_iter().try_for_each(|operand| match operand {
            Operand::Term(term) => check_term(program, *term),
            Operand::Constant(_) => Ok(()),
        }),
        Formula::Not(inner) => check_formula(program, inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().try_for_each(|part| check_formula(program, part)),
    }
}

fn check_term(program: &Program, term: Term) -> Result<(), ProgramError> {
    let exists = |thread: ThreadId, reg: Reg| {
        program.threads.get(thread.index()).is_some_and(|t| reg.index() < t.registers.len())
    };
    match term {
        Term::Register(thread, reg) if !exists(thread, reg) => {
            Err(ProgramError::DanglingCondition { what: "a register" })
        }
        Term::Memory(loc) if loc.index() >= program.locations.len() => {
            Err(ProgramError::DanglingCondition { what: "a location" })
        }
        _ => Ok(()),
    }
}
