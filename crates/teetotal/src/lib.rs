//! Checks concurrent programs under sequential consistency (SC), total store order (TSO) and partial store order (PSO).
//!
//! Write a program with the [`Builder`], [`check`] it under a model, and say what came of it with a [`Report`].
//!
//! ```
//! use std::sync::Arc;
//! use teetotal::{Builder, Condition, Detail, Formula, ModelId, Options, Report, Verdict};
//!
//! // Store buffering: each thread writes one location and reads the other.
//! let mut p = Builder::new("SB");
//! let x = p.shared("x", 0);
//! let y = p.shared("y", 0);
//! let p0 = p.thread("P0", |t| {
//!     t.store(x, 1);
//!     t.load("r0", y);
//! });
//! let p1 = p.thread("P1", |t| {
//!     t.store(y, 1);
//!     t.load("r1", x);
//! });
//! let r0 = p.register(p0, "r0").expect("loaded above");
//! let r1 = p.register(p1, "r1").expect("loaded above");
//!
//! // Nobody expects both to read 0.
//! let both = Formula::And(vec![Formula::equal(r0, 0), Formula::equal(r1, 0)]);
//! p.condition(Condition::NotExists(both));
//! let program = Arc::new(p.build()?);
//!
//! let sc = Options::new(ModelId::Sc);
//! let outcome = teetotal::check(&program, &sc)?;
//! assert_eq!(Verdict::of(&program, &sc, &outcome), Verdict::Holds);
//!
//! let tso = Options::new(ModelId::Tso);
//! let outcome = teetotal::check(&program, &tso)?;
//! let report = Report { program: &program, options: &tso, outcome: &outcome };
//! assert_eq!(report.verdict(), Verdict::Violated);
//! let text = report.render(Detail::Brief, teetotal::Drawing::default());
//! assert!(text.starts_with("SB: violated under tso"));
//! assert!(text.contains("P1 read x = 0 at step"));
//!
//! // The same execution again, from one line of text.
//! let token = outcome.violations[0].token.to_string().parse()?;
//! assert_eq!(teetotal::replay(&program, &token)?.trace, outcome.violations[0].trace);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A search looks at every execution of the named model, or says why it stopped: see [`Coverage`].
//! It is complete under that model and says nothing of weaker ones.

#![warn(missing_docs)]

pub mod exit;
mod loom;
pub mod model;
mod monitor;
pub mod parts;
mod record;
pub mod shim;

use std::sync::Arc;

#[doc(inline)]
pub use teetotal_explore::dpor::{CheckpointError, Checkpoints, Estimate};
#[doc(inline)]
pub use teetotal_explore::{
    CheckError, Coverage, LimitError, Limits, Options, Outcome, Replayed, SEARCHES, Schedule, SearchId, SearchInfo,
    Stats, StopReason, Token, TokenError, Violation, check_with, estimate, replay, trace_of,
};
#[doc(inline)]
pub use teetotal_frontends::{Diagnostic, litmus, promela, traces};
#[doc(inline)]
pub use teetotal_judge::{Ending, Extent, Finding, Level, MONITORS, MonitorId, MonitorInfo, Preserves};
#[doc(inline)]
pub use teetotal_memory::{MODELS, ModelId, ModelInfo, Trace};
#[doc(inline)]
pub use teetotal_program::condition::{Comparison, Condition, Formula, Operand, Term};
#[doc(inline)]
pub use teetotal_program::gallery;
#[doc(inline)]
pub use teetotal_program::ir::{Builder, Expr, Program, ProgramError, ThreadBuilder};
#[doc(inline)]
pub use teetotal_program::{Loc, Order, Reg, Source, Span, ThreadId, Type, Value, Width};
#[doc(inline)]
pub use teetotal_report::{
    Detail, Gap, Monitored, Options as Drawing, Pair, Report, SideBySide, Snippet, Spot, Style, Tally, Timeline,
    Verdict, dot, replayed,
};

#[doc(inline)]
pub use teetotal_explore::driver::{Progress, Signal};

#[doc(inline)]
pub use loom::{MAX_THREADS, explore, skip_branch, stop_exploring};
#[doc(inline)]
pub use model::model;
#[doc(inline)]
pub use monitor::{Monitoring, monitor};
#[doc(inline)]
pub use record::record;
#[doc(hidden)]
pub use teetotal_live::{__lazy_static, recorded};
#[doc(inline)]
pub use teetotal_live::{alloc, cell, future, hint, lazy_static, sync, thread, thread_local};

/// Asked now and then whether a search is to stop, and why: a closure, or a [`Signal`] that is told of the progress.
pub type StopSignal<'a> = teetotal_explore::driver::StopSignal<'a>;

/// Searches the executions of `program`.
///
/// The outcome is the same each time, whatever the number of jobs.
pub fn check(program: &Arc<Program>, options: &Options) -> Result<Outcome, CheckError> {
    check_until(program, options, &|| None)
}

/// Searches the executions of `program` until `signal` gives a reason to stop.
///
/// A search that was stopped says so in [`Outcome::coverage`].
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
    teetotal_explore::check(program, options, signal)
}
