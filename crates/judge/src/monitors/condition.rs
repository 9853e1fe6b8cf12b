//! Final conditions: what the program demands of every final state.

use std::sync::Arc;

use teetotal_program::condition::Condition;
use teetotal_program::ir::Program;

use crate::monitor::{Ending, Finding, Monitor, MonitorId, View};

/// Finds final states that break a `~exists` or `forall`. An `exists` is a question and never broken.
#[derive(Clone, Debug)]
pub struct BrokenCondition {
    condition: Option<Condition>,
}

impl BrokenCondition {
    #[must_use]
    pub fn new(program: &Arc<Program>) -> Self {
        BrokenCondition { condition: program.condition.clone() }
    }
}

impl Monitor for BrokenCondition {
    fn id(&self) -> MonitorId {
        MonitorId::Condition
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Vec<Finding> {
        let condition = self.condition.as_ref().filter(|_| *ending == Ending::Completed);
        let is_broken = condition.is_some_and(|condition| condition.is_broken_by(view.state));
        if is_broken { vec![Finding::Condition] } else { Vec::new() }
    }
}
