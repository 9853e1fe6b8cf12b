//! Searches that run one execution after the other, one a file.

mod brute;
mod replay;

pub use brute::Brute;
pub use replay::Replay;
