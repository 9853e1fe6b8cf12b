//! An execution as text for people.
//!
//! A [`Timeline`] shows one execution, a column for each thread, and ends with what it means in words.
//! A [`Snippet`] points at a place in a source.
//! Everything here is a function of its arguments: it knows no terminal, no environment and no clock.

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
