//! What an execution costs whoever reads it.

use teetotal_memory::Step;
use teetotal_program::ThreadId;

/// Context switches count most, then commits, then steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Cost {
    /// How often an operation is performed by another thread than the one before it.
    pub switches: u32,
    /// How many stores leave a buffer.
    pub commits: u32,
    pub steps: u32,
}

impl Cost {
    /// What these steps cost.
    #[must_use]
    pub fn of(steps: &[Step]) -> Self {
        let (cost, _) = steps.iter().fold((Cost::default(), None), |(cost, turn), &step| cost.and(step, turn));
        cost
    }

    /// What it costs with one step more, and whose turn it is then; `turn` is who performed the last operation.
    pub(super) fn and(self, step: Step, turn: Option<ThreadId>) -> (Self, Option<ThreadId>) {
        let is_switch = !step.is_commit() && turn.is_some_and(|thread| thread != step.thread());
        let cost = Cost {
            switches: self.switches + u32::from(is_switch),
            commits: self.commits + u32::from(step.is_commit()),
            steps: self.steps + 1,
        };
        (cost, if step.is_commit() { turn } else { Some(step.thread()) })
    }
}
