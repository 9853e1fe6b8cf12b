//! Monitors watch an execution and say what is wrong with it.

use std::sync::Arc;

use teetotal_memory::{Event, Family, ModelId, Trace};
use teetotal_program::condition::FinalState;
use teetotal_program::ir::Program;
use teetotal_program::{Failure, ThreadId};

use crate::level::Level;
use crate::monitors::robustness::{Borderline, Buffers, Delay, Robustness, Sober, SoberAsPrinted};
use crate::monitors::{Assertion, BrokenCondition, Deadlock, Races};
use crate::races::DataRace;

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
    fn end(&mut self, _view: &View<'_>, _ending: &Ending) -> Vec<Finding> {
        Vec::new()
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
    /// Two accesses are not ordered, and one of them is not atomic.
    Race(DataRace),
    /// An execution of the model is not one of sequential consistency.
    NotRobust(Delay),
}

impl Finding {
    /// Whether it tells of the same fault as `other`, if not of the same execution.
    #[must_use]
    pub fn is_like(&self, other: &Finding) -> bool {
        match (self, other) {
            (Finding::NotRobust(delay), Finding::NotRobust(other)) => delay.is_like(other),
            _ => self == other,
        }
    }
}

/// A monitor by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MonitorId {
    Assertion,
    Condition,
    Deadlock,
    Races,
    Robustness,
    Sober,
    SoberAsPrinted,
    Buffers,
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
    /// Whose executions it has to be shown.
    pub watches: Watches,
    /// A fresh one for a program and the model that is asked about.
    pub make: fn(&Arc<Program>, ModelId) -> Box<dyn Monitor>,
}

/// Whose executions a monitor watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watches {
    /// Those of the model that is asked about.
    Model,
    /// Those of sequential consistency, and it tells of those of models of store buffers up to one of them.
    SequentialConsistency { up_to: Option<ModelId> },
}

impl Watches {
    /// Whether executions of `model` can be asked about.
    #[must_use]
    pub fn knows(self, model: ModelId) -> bool {
        match self {
            Watches::Model => true,
            Watches::SequentialConsistency { up_to } => {
                matches!(model.info().family, Family::Buffers(_)) && up_to.is_none_or(|weakest| model <= weakest)
            }
        }
    }
}

/// Robustness can be asked of every model of store buffers.
const ALL: Watches = Watches::SequentialConsistency { up_to: None };

/// Sober knows TSO.
const UP_TO_TSO: Watches = Watches::SequentialConsistency { up_to: Some(ModelId::Tso) };

/// All monitors.
pub const MONITORS: &[MonitorInfo] = &[
    MonitorInfo {
        id: MonitorId::Assertion,
        name: "assertion",
        summary: "no assertion fails, and no thread fails otherwise",
        needs: Level::State,
        watches: Watches::Model,
        make: |_, _| Box::new(Assertion),
    },
    MonitorInfo {
        id: MonitorId::Condition,
        name: "condition",
        summary: "the final states satisfy the condition of the program",
        needs: Level::State,
        watches: Watches::Model,
        make: |program, _| Box::new(BrokenCondition::new(program)),
    },
    MonitorInfo {
        id: MonitorId::Deadlock,
        name: "deadlock",
        summary: "no thread is blocked forever",
        needs: Level::State,
        watches: Watches::Model,
        make: |_, _| Box::new(Deadlock),
    },
    MonitorInfo {
        id: MonitorId::Races,
        name: "races",
        summary: "accesses that are not atomic are ordered by happens-before, as C11 and Rust require",
        needs: Level::Synchronization,
        watches: Watches::Model,
        make: |program, _| Box::new(Races::new(program)),
    },
    MonitorInfo {
        id: MonitorId::Robustness,
        name: "robustness",
        summary: "every execution is sequentially consistent; decided by a search of sc executions",
        needs: Level::Trace,
        watches: ALL,
        make: |program, model| {
            Box::new(Robustness::new(MonitorId::Robustness, program, model, Borderline::new(program, model)))
        },
    },
    MonitorInfo {
        id: MonitorId::Sober,
        name: "sober",
        summary: "robustness under TSO by Sober's relaxed happens-before, corrected",
        needs: Level::Trace,
        watches: UP_TO_TSO,
        make: |program, model| Box::new(Robustness::new(MonitorId::Sober, program, model, Sober::new(program))),
    },
    MonitorInfo {
        id: MonitorId::SoberAsPrinted,
        name: "sober-as-printed",
        summary: "robustness under TSO by Sober as published, which misses violations",
        needs: Level::Trace,
        watches: UP_TO_TSO,
        make: |program, model| {
            Box::new(Robustness::new(MonitorId::SoberAsPrinted, program, model, SoberAsPrinted::new(program)))
        },
    },
    MonitorInfo {
        id: MonitorId::Buffers,
        name: "buffers",
        summary: "robustness by Burnim, Sen and Stergiou's simulation of buffers; needs every interleaving",
        needs: Level::EveryInterleaving,
        watches: ALL,
        make: |program, model| {
            Box::new(Robustness::new(MonitorId::Buffers, program, model, Buffers::new(program, model)))
        },
    },
];

impl MonitorId {
    /// Its row of [`MONITORS`].
    #[must_use]
    pub fn info(self) -> &'static MonitorInfo {
        MONITORS.iter().find(|info| info.id == self).expect("every monitor has a row")
    }

    /// The monitors that are run where none is named: those that watch the states of the model itself.
    ///
    /// Not every language has a meaning for data races.
    #[must_use]
    pub fn defaults() -> Vec<MonitorId> {
        let is_default = |info: &&MonitorInfo| info.watches == Watches::Model && info.needs == Level::State;
        MONITORS.iter().filter(is_default).map(|info| info.id).collect()
    }

    /// Whether it watches sequential consistency and tells of another model.
    #[must_use]
    pub fn is_about_robustness(self) -> bool {
        self.info().watches != Watches::Model
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
            let stem = name.strip_suffix(".rs").unwrap_or(&name);
            assert!(stem == "mod" || MonitorId::by_name(stem).is_some(), "monitors/{name} has no row in MONITORS");
        }
    }

    #[test]
    fn every_row_makes_its_monitor() {
        let program = Arc::new(teetotal_gallery::store_buffering());
        for info in MONITORS {
            assert_eq!((info.make)(&program, ModelId::Tso).id(), info.id);
        }
    }
}
