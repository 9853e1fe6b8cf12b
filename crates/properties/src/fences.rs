//! A full fence after each operation leaves nothing in the buffers.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_memory::ModelId;
use teetotal_program::ir::{Instruction, Program};
use teetotal_program::{ThreadId, Value};

use crate::everything::difference;
use crate::{Case, Verdict, has_exclusive};

/// Under TSO and PSO the fenced program ends as the program itself does under SC.
pub(super) fn give_sc(case: &Case) -> Verdict {
    let program = &case.program;
    // A fence inside an exclusive region blocks until the buffer is empty, and so gives up the region.
    if has_exclusive(program) || has_guarded_store(program) {
        return Ok(());
    }
    let fenced = Arc::new(with_fences(program));
    let states = |program: &Arc<Program>, model| -> Result<BTreeSet<Vec<Value>>, String> {
        let outcome = check(program, &Options::new(model), &|| None).map_err(|error| error.to_string())?;
        Ok(outcome.states.into_keys().collect())
    };
    let sc = states(program, ModelId::Sc)?;
    for model in [ModelId::Tso, ModelId::Pso] {
        difference(&states(&fenced, model)?, &sc, (model.info().name, "sc"))?;
    }
    Ok(())
}

/// Whether a step reads and stores, which is one moment under SC and two where there is a buffer between.
fn has_guarded_store(program: &Program) -> bool {
    let stores = |i: &Instruction| match i {
        Instruction::Guarded { options, .. } => options.iter().any(|option| option.store.is_some()),
        _ => false,
    };
    program.threads.iter().flat_map(|thread| &thread.code).any(stores)
}

/// The program with a full fence after each operation.
fn with_fences(program: &Program) -> Program {
    let threads = program.threads.iter().enumerate();
    let operations = threads.flat_map(|(index, thread)| {
        let visible = thread.code.iter().enumerate().filter(|(_, instruction)| instruction.is_visible());
        visible.map(move |(at, _)| (ThreadId::at(index), at as u32))
    });
    program.with_fences_after(&operations.collect())
}
