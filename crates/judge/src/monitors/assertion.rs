//! Assertions: no thread goes wrong.

use teetotal_program::Failure;

use crate::monitor::{Finding, Monitor, MonitorId, View};

/// Finds failed assertions, divisions by zero, addresses of nothing and the like.
///
/// A thread that loops without an operation on memory is not wrong; the search stops and says so.
#[derive(Clone, Copy, Debug)]
pub struct Assertion;

impl Monitor for Assertion {
    fn id(&self) -> MonitorId {
        MonitorId::Assertion
    }

    fn step(&mut self, view: &View<'_>) -> Option<Finding> {
        match view.failure? {
            (_, Failure::EndlessLoop { .. }) => None,
            (thread, failure) => Some(Finding::Failure { thread, failure }),
        }
    }
}
