//! The names of threads do not matter.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_generate::rebuild;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Address, Instruction, Program};
use teetotal_program::{ThreadId, Value};

use crate::everything::difference;
use crate::{Case, Verdict};

/// With its threads in the opposite order, a program has the same outcomes.
pub(super) fn holds(case: &Case) -> Verdict {
    let program = &case.program;
    let last = program.n_threads() - 1;
    let mirror = |thread: ThreadId| ThreadId::at(last - thread.index());
    let mut mirrored = Program::clone(program);
    mirrored.condition = None;
    mirrored.threads.reverse();
    for instruction in mirrored.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Instruction::Spawn { thread, .. } | Instruction::Join { thread, .. } = instruction {
            *thread = mirror(*thread);
        }
    }
    // A lock that is held says by whom, so what it holds is not compared.
    let locks = lock_locations(program);
    let observed: Vec<Term> = program.observed.iter().copied().filter(|term| !locks.contains(term)).collect();
    let mut plain = Program::clone(program);
    plain.observed.clone_from(&observed);
    mirrored.observed = observed
        .iter()
        .map(|&term| match term {
            Term::Register(thread, reg) => Term::Register(mirror(thread), reg),
            memory => memory,
        })
        .collect();
    let [plain, mirrored] = [plain, mirrored].map(|program| rebuild(&program).map(Arc::new));
    let (plain, mirrored) = (plain.map_err(|e| e.to_string())?, mirrored.map_err(|e| e.to_string())?);
    for model in BUFFER_MODELS {
        difference(&states(&plain, model.id)?, &states(&mirrored, model.id)?, ("plain", "mirrored"))?;
    }
    Ok(())
}

fn states(program: &Arc<Program>, model: ModelId) -> Result<BTreeSet<Vec<Value>>, String> {
    let outcome = check(program, &Options::new(model), &|| None).map_err(|error| error.to_string())?;
    Ok(outcome.states.into_keys().collect())
}

/// The locations used as locks; all, where a lock is at a computed address.
fn lock_locations(program: &Program) -> Vec<Term> {
    let all = (0..program.locations.len()).map(|index| Term::Memory(teetotal_program::Loc::at(index)));
    let mut locks = Vec::new();
    for instruction in program.threads.iter().flat_map(|thread| &thread.code) {
        if let Instruction::Lock { at, .. } | Instruction::Unlock { at, .. } = instruction {
            match at {
                Address::Static(loc) => locks.push(Term::Memory(*loc)),
                _ => locks.extend(all.clone()),
            }
        }
    }
    locks
}
