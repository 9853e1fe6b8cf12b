//! Data races: no two accesses of different threads, one of them not atomic and one a write, are unordered.

use std::sync::Arc;

use teetotal_program::ir::Program;

use crate::monitor::{Ending, Finding, Monitor, MonitorId, View};
use crate::races::{DataRace, Watch};

/// Finds data races; needs one execution for each way in which threads synchronize.
#[derive(Clone, Debug)]
pub struct Races {
    program: Arc<Program>,
    watch: Watch,
    /// What was found and not told yet.
    found: Vec<DataRace>,
}

impl Races {
    pub(crate) fn new(program: &Arc<Program>) -> Self {
        Races { program: Arc::clone(program), watch: Watch::default(), found: Vec::new() }
    }
}

impl Monitor for Races {
    fn id(&self) -> MonitorId {
        MonitorId::Races
    }

    fn begin(&mut self) {
        self.watch.clear();
        self.found.clear();
    }

    fn step(&mut self, view: &View<'_>) -> Option<Finding> {
        self.watch.follow(&self.program, view.trace, &mut self.found);
        self.found.pop().map(Finding::Race)
    }

    fn end(&mut self, _: &View<'_>, _: &Ending) -> Vec<Finding> {
        self.found.drain(..).map(Finding::Race).collect()
    }
}
