//! What to say: executions and verdicts as text for people.
//!
//! A [`Timeline`] shows one execution, a column for each thread, and ends with what it means in words.
//! A [`Report`] says what a search found: a verdict line, what is wrong in words, and one execution that shows it.
//! It is also told as herd7 does, in a line of JSON, or as a graph. A [`SideBySide`] sets models side by side.
//! A [`Snippet`] points at a mistake in a source.
//! Everything here is a function of its arguments: it knows no terminal, no environment and no clock.

mod aftermath;
mod ansi;
mod compare;
mod dot;
mod finding;
mod herd;
mod json;
mod line;
mod monitored;
mod outcome;
mod reason;
mod record;
mod replayed;
mod robustness;
mod sample;
mod snippet;
mod state;
mod stats;
mod stop;
mod style;
mod tally;
mod text;
mod timeline;
mod verdict;
mod words;

pub use compare::SideBySide;
pub use dot::dot;
pub use monitored::{Gap, Monitored, Pair, Spot};
pub use outcome::{Detail, Report};
pub use replayed::replayed;
pub use snippet::Snippet;
pub use style::{Options, Style};
pub use tally::Tally;
pub use timeline::{Note, Timeline};
pub use verdict::Verdict;
