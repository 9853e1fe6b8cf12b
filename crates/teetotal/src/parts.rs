//! The crates that the façade is made of, for those who build on the parts.

/// What is checked: subjects, the intermediate representation, conditions.
pub use teetotal_program as program;

/// How memory behaves: machines, events, traces and their relations.
pub use teetotal_memory as memory;

/// What counts as wrong: monitors and the levels that they look at.
pub use teetotal_judge as judge;

/// Executions of a subject, one after the other: limits, coverage, replay, tokens.
pub use teetotal_engine as engine;

/// Dynamic partial-order reduction: every execution graph once.
pub use teetotal_dpor as dpor;

/// The question asked of a search: its options, its outcome, and who found what.
#[cfg(feature = "programs")]
pub use teetotal_check as check;

/// Real code as a subject: coroutines, and look-alikes of the standard library.
pub use teetotal_live as live;

/// What people already have files for: litmus tests and Promela models.
#[cfg(feature = "programs")]
pub use teetotal_frontends as frontends;

/// An execution as text.
pub use teetotal_timeline as timeline;

/// Recorded executions, read and written.
pub use teetotal_traces as traces;

/// What to say of a program: verdicts and findings.
#[cfg(feature = "programs")]
pub use teetotal_report as report;
