//! What to say: executions and verdicts as text for people.
//!
//! A [`Timeline`] shows one execution, a column for each thread, and ends with what it means in words.
//! A [`Report`] says what a search found: a verdict line, what is wrong in words, and one execution that shows it.
//! Everything here is a function of its arguments: it knows no terminal, no environment and no clock.

mod aftermath;
mod ansi;
mod finding;
mod line;
mod outcome;
mod replayed;
mod stats;
mod stop;
mod style;
mod text;
mod timeline;
mod verdict;
mod words;

pub use outcome::{Detail, Report};
pub use replayed::replayed;
pub use style::{Options, Style};
pub use timeline::Timeline;
pub use verdict::Verdict;
