//! Which executions: searches over the executions of a subject, and what they find.
//!
//! [`check`] is the entry: a program, a model, a search and the monitors to run.
//! There are two loops, [`driver`] for searches that run one execution after the other and [`stateful`] for the one that
//! walks over states; both perform steps through [`System`] and nothing else does.

pub mod annotations;
mod auto;
mod chance;
mod check;
mod collector;
pub mod dpor;
pub mod driver;
mod limits;
pub mod mcr;
pub mod minimize;
mod outcome;
mod recorded;
mod replay;
pub mod robustness;
mod search;
pub mod stateful;
pub mod stateless;
mod strategy;
pub mod symbolic;
mod system;
pub mod token;

pub use check::{CheckError, Options, check, check_with, estimate};
pub use collector::{Collector, Found};
pub use limits::{LimitError, Limits};
pub use outcome::{Coverage, Outcome, Schedule, Stats, StopReason, Violation};
pub use recorded::{Waiter, each_execution, waiters};
pub use replay::{Replayed, replay, trace_of};
pub use search::{SEARCHES, SearchId, SearchInfo};
pub use strategy::{Abandon, Choice, Strategy};
pub use system::System;
pub use token::{Token, TokenError};
