//! The crates that the façade is made of, for those who build on the parts.

/// What is checked: subjects, the intermediate representation, conditions.
pub use teetotal_program as program;

/// How memory behaves: machines, events, traces and their relations.
pub use teetotal_memory as memory;

/// What counts as wrong: monitors and the levels that they look at.
pub use teetotal_judge as judge;

/// Which executions: searches, limits, tokens.
pub use teetotal_explore as explore;

/// Real code as a subject: coroutines, and look-alikes of the standard library.
pub use teetotal_live as live;

/// What people already have files for: litmus tests and Promela models.
pub use teetotal_frontends as frontends;

/// What to say: verdicts and timelines.
pub use teetotal_report as report;
