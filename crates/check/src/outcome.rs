//! What a check found.

use std::collections::BTreeMap;

use teetotal_engine::stateless::Guarantee;
use teetotal_engine::{Coverage, Schedule, SearchId, Stats, Token};
use teetotal_judge::{Finding, MonitorId};
use teetotal_memory::{ModelId, Trace};
use teetotal_program::Value;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The model that was asked about.
    pub model: ModelId,
    /// The model whose executions were searched: for robustness sequential consistency, else the same.
    pub explored: ModelId,
    /// The search that was taken; never `Auto`.
    pub search: SearchId,
    /// Why it was: the end of "`x` was taken, since ...".
    pub search_reason: &'static str,
    pub coverage: Coverage,
    /// The final states of completed executions, as values of the observed terms, each with one way to get there.
    pub states: BTreeMap<Vec<Value>, Schedule>,
    /// An execution whose final state satisfies the formula of the condition.
    pub satisfying: Option<Witness>,
    /// An execution whose final state does not.
    pub falsifying: Option<Witness>,
    /// What is wrong, in the order in which it was found.
    pub violations: Vec<Violation>,
    /// Whether full fences after the stores of all violations of robustness are known to leave none.
    pub fences_suffice: bool,
    /// What a search by random priorities promises, if it can promise something.
    pub guarantee: Option<Guarantee>,
    pub stats: Stats,
}

/// An execution that shows a final state, replayed and accepted by the axiomatic model.
#[derive(Clone, PartialEq, Debug)]
pub struct Witness {
    pub schedule: Schedule,
    pub trace: Trace,
    /// Replays it.
    pub token: Token,
    /// What the observed terms hold at the end of it.
    pub values: Vec<Value>,
}

/// Something wrong, with the execution that shows it.
#[derive(Clone, Debug)]
pub struct Violation {
    pub monitor: MonitorId,
    pub finding: Finding,
    pub schedule: Schedule,
    /// Whether every execution that shows it has at least as many context switches, then commits, then steps.
    pub is_minimal: bool,
    /// The execution, replayed from the schedule and accepted by the axioms of the model.
    pub trace: Trace,
    /// Replays it.
    pub token: Token,
    /// What the observed terms hold at the end of it.
    pub values: Vec<Value>,
    /// The model that allows it.
    pub model: ModelId,
    /// In how many executions it was seen.
    pub executions: u64,
    /// For a violation of robustness, the execution of sequential consistency in which it was seen.
    pub seen_in: Option<Token>,
}

impl Outcome {
    /// Whether no execution counts, because assumptions or the filter rule out all of them.
    #[must_use]
    pub fn is_vacuous(&self) -> bool {
        let Stats { completed, blocked, failed, discarded, .. } = self.stats;
        self.coverage.is_complete() && discarded > 0 && completed + blocked + failed == 0
    }
}
