//! Searches that run one execution after the other, one a file.

mod brute;
mod follow;
mod replay;

pub use brute::Brute;
pub use follow::Follow;
pub use replay::Replay;
