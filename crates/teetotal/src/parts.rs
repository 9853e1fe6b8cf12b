//! The crates behind this one, for tools that build on them.

/// Programs: subjects, the intermediate representation, conditions.
pub use teetotal_program as program;

/// Memory models: machines, events, traces and their relations.
pub use teetotal_memory as memory;

/// Monitors, the levels that they require, and axiomatic models.
pub use teetotal_judge as judge;

/// Executions of a subject: limits, coverage, replay, tokens.
pub use teetotal_engine as engine;

/// Dynamic partial-order reduction: every execution graph once.
pub use teetotal_dpor as dpor;

/// Checking a program: options, outcome, findings.
#[cfg(feature = "programs")]
pub use teetotal_check as check;

/// Rust code as a subject: coroutines, and replacements for types of the standard library.
pub use teetotal_live as live;

/// Front ends: litmus tests and Promela models.
#[cfg(feature = "programs")]
pub use teetotal_frontends as frontends;

/// An execution as text.
pub use teetotal_timeline as timeline;

/// Recorded executions, read and written.
pub use teetotal_traces as traces;

/// Reports: verdicts and findings.
#[cfg(feature = "programs")]
pub use teetotal_report as report;
