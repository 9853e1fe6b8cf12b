//! Programs with stretches in which no other thread may be switched to, of which the order solver knows nothing.

use std::sync::Arc;

use teetotal_memory::{Machine, Model, ModelId, ModelVisitor, Step, Trace};
use teetotal_program::Subject;
use teetotal_program::ir::{Interpreter, Program};

/// Says whether a program performs what the order solver answers.
pub(super) struct Stretches {
    model: ModelId,
    /// The program, if it has such a stretch.
    program: Option<Arc<Program>>,
}

impl Stretches {
    pub(super) fn new(program: &Program, model: ModelId) -> Self {
        let has_one = program.threads.iter().flat_map(|thread| &thread.places).any(|place| place.exclusive);
        Stretches { model, program: has_one.then(|| Arc::new(program.clone())) }
    }

    pub(super) fn are_there(&self) -> bool {
        self.program.is_some()
    }

    /// Whether no stretch keeps the program from performing these steps.
    pub(super) fn allow(&self, steps: &[Step]) -> bool {
        let program = self.program.as_ref();
        program.is_none_or(|program| self.model.visit(Performing { program: Arc::clone(program), steps }))
    }
}

struct Performing<'p> {
    program: Arc<Program>,
    steps: &'p [Step],
}

impl ModelVisitor for Performing<'_> {
    type Output = bool;

    fn visit<M: Model>(self) -> bool {
        let mut subject = Interpreter::new(self.program);
        subject.restart();
        let mut machine = Machine::<M>::new(&subject);
        let (mut trace, mut enabled) = (Trace::default(), Vec::new());
        self.steps.iter().all(|&step| {
            enabled.clear();
            machine.enabled(&subject, &mut enabled);
            let is_possible = enabled.contains(&step);
            if is_possible {
                machine.perform(&mut subject, step, &mut trace);
            }
            is_possible
        })
    }
}
