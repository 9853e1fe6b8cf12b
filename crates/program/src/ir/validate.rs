//! What makes a program well formed.

use std::error::Error;
use std::fmt;

use crate::condition::{Condition, Formula, Operand, Term};
use crate::ir::address::Address;
use crate::ir::expr::Expr;
use crate::ir::instruction::{Instruction, Update};
use crate::ir::program::{Program, ThreadCode};
use crate::names::{Loc, Reg, ThreadId};

/// Why a program is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgramError {
    TooManyThreads { found: usize, max: usize },
    TooManyLocations { found: usize, max: usize },
    TooLongThread { thread: String, what: &'static str, found: usize, max: usize },
    DuplicateName { what: &'static str, name: String },
    Dangling { thread: String, what: &'static str },
    DanglingCondition { what: &'static str },
    EmptyChoice { thread: String },
    UnplacedLabel { thread: String },
    OldOutsideUpdate { thread: String },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::TooManyThreads { found, max } => {
                write!(formatter, "a program has at most {max} threads, this one has {found}")
            }
            ProgramError::TooManyLocations { found, max } => {
                write!(formatter, "a program has at most {max} locations, this one has {found}")
            }
            ProgramError::TooLongThread { thread, what, found, max } => {
                write!(formatter, "a thread has at most {max} {what}, `{thread}` has {found}")
            }
            ProgramError::DuplicateName { what, name } => write!(formatter, "two {what} are called `{name}`"),
            ProgramError::Dangling { thread, what } => {
                write!(formatter, "an instruction of thread `{thread}` names {what} that does not exist")
            }
            ProgramError::DanglingCondition { what } => {
                write!(formatter, "the condition names {what} that does not exist")
            }
            ProgramError::EmptyChoice { thread } => {
                write!(formatter, "a choice of thread `{thread}` has no alternative")
            }
            ProgramError::UnplacedLabel { thread } => {
                write!(formatter, "a label of thread `{thread}` is used but never defined")
            }
            ProgramError::OldOutsideUpdate { thread } => {
                write!(formatter, "thread `{thread}` uses the old value of a read-modify-write outside of one")
            }
        }
    }
}

impl Error for ProgramError {}

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
