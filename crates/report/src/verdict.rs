//! The verdict of a search on a program, in one line.

use teetotal_check::{Options, Outcome, SearchId};
use teetotal_engine::{Coverage, StopReason};
use teetotal_judge::{Extent, MonitorId};
use teetotal_program::condition::Condition;
use teetotal_program::ir::{Instruction, Program};

use crate::stop;
use crate::words::count;

/// The verdict of a search on a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// An execution violates a check.
    Violated,
    /// Some final state is one that the program asks for.
    Observed,
    /// No final state is, and the search was complete.
    NeverObserved,
    /// No final state so far is, and the search was incomplete.
    NotObservedYet,
    /// No violation, and the search was complete.
    Holds,
    /// No violation was found, and the search was incomplete.
    NotViolatedYet,
    /// No execution satisfies the assumptions and the filter of the program, or none ends so that its condition could
    /// be evaluated.
    Vacuous,
}

impl Verdict {
    /// Returns the verdict on `program`, searched with `options`.
    #[must_use]
    pub fn of(program: &Program, options: &Options, outcome: &Outcome) -> Verdict {
        let complete = outcome.coverage.is_complete();
        if !outcome.violations.is_empty() {
            Verdict::Violated
        } else if outcome.is_vacuous() || is_unreached(program, options, outcome) {
            Verdict::Vacuous
        } else if asks(program, options) {
            match (&outcome.satisfying, complete) {
                (Some(_), _) => Verdict::Observed,
                (None, true) => Verdict::NeverObserved,
                (None, false) => Verdict::NotObservedYet,
            }
        } else if complete {
            Verdict::Holds
        } else {
            Verdict::NotViolatedYet
        }
    }

    /// Returns the words of the verdict line.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Violated => "violated",
            Verdict::Observed => "observed",
            Verdict::NeverObserved => "never observed",
            Verdict::NotObservedYet => "not observed so far",
            Verdict::Holds => "holds",
            Verdict::NotViolatedYet => "no violation found",
            Verdict::Vacuous => "nothing to check",
        }
    }
}

/// Returns whether the program asks for a final state and the condition is checked.
pub(crate) fn asks(program: &Program, options: &Options) -> bool {
    matches!(program.condition, Some(Condition::Exists(_))) && options.monitors.contains(&MonitorId::Condition)
}

/// Returns whether only a condition on final states is checked, and no execution has a final state.
pub(crate) fn is_unreached(program: &Program, options: &Options, outcome: &Outcome) -> bool {
    let asks_more = |id: &MonitorId| !matches!(id, MonitorId::Assertion | MonitorId::Condition | MonitorId::Deadlock);
    outcome.coverage.is_complete()
        && outcome.stats.completed == 0
        && program.condition.is_some()
        && options.monitors.contains(&MonitorId::Condition)
        && !options.monitors.iter().any(asks_more)
        && !asserts(program)
}

/// Returns whether the program has an assertion.
pub(crate) fn asserts(program: &Program) -> bool {
    program.threads.iter().flat_map(|thread| &thread.code).any(|i| matches!(i, Instruction::Assert { .. }))
}

/// Returns the coverage in parentheses: `complete, 9 states` or `stopped: 1000 states`.
pub(crate) fn certainty(program: &Program, options: &Options, outcome: &Outcome) -> String {
    match outcome.coverage {
        Coverage::Complete if outcome.is_vacuous() && program.filter.is_some() => {
            "no execution passes the filter".to_owned()
        }
        Coverage::Complete if outcome.is_vacuous() => "no execution satisfies the assumptions".to_owned(),
        Coverage::Complete if is_unreached(program, options, outcome) => "no execution ends".to_owned(),
        Coverage::Complete => format!("complete, {}", extent(outcome)),
        Coverage::Stopped(StopReason::Violation) => format!("found after {}", extent(outcome)),
        Coverage::Stopped(StopReason::Preemptions(bound)) => {
            format!("complete within {}, {}", count(bound, "preemption"), extent(outcome))
        }
        Coverage::Stopped(StopReason::Executions(n)) if is_sampled(outcome) => {
            format!("sampled: {}", count(n, "execution"))
        }
        Coverage::Stopped(reason) => format!("stopped: {}", stop::reason(program, reason)),
    }
}

/// Returns whether the search samples executions.
pub(crate) fn is_sampled(outcome: &Outcome) -> bool {
    outcome.search.info().preserves.extent == Extent::Sampled
}

/// Returns the size of the search.
fn extent(outcome: &Outcome) -> String {
    match outcome.search {
        SearchId::Stateful => count(outcome.stats.states, "state"),
        SearchId::Symbolic if outcome.stats.coarse > 0 => {
            let all = count(outcome.stats.states, "symbolic state");
            format!("{all}, {} of them abstract", outcome.stats.coarse)
        }
        SearchId::Symbolic => count(outcome.stats.states, "symbolic state"),
        // If no execution ends, only states can be counted.
        SearchId::Mcr if outcome.stats.executions == 0 => count(outcome.stats.states, "state"),
        _ => count(outcome.stats.executions, "execution"),
    }
}
