//! Programs that are written with the [`Builder`] or read from text: checks and reports.

use std::sync::Arc;

#[doc(inline)]
pub use teetotal_check::CheckError;
pub use teetotal_check::Options;
pub use teetotal_check::Outcome;
pub use teetotal_check::Question;
pub use teetotal_check::Violation;
pub use teetotal_check::Witness;
pub use teetotal_check::check_with;
pub use teetotal_check::estimate;
#[doc(inline)]
pub use teetotal_dpor::CheckpointError;
pub use teetotal_dpor::Checkpoints;
pub use teetotal_dpor::Estimate;
pub use teetotal_engine::Replayed;
pub use teetotal_engine::Schedule;
pub use teetotal_engine::auto::search_for_robustness;
pub use teetotal_engine::replay;
pub use teetotal_engine::trace_of;
#[doc(inline)]
pub use teetotal_frontends::{Diagnostic, litmus, promela};
#[doc(inline)]
pub use teetotal_gallery as gallery;
#[doc(inline)]
pub use teetotal_program::condition::{Comparison, Condition, Formula, Operand, Term};
#[doc(inline)]
pub use teetotal_program::ir::{Builder, Expr, Program, ProgramError, ThreadBuilder};
#[doc(inline)]
pub use teetotal_report::{Detail, Gap, Monitored, Pair, Report, SideBySide, Spot, Tally, Verdict, dot, replayed};
#[doc(inline)]
pub use teetotal_timeline::{Options as Drawing, Snippet, Style, Timeline};

use crate::StopSignal;
#[doc(inline)]
pub use crate::monitor::{Monitoring, monitor};
#[doc(inline)]
pub use crate::record::record;

/// Searches the executions of `program`.
///
/// The outcome is deterministic and does not depend on the number of jobs.
pub fn check(program: &Arc<Program>, options: &Options) -> Result<Outcome, CheckError> {
    check_until(program, options, &|| None)
}

/// Searches the executions of `program` until `signal` returns a reason to stop.
///
/// [`Outcome::coverage`] tells whether the search was stopped.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use teetotal::{ModelId, Options, StopReason};
///
/// let program = Arc::new(teetotal::gallery::store_buffering());
/// let begin = Instant::now();
/// let signal = || (begin.elapsed() > Duration::from_secs(60)).then_some(StopReason::Time);
/// let outcome = teetotal::check_until(&program, &Options::new(ModelId::Tso), &signal)?;
/// assert!(outcome.coverage.is_complete());
/// # Ok::<(), teetotal::CheckError>(())
/// ```
pub fn check_until(program: &Arc<Program>, options: &Options, signal: StopSignal<'_>) -> Result<Outcome, CheckError> {
    teetotal_check::check(program, options, signal)
}
