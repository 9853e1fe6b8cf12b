//! Vector clocks, and the happens-before of C11 and Rust that they decide along an execution.
//!
//! A [`Clock`] says of each thread how much of it is known. [`HappensBefore`] keeps those of the threads of an execution
//! and of its writes. Where clocks are made for each event or each location of an execution, they stand in a
//! [`ClockTable`].
//!
//! Nothing here knows what is accessed: which accesses race is for those to say who know what an access is.

mod clock;
mod happens_before;
mod table;

pub use clock::Clock;
pub use happens_before::HappensBefore;
pub use table::{ClockTable, join};
