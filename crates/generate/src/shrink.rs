//! Makes a program that shows a fault as small as it can be while it still does.

use crate::parts;
use crate::rebuild::rebuild;
use crate::size::interleavings_bound;
use teetotal_program::Type;
use teetotal_program::condition::{Condition, Formula, Operand, Term};
use teetotal_program::ir::{Address, Expr, Guard, Instruction, Program, Update};
use teetotal_program::{Loc, Reg, ThreadId};
use teetotal_program::{OnFailure, Order};

/// A program with at most so many executions is kept below this number, so that no step of shrinking takes forever.
const MAX_INTERLEAVINGS: u64 = 10_000_000;

/// The smallest program that `still_fails` and that single simplifications lead to from `program`.
///
/// `still_fails` holds of `program`. It is asked of programs without one of the threads, without some instructions,
/// and with simpler orders, values, addresses and operations. None of them has a loop that never ends, if `program`
/// has none.
pub fn shrink(program: &Program, mut still_fails: impl FnMut(&Program) -> bool) -> Program {
    let is_small = |p: &Program| interleavings_bound(p, MAX_INTERLEAVINGS) <= MAX_INTERLEAVINGS;
    let was_small = is_small(program);
    let mut smallest = program.clone();
    loop {
        let candidates = candidates(&smallest).into_iter().filter_map(|candidate| rebuild(&candidate).ok());
        let mut worth = candidates.filter(|candidate| !was_small || is_small(candidate));
        match worth.find(|candidate| still_fails(candidate)) {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// Simpler programs, those that are much simpler first. No chain of candidates is endless.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all: Vec<Program> = (0..program.n_threads()).filter_map(|at| without_thread(program, at)).collect();
    let longest = program.threads.iter().map(|thread| thread.code.len()).max().unwrap_or(0);
    for length in (1..=longest).rev() {
        for (thread, code) in program.threads.iter().enumerate() {
            let starts = 0..(code.code.len() + 1).saturating_sub(length);
            all.extend(starts.map(|start| without_instructions(program, thread, start, length)));
        }
    }
    for (thread, code) in program.threads.iter().enumerate() {
        for at in 0..code.code.len() {
            for simpler in simpler_instructions(&code.code[at], program.locations.len()) {
                let mut candidate = program.clone();
                candidate.threads[thread].code[at] = simpler;
                all.push(candidate);
            }
            if code.places[at].exclusive {
                let mut candidate = program.clone();
                candidate.threads[thread].places[at].exclusive = false;
                all.push(candidate);
            }
        }
        all.extend((0..code.registers.len()).filter_map(|reg| without_register(program, thread, reg)));
    }
    for at in 0..program.locations.len() {
        all.extend(without_location(program, at));
        let location = &program.locations[at];
        let simple = (Type::I64, 0);
        if location.element.is_none() && (location.ty, location.initial) != simple {
            let mut candidate = program.clone();
            (candidate.locations[at].ty, candidate.locations[at].initial) = simple;
            all.push(candidate);
        }
    }
    all
}

fn without_thread(program: &Program, gone: usize) -> Option<Program> {
    let mut smaller = program.clone();
    for thread in 0..program.n_threads() {
        let names_it = |i: &Instruction| matches!(i, Instruction::Spawn { thread, .. } | Instruction::Join { thread, .. } if thread.index() == gone);
        while let Some(at) = smaller.threads[thread].code.iter().position(names_it) {
            smaller = without_instructions(&smaller, thread, at, 1);
        }
    }
    smaller.threads.remove(gone);
    let renumber = |thread: ThreadId| ThreadId::at(thread.index() - usize::from(thread.index() > gone));
    for instruction in smaller.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Instruction::Spawn { thread, .. } | Instruction::Join { thread, .. } = instruction {
            *thread = renumber(*thread);
        }
    }
    map_terms(smaller, |term| match term {
        Term::Register(thread, _) if thread.index() == gone => None,
        Term::Register(thread, reg) => Some(Term::Register(renumber(thread), reg)),
        Term::Memory(_) => Some(term),
    })
}

fn without_instructions(program: &Program, thread: usize, start: usize, length: usize) -> Program {
    let mut smaller = program.clone();
    let code = &mut smaller.threads[thread];
    code.code.drain(start..start + length);
    code.places.drain(start..start + length);
    for target in code.code.iter_mut().flat_map(Instruction::targets_mut) {
        let after = (*target as usize).saturating_sub(start).min(length);
        *target -= after as u32;
    }
    smaller
}

fn without_register(program: &Program, thread: usize, gone: usize) -> Option<Program> {
    let mut smaller = program.clone();
    let code = &mut smaller.threads[thread];
    let mut used = false;
    let renumber = |reg: Reg| Reg(reg.0 - u16::from(reg.index() > gone));
    for instruction in &mut code.code {
        for reg in parts::destinations(instruction) {
            used |= reg.index() == gone;
            *reg = renumber(*reg);
        }
        for expr in parts::expressions(instruction) {
            expr.walk(&mut |e| used |= matches!(e, Expr::Reg(reg) if reg.index() == gone));
            parts::rename(expr, &renumber);
        }
    }
    code.registers.remove(gone);
    let smaller = map_terms(smaller, |term| match term {
        Term::Register(owner, reg) if owner.index() == thread && reg.index() == gone => None,
        Term::Register(owner, reg) if owner.index() == thread => Some(Term::Register(owner, renumber(reg))),
        _ => Some(term),
    });
    smaller.filter(|_| !used)
}

fn without_location(program: &Program, gone: usize) -> Option<Program> {
    let mut smaller = program.clone();
    let renumber = |loc: Loc| Loc::at(loc.index() - usize::from(loc.index() > gone));
    let mut used = program.locations[gone].element.is_some();
    for address in smaller.threads.iter_mut().flat_map(|t| &mut t.code).flat_map(parts::addresses) {
        match address {
            Address::Static(loc) => {
                used |= loc.index() == gone;
                *loc = renumber(*loc);
            }
            Address::Indexed { base, .. } => *base = renumber(*base),
            // Addresses as values would have to be found among all numbers.
            Address::Computed(_) => used = true,
        }
    }
    smaller.locations.remove(gone);
    let smaller = map_terms(smaller, |term| match term {
        Term::Memory(loc) => (loc.index() != gone).then(|| Term::Memory(renumber(loc))),
        Term::Register(..) => Some(term),
    });
    smaller.filter(|_| !used)
}

/// Changes what outcomes show, and the condition, which must not lose a term.
fn map_terms(mut program: Program, map: impl Fn(Term) -> Option<Term>) -> Option<Program> {
    program.observed = program.observed.iter().filter_map(|&term| map(term)).collect();
    if let Some(Condition::Exists(formula) | Condition::NotExists(formula) | Condition::ForAll(formula)) =
        &mut program.condition
    {
        map_formula(formula, &map)?;
    }
    Some(program)
}

fn map_formula(formula: &mut Formula, map: &impl Fn(Term) -> Option<Term>) -> Option<()> {
    match formula {
        Formula::True => {}
        Formula::Compare(left, _, right) => {
            for operand in [left, right] {
                if let Operand::Term(term) = operand {
                    *term = map(*term)?;
                }
            }
        }
        Formula::Not(inner) => map_formula(inner, map)?,
        Formula::And(parts) | Formula::Or(parts) => parts.iter_mut().try_for_each(|part| map_formula(part, map))?,
    }
    Some(())
}

/// What may stand in place of `instruction` and is simpler.
fn simpler_instructions(instruction: &Instruction, n_locations: usize) -> Vec<Instruction> {
    let mut simpler = simpler_operations(instruction);
    let mut change = |changed: &dyn Fn(&mut Instruction)| {
        let mut candidate = instruction.clone();
        changed(&mut candidate);
        simpler.extend((candidate != *instruction).then_some(candidate));
    };
    let is_access = matches!(instruction, Instruction::Load { .. } | Instruction::Store { .. });
    let usual = if is_access { Order::Plain } else { Order::SeqCst };
    change(&|i| parts::order(i).into_iter().for_each(|order| *order = usual));
    for index in 0..parts::values(&mut instruction.clone()).len() {
        change(&|i| *parts::values(i)[index] = Expr::from(1));
    }
    for loc in (0..n_locations).map(Loc::at) {
        let addresses = |i: &mut Instruction| {
            let dynamic = parts::addresses(i).into_iter().filter(|address| !matches!(address, Address::Static(_)));
            dynamic.for_each(|address| *address = loc.into());
        };
        change(&addresses);
    }
    simpler
}

fn simpler_operations(instruction: &Instruction) -> Vec<Instruction> {
    match instruction.clone() {
        Instruction::Rmw { old, at, update, order } => {
            let load = Instruction::Load { to: old, from: at.clone(), order: Order::Plain };
            let store = Instruction::Store { to: at.clone(), value: Expr::from(1), order: Order::Plain };
            let update = match update {
                Update::Exchange(_) => None,
                Update::CompareExchange { expected, new, on_failure: OnFailure::Load(_) } => {
                    Some(Update::CompareExchange { expected, new, on_failure: OnFailure::Locked })
                }
                _ => Some(Update::Exchange(Expr::from(1))),
            };
            let update = update.map(|update| Instruction::Rmw { old, at, update, order });
            [load, store].into_iter().chain(update).collect()
        }
        Instruction::Await { loads, until } => {
            let alone =
                |at: usize| Instruction::Load { to: loads[at].0, from: loads[at].1.clone(), order: Order::Plain };
            let at_once = Instruction::Await { loads: loads.clone(), until: Expr::from(1) };
            (0..loads.len()).map(alone).chain((until != Expr::from(1)).then_some(at_once)).collect()
        }
        Instruction::Guarded { loads, options } => {
            let with = |options: Vec<Guard>| Instruction::Guarded { loads: loads.clone(), options };
            let fewer = (0..options.len()).filter(|_| options.len() > 1).map(|gone| {
                let mut options = options.clone();
                options.remove(gone);
                with(options)
            });
            let plainer = (0..options.len()).flat_map(|at| {
                let change = |changed: &dyn Fn(&mut Guard)| {
                    let mut options = options.clone();
                    changed(&mut options[at]);
                    with(options)
                };
                [change(&|option| option.when = 1.into()), change(&|option| option.store = None)]
            });
            fewer.chain(plainer).filter(|candidate| candidate != instruction).collect()
        }
        Instruction::Choose { to, alternatives } if alternatives > 2 => {
            vec![Instruction::Choose { to, alternatives: alternatives - 1 }]
        }
        _ => Vec::new(),
    }
}
