//! The memory models, one a file.

mod pso;
mod rc11;
mod sc;
mod tso;

pub use pso::Pso;
pub use rc11::Rc11;
pub use sc::Sc;
pub use tso::Tso;

/// The model whose executions every other has too; its type, as `ModelId::STRONGEST` is its name.
pub type Strongest = Sc;
