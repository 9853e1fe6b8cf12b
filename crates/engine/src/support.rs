//! Which programs a search for execution graphs can take.

use teetotal_program::ir::{Instruction, Program};

use crate::search::Unsupported;

/// Why `program` is not for a search for execution graphs, if it is not.
#[must_use]
pub fn unsupported(program: &Program) -> Option<Unsupported> {
    let instructions = || program.threads.iter().flat_map(|thread| &thread.code);
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
