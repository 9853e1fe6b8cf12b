//! Random programs and a one-line notation, for the tests of every crate.
