//! Searches that run one execution after the other, one a file.

mod bounded;
mod brute;
mod pct;
mod random;
mod replay;

pub use bounded::Bounded;
pub use brute::Brute;
pub use pct::{Guarantee, Pct};
pub use random::Random;
pub use replay::Replay;
