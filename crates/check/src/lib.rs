//! The entry: a program, a model, a search and the monitors to run.
//!
//! [`check`] matches search and monitors, makes what is found simpler, replays it, and asks the axiomatic model about it.

mod check;
mod finish;
pub mod minimize;
mod options;
mod outcome;
mod programs;
mod recorded;

pub use check::{check, check_with, estimate};
pub use options::{CheckError, Options, Question};
pub use outcome::{Outcome, Violation, Witness};
pub use recorded::each_execution;
pub use teetotal_engine::{SEARCHES, SearchId, SearchInfo};
pub use teetotal_robustness::Waiter;
