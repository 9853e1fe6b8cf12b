//! What to say: verdicts as text for people.
//!
//! A [`Report`] says what a search found: a verdict line, what is wrong in words, and one execution that shows it.
//! It is also told as herd7 does, in a line of JSON, or as a graph. A [`SideBySide`] sets models side by side.
//! Everything here is a function of its arguments: it knows no terminal, no environment and no clock.

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
