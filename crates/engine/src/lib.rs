//! Executions of a subject under a memory model: the system that performs steps, and what every search needs.
//!
//! [`driver`] runs one execution after the other for a [`Strategy`]; [`stateless`] has the strategies. A [`Collector`]
//! runs monitors over executions, a [`Token`] is one execution in a line of text, and [`replay`] runs it again.

pub mod auto;
mod chance;
mod collector;
mod construct;
pub mod driver;
mod execution;
mod limits;
mod outcome;
pub mod persistent;
mod replay;
mod schedule;
pub mod search;
pub mod stateless;
mod strategy;
mod support;
mod system;
pub mod token;

pub use chance::Chance;
pub use collector::{Collector, Found, counted};
pub use construct::{Construct, Constructed};
pub use execution::{Execution, More};
pub use limits::{LimitError, Limits};
pub use outcome::{Coverage, Stats, StopReason};
pub use replay::{Performed, Replayed, named, perform, replay, run_again, show, trace_of};
pub use schedule::{Move, Schedule};
pub use search::{SEARCHES, SearchId, SearchInfo, Unsupported};
pub use strategy::{Abandon, Choice, Strategy};
pub use support::{undefined, unsupported};
pub use system::{System, ending};
pub use token::{Token, TokenError};
