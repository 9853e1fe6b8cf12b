//! Maximal causality reduction: one execution for each class of executions that read the same values.
//!
//! A class is what each thread read and how far it came, and what memory holds at the end where somebody looks: the
//! condition, the outcome, a thread that waits. [MCR, §3] finds such executions one from the other with a solver, and
//! skips some; the search here is exhaustive and needs none. We differ in three ways:
//! 1. What a thread does is a function of what it read, so each thread is learnt once, as an automaton whose states are
//!    its histories with its pending stores, and the search walks over combinations of their states.
//! 2. Steps are left out by persistent sets that see each location of a buffer apart.
//! 3. Loads may forward, release stores and barriers count, and programs may wait, spawn and join.
//!
//! Why nothing is missed and nothing is shown twice is in `docs/theory/mcr.md`.

mod ahead;
mod automata;
mod history;
mod intern;
mod local;
mod reduction;
mod rounds;
mod rows;
mod scout;
mod search;
mod show;
mod way;

pub use search::{Settings, search, visit};
