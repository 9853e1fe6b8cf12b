//! The memory models, one a file.

mod pso;
mod sc;
mod tso;

pub use pso::Pso;
pub use sc::Sc;
pub use tso::Tso;
