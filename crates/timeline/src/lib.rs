//! Executions as text for people.
//!
//! A [`Timeline`] shows one execution, with a column for each thread, and explains it in words. A [`Snippet`] points at
//! a place in a source. Everything here is a function of its arguments: there is no terminal, environment or clock.

mod ansi;
mod line;
mod snippet;
mod style;
pub mod text;
mod timeline;

pub use ansi::Role;
pub use line::Line;
pub use snippet::Snippet;
pub use style::{Glyphs, Options, Style};
pub use timeline::{Note, Timeline, alternative};
