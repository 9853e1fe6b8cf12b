//! Programs without an end, from programs with one.

use crate::rebuild::rebuild;
use teetotal_program::ir::{Instruction, Place, Program, ProgramError};

/// The program with every thread that runs from the beginning starting again where it ends.
///
/// Registers keep what they hold. A thread without an operation on memory would loop without one, and stays as it is.
pub fn looped(program: &Program) -> Result<Program, ProgramError> {
    let mut looped = program.clone();
    for thread in looped.threads.iter_mut().filter(|thread| thread.starts) {
        if thread.code.iter().any(Instruction::is_visible) {
            let span = thread.places.last().and_then(|place| place.span);
            thread.places.push(Place { span, exclusive: false, may_rest: false });
            thread.code.push(Instruction::Jump { target: 0 });
        }
    }
    rebuild(&looped)
}
