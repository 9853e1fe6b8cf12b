//! What to say: executions and verdicts as text for people.
//!
//! A [`Timeline`] shows one execution, a column for each thread, and ends with what it means in words.
//! Everything here is a function of its arguments: it knows no terminal, no environment and no clock.

mod ansi;
mod line;
mod style;
mod text;
mod timeline;

pub use style::{Options, Style};
pub use timeline::Timeline;
