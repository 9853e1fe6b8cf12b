//! Monitors watch an execution and say what is wrong with it.

use std::sync::Arc;

use teetotal_memory::{Event, Trace};
use teetotal_program::condition::FinalState;
use teetotal_program::ir::Program;
use teetotal_program::{Failure, ThreadId};

use crate::level::Level;
use crate::monitors::{Assertion, BrokenCondition, Deadlock};

/// Watches executions, one after the other.
pub trait Monitor: Send {
    /// Which row of [`MONITORS`] it is.
    fn id(&self) -> MonitorId;

    /// Another execution begins.
    fn begin(&mut self) {}

    /// A step was performed.
    fn step(&mut self, _view: &View<'_>) -> Option<Finding> {
        None
    }

    /// Nothing more is possible.
    fn end(&mut self, _view: &View<'_>, _ending: &Ending) -> Option<Finding> {
        None
    }
}

/// What a monitor sees.
#[expect(missing_debug_implementations, reason = "a state need not be printable")]
pub struct View<'a> {
    /// The execution so far; empty where the search keeps no traces, which it does only for needs up to `State`.
    pub trace: &'a Trace,
    /// The events of the last step, on the same condition.
    pub events: &'a [Event],
    /// Registers and memory as they are now.
    pub state: &'a dyn FinalState,
    /// The thread that went wrong in the last step, and how.
    pub failure: Option<(ThreadId, Failure)>,
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Every thread that was started has ended or may rest where it is, and every store is in memory.
    Completed,
    /// These threads wait for something that never comes.
    Blocked(Vec<ThreadId>),
    /// An assumption does not hold, so the execution does not count.
    Discarded,
    /// A thread went wrong.
    Failed,
}

/// What is wrong with an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// A thread went wrong.
    Failure { thread: ThreadId, failure: Failure },
    /// Threads wait forever.
    Deadlock { blocked: Vec<ThreadId> },
    /// The final state breaks the condition of the program.
    Condition,
}

/// A monitor by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MonitorId {
    Assertion,
    Condition,
    Deadlock,
}

/// What is said of a monitor.
#[derive(Clone, Copy, Debug)]
pub struct MonitorInfo {
    pub id: MonitorId,
    /// As on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What of an execution it looks at.
    pub needs: Level,
    /// A fresh one for a program.
    pub make: fn(&Arc<Program>) -> Box<dyn Monitor>,
}

/// All monitors.
pub const MONITORS: &[MonitorInfo] = &[
    MonitorInfo {
        id: MonitorId::Assertion,
        name: "assertion",
        summary: "no assertion fails and no thread goes wrong otherwise",
        needs: Level::State,
        make: |_| Box::new(Assertion),
    },
    MonitorInfo {
        id: MonitorId::Condition,
        name: "condition",
        summary: "every final state satisfies what the program demands of it",
        needs: Level::State,
        make: |program| Box::new(BrokenCondition::new(program)),
    },
    MonitorInfo {
        id: MonitorId::Deadlock,
        name: "deadlock",
        summary: "no thread waits forever",
        needs: Level::State,
        make: |_| Box::new(Deadlock),
    },
];

impl MonitorId {
    /// Its row of [`MONITORS`].
    #[must_use]
    pub fn info(self) -> &'static MonitorInfo {
        MONITORS.iter().find(|info| info.id == self).expect("every monitor has a row")
    }

    /// The monitor called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<MonitorId> {
        MONITORS.iter().find(|info| info.name == name).map(|info| info.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_monitors_has_a_row() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/monitors")).expect("it is there");
        for file in files {
            let name = file.expect("readable").file_name().into_string().expect("plain name");
            let stem = name.strip_suffix(".rs").expect("only Rust files are there");
            assert!(stem == "mod" || MonitorId::by_name(stem).is_some(), "monitors/{name} has no row in MONITORS");
        }
    }

    #[test]
    fn every_row_makes_its_monitor() {
        let program = Arc::new(teetotal_program::gallery::store_buffering());
        for info in MONITORS {
            assert_eq!((info.make)(&program).id(), info.id);
        }
    }
}
