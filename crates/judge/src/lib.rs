//! What counts as wrong: the axiomatic twin of each machine.

pub mod axiomatic;
