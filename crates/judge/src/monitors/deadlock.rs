//! Deadlock: no thread waits forever.

use crate::monitor::{Ending, Finding, Monitor, MonitorId, View};

/// Finds executions in which nothing more is possible although a thread has not ended and may not rest where it is.
#[derive(Clone, Copy, Debug)]
pub struct Deadlock;

impl Monitor for Deadlock {
    fn id(&self) -> MonitorId {
        MonitorId::Deadlock
    }

    fn end(&mut self, _: &View<'_>, ending: &Ending) -> Vec<Finding> {
        match ending {
            Ending::Blocked(blocked) => vec![Finding::Deadlock { blocked: blocked.clone() }],
            _ => Vec::new(),
        }
    }
}
