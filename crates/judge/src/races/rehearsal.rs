//! What the order solver answers, performed by the program itself.
//!
//! The solver knows what each thread did in one execution. It does not know of stretches in which no other thread may be
//! switched to, nor what a last operation does when it reads something else.

use std::sync::Arc;

use teetotal_memory::{Machine, Model, ModelId, ModelVisitor, Step, Trace};
use teetotal_program::Subject;
use teetotal_program::ir::{Interpreter, Program};

use super::{DataRace, Watch};

/// Performs steps of a program.
pub(super) struct Rehearsal {
    model: ModelId,
    program: Arc<Program>,
    /// Whether it has a stretch in which no other thread may be switched to.
    pub(super) has_stretches: bool,
}

impl Rehearsal {
    pub(super) fn new(program: &Program, model: ModelId) -> Self {
        let has_stretches = program.threads.iter().flat_map(|thread| &thread.places).any(|place| place.exclusive);
        Rehearsal { model, program: Arc::new(program.clone()), has_stretches }
    }

    /// The execution of these steps, if the program can perform them.
    pub(super) fn perform(&self, steps: &[Step]) -> Option<Trace> {
        self.model.visit(Performing { program: Arc::clone(&self.program), steps })
    }

    /// Whether the program can perform these steps, and `race` is seen then.
    pub(super) fn shows(&self, steps: &[Step], race: &DataRace) -> bool {
        self.perform(steps).is_some_and(|trace| {
            let mut races = Vec::new();
            Watch::default().follow(&self.program, &trace, &mut races);
            races.contains(race)
        })
    }
}

struct Performing<'p> {
    program: Arc<Program>,
    steps: &'p [Step],
}

impl ModelVisitor for Performing<'_> {
    type Output = Option<Trace>;

    fn visit<M: Model>(self) -> Option<Trace> {
        let mut subject = Interpreter::new(self.program);
        subject.restart();
        let mut machine = Machine::<M>::new(&subject);
        let (mut trace, mut enabled) = (Trace::default(), Vec::new());
        for &step in self.steps {
            enabled.clear();
            machine.enabled(&subject, &mut enabled);
            if !enabled.contains(&step) {
                return None;
            }
            machine.perform(&mut subject, step, &mut trace);
        }
        Some(trace)
    }
}
