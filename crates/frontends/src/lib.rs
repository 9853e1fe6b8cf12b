//! Front ends: texts that people already have, read as programs.
//!
//! [`litmus::read`] reads the litmus tests of herd7, [`promela::read`] the models of SPIN.
//! A text that is refused gives every [`Diagnostic`] that one pass can find, each with its place.

mod diagnostics;
mod frontend;
pub mod litmus;
pub mod promela;
pub mod suggest;

pub use diagnostics::{Diagnostic, MOST_DIAGNOSTICS};
pub use frontend::{FRONTENDS, Frontend, Reading, Settings};
