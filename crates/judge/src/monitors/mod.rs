//! The monitors, one a file.

mod assertion;
mod condition;
mod deadlock;
mod races;
pub mod robustness;

pub use assertion::Assertion;
pub use condition::BrokenCondition;
pub use deadlock::Deadlock;
pub use races::Races;
