//! Maximal causality reduction without foresight: one execution for all in which reads have the same sources.
//!
//! A subject like Rust code cannot say what it may still do, only what it does. An *annotation* says of some operations
//! where they read from, which alternative they take, or that they wait for good; with an operation it has everything in
//! its past. The search runs one execution that agrees with an annotation, and asks the order solver which of the reads
//! in it could have had another source. Each that could makes a larger annotation. Why no class is missed is in
//! `docs/theory/mcr.md`, under "Closures".

mod archive;
mod changes;
mod ended;
mod ending;
mod execution;
mod history;
mod index;
mod names;
mod pasts;
mod planning;
mod refuted;
mod run;
mod search;
mod waiting;

pub use search::watch;
