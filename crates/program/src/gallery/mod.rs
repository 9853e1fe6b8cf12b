//! Programs to show and to measure: the classic shapes, and those of the papers.

mod classics;

pub use classics::{message_passing, n6, store_buffering, two_plus_two_writes};
