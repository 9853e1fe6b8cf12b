//! The order solver: whether what the threads of a trace did can also happen in another order, and how.
//!
//! A trace says what each thread does as long as its reads return what they returned. A [`Question`] takes the beginning
//! of what each thread did and demands that a read takes its value from a certain write, that it returns a certain
//! value, or that one event happens before another. The [`Answer`] is an execution of the model, or that there is none.
//!
//! Definition: [MCR, §4.2], where it is a formula for an SMT solver. We differ in four ways:
//! 1. A load may take its value from a pending store of its own thread; as printed, a store has to reach memory before
//!    its thread reads it, and executions are missed.
//! 2. Release and `SeqCst` stores, store-store barriers, both kinds of read-modify-writes under PSO, locks, awaits,
//!    fences over all buffers, spawn and join have a meaning.
//! 3. There is no SMT solver. What must come before what is closed under rules ([`rules`]), which refutes most
//!    questions; then the moments are put in order one by one ([`frontier`]), in the order of the trace where that
//!    goes, first with the writers of the trace. Where that takes too long, a search that learns from its conflicts
//!    ([`learning`]) begins with the order of the trace and mends what goes wrong in it.
//! 4. Every order is performed by the machine ([`script`]) before anybody sees it, and giving up is an answer of its own.
//!
//! The order is one of *moments*, as in [`crate::axiomatic`]. Why the rules lose nothing is in `docs/theory/order.md`.

mod candidates;
mod formula;
mod frontier;
mod layout;
mod learning;
mod memory;
mod needs;
mod question;
mod rules;
mod schedule;
mod script;
mod solver;
#[cfg(test)]
mod tests;

pub use needs::needed;
pub use question::{Answer, Demand, Question};
pub use solver::{Effort, Narrowed, Solver};
