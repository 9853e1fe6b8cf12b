//! Which programs a search for execution graphs can take.

use teetotal_memory::{Family, ModelId};
use teetotal_program::ir::{Instruction, Language, Program};

use crate::search::Unsupported;

/// Why executions of `program` under `model` are not defined, if they are not.
///
/// A model of a programming language says nothing of what is written in another.
#[must_use]
pub fn undefined(program: &Program, model: ModelId) -> Option<Unsupported> {
    if matches!(model.info().family, Family::Buffers(_)) {
        return None;
    }
    let reason = match program.language {
        Language::X86 => "instructions of x86",
        Language::Promela => "statements of Promela",
        Language::KernelC => "operations of the Linux kernel, which has a memory model of its own",
        // An old value that lets it go on may be there for as long as the machine performs steps.
        Language::C | Language::Builder if instructions(program).any(|i| matches!(i, Instruction::Await { .. })) => {
            "a step that waits for a value, where a loop has reads"
        }
        Language::C | Language::Builder => return unsupported(program),
    };
    Some(Unsupported { reason })
}

fn instructions(program: &Program) -> impl Iterator<Item = &Instruction> {
    program.threads.iter().flat_map(|thread| &thread.code)
}

/// Why `program` is not for a search for execution graphs, if it is not.
#[must_use]
pub fn unsupported(program: &Program) -> Option<Unsupported> {
    let instructions = || instructions(program);
    let places = || program.threads.iter().flat_map(|thread| &thread.places);
    let n_spawns = |child: usize| {
        let spawns = |i: &&Instruction| matches!(i, Instruction::Spawn { thread, .. } if thread.index() == child);
        instructions().filter(spawns).count() + usize::from(program.threads[child].starts)
    };
    let reason = if instructions().any(|i| matches!(i, Instruction::GlobalFence)) {
        "a fence that drains the buffers of all threads"
    } else if instructions().any(|i| matches!(i, Instruction::Await { loads, .. } if loads.len() != 1)) {
        "a step that reads several locations at once"
    } else if instructions().any(|i| matches!(i, Instruction::Guarded { .. })) {
        "a step that chooses by what it reads, or reads and stores"
    } else if places().any(|place| place.exclusive) {
        "an atomic section"
    } else if (0..program.threads.len()).any(|child| n_spawns(child) > 1) {
        "a thread that may be started twice"
    } else {
        return None;
    };
    Some(Unsupported { reason })
}
