//! What a simpler execution must still show.

use std::sync::Arc;

use teetotal_engine::Replayed;
use teetotal_judge::{Ending, Finding, Level, Monitor, MonitorId, View};
use teetotal_memory::ModelId;
use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;

/// What an execution is to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// What a monitor found.
    Finding(MonitorId, Finding),
    /// A final state that satisfies the formula of the condition.
    Satisfying,
}

impl Goal {
    /// Whether an execution that was run again shows it.
    #[must_use]
    pub fn is_shown_by(&self, again: &Replayed) -> bool {
        match self {
            Goal::Finding(monitor, finding) => again.findings.iter().any(|(m, f)| m == monitor && f == finding),
            Goal::Satisfying => again.satisfies == Some(true),
        }
    }

    /// Whether states show it, without the way to them.
    pub(super) fn is_of_states(&self) -> bool {
        match self {
            Goal::Finding(monitor, _) => monitor.info().needs == Level::State,
            Goal::Satisfying => true,
        }
    }
}

/// Somebody who looks for a goal in states.
pub(super) struct Lookout<'g> {
    goal: &'g Goal,
    monitor: Option<Box<dyn Monitor>>,
    condition: Option<&'g Condition>,
}

impl<'g> Lookout<'g> {
    pub(super) fn new(goal: &'g Goal, program: &'g Arc<Program>) -> Self {
        // Only monitors that ask about the model itself are looked for, and those do not need to know it.
        let monitor = match goal {
            Goal::Finding(monitor, _) => Some((monitor.info().make)(program, ModelId::STRONGEST)),
            Goal::Satisfying => None,
        };
        Lookout { goal, monitor, condition: program.condition.as_ref() }
    }

    /// Whether the step that was just performed shows it.
    pub(super) fn step(&mut self, view: &View<'_>) -> bool {
        let found = self.monitor.as_mut().and_then(|monitor| monitor.step(view));
        self.is(found)
    }

    /// Whether this end shows it.
    pub(super) fn end(&mut self, view: &View<'_>, ending: &Ending) -> bool {
        if *self.goal == Goal::Satisfying {
            let holds = |condition: &Condition| condition.formula().holds(view.state);
            return *ending == Ending::Completed && self.condition.is_some_and(holds);
        }
        let found = self.monitor.as_mut().map_or_else(Vec::new, |monitor| monitor.end(view, ending));
        found.into_iter().any(|finding| self.is(Some(finding)))
    }

    fn is(&self, found: Option<Finding>) -> bool {
        matches!((self.goal, found), (Goal::Finding(_, wanted), Some(finding)) if *wanted == finding)
    }
}
