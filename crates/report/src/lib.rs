//! Reports: verdicts as text.
//!
//! A [`Report`] describes the result of a search: a verdict line, the violation in words, and one execution that shows
//! it. It is also available in the format of herd7, as a line of JSON, or as a graph. A [`SideBySide`] compares models.
//! Everything here is a function of its arguments: there is no terminal, environment or clock.

mod aftermath;
mod compare;
mod dot;
mod finding;
mod herd;
mod json;
mod monitored;
mod outcome;
mod reason;
mod record;
mod replayed;
mod robustness;
mod sample;
mod state;
mod stats;
mod stop;
mod tally;
mod verdict;
mod words;

pub use compare::SideBySide;
pub use dot::dot;
pub use monitored::{Gap, Monitored, Pair, Spot};
pub use outcome::{Detail, Report};
pub use replayed::replayed;
pub use tally::Tally;
pub use teetotal_timeline::Options;
pub use verdict::Verdict;
