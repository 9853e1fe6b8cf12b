//! Exit codes of the command `teetotal`.
//!
//! ```
//! use teetotal::exit;
//!
//! // The most serious of several verdicts counts.
//! assert_eq!(exit::worst([exit::HOLDS, exit::INCOMPLETE, exit::VIOLATED]), exit::VIOLATED);
//! ```

use crate::{Coverage, Verdict};

/// No violation or the question is answered, and the search was complete.
pub const HOLDS: u8 = 0;

/// A violation was found.
pub const VIOLATED: u8 = 1;

/// An error in the command or in a file, or a command that failed.
pub const ERROR: u8 = 2;

/// No violation was found, but the search was incomplete.
pub const INCOMPLETE: u8 = 3;

/// There is nothing to check: no operation on shared memory and no condition, assumptions that no execution satisfies,
/// or a condition on final states although no execution ends.
pub const NOTHING_TO_CHECK: u8 = 4;

/// All exit codes, from the most serious to the least serious.
const BY_WEIGHT: [u8; 5] = [ERROR, VIOLATED, INCOMPLETE, NOTHING_TO_CHECK, HOLDS];

/// Returns the exit code for a verdict that was reached with this coverage.
#[must_use]
pub fn code(verdict: Verdict, coverage: &Coverage) -> u8 {
    match verdict {
        Verdict::Violated => VIOLATED,
        Verdict::Vacuous => NOTHING_TO_CHECK,
        Verdict::NotViolatedYet | Verdict::NotObservedYet => INCOMPLETE,
        // The state asked for was observed, but a violation may exist too.
        Verdict::Observed if !coverage.is_complete() => INCOMPLETE,
        Verdict::Observed | Verdict::NeverObserved | Verdict::Holds => HOLDS,
    }
}

/// Returns the most serious of several codes; [`HOLDS`] if there are none.
#[must_use]
pub fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    let weight = |code: &u8| BY_WEIGHT.iter().position(|c| c == code);
    codes.into_iter().min_by_key(weight).unwrap_or(HOLDS)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Builder, CheckError, Limits, ModelId, Options, Report, ThreadBuilder, check};

    /// Returns the verdict line and the exit code under TSO for a thread that runs in parallel with one that reads `x`.
    fn check_thread(limits: Limits, body: impl FnOnce(&mut ThreadBuilder<'_>, crate::Loc)) -> (String, u8) {
        let mut p = Builder::new("test");
        let x = p.shared("x", 0);
        p.thread("P0", |t| body(t, x));
        p.thread("P1", |t| {
            t.load("r", x);
        });
        let program = Arc::new(p.build().expect("well formed"));
        let options = Options { limits, ..Options::new(ModelId::Tso) };
        let outcome = check(&program, &options).expect("it can be checked");
        let report = Report { program: &program, options: &options, outcome: &outcome };
        (report.verdict_line(), code(report.verdict(), &outcome.coverage))
    }

    #[test]
    fn a_program_without_operations_leaves_nothing_to_check() {
        let program = Arc::new(Builder::new("test").build().expect("well formed"));
        let error = check(&program, &Options::new(ModelId::Tso)).expect_err("there is nothing to check");
        assert!(matches!(error, CheckError::NothingToCheck { .. }), "{error}");
    }

    #[test]
    fn an_assumption_that_never_holds_leaves_nothing_to_check() {
        let (line, code) = check_thread(Limits::default(), |t, x| {
            let r = t.load("r", x);
            t.assume(r);
            t.assert(0, "not reached");
        });
        assert_eq!(line, "test: nothing to check under tso (no execution satisfies the assumptions)");
        assert_eq!(code, NOTHING_TO_CHECK);
    }

    #[test]
    fn a_search_that_was_stopped_never_says_that_something_holds() {
        let limits = Limits { buffer: Some(1), ..Limits::default() };
        let stores = |t: &mut ThreadBuilder<'_>, x| {
            t.store(x, 1);
            t.store(x, 2);
        };
        let (line, code) = check_thread(limits, stores);
        assert_eq!(line, "test: no violation found under tso (stopped: a buffer of 1 store)");
        assert_eq!(code, INCOMPLETE);
        assert_eq!(check_thread(Limits::default(), stores).1, HOLDS);
    }

    #[test]
    fn an_endless_loop_without_operations_is_named() {
        let (line, code) = check_thread(Limits::default(), |t, x| {
            t.store(x, 1);
            t.repeat(|_, _| {});
        });
        assert_eq!(line, "test: no violation found under tso (stopped: an endless loop in P0)");
        assert_eq!(code, INCOMPLETE);
    }

    #[test]
    fn a_failed_assertion_is_a_violation() {
        let (line, code) = check_thread(Limits::default(), |t, x| {
            let r = t.load("r", x);
            t.assert(r, "x is set");
        });
        assert!(line.starts_with("test: violated under tso ("), "{line}");
        assert_eq!(code, VIOLATED);
    }

    #[test]
    fn the_most_serious_code_wins() {
        assert_eq!(worst([0, 4, 3, 1, 2]), ERROR);
        assert_eq!(worst([0, 4, 3]), INCOMPLETE);
        assert_eq!(worst([0, 4]), NOTHING_TO_CHECK);
        assert_eq!(worst([]), HOLDS);
    }
}
