//! Random programs and a one-line notation, for the tests of every crate.
//!
//! [`generate`] makes a program from a seed, [`Coverage`] counts what such programs contain, [`shrink()`] makes one that
//! shows a fault small enough to read, and [`program`] reads programs as short as `x=1; r0=y || y=1; r1=x`.

mod coverage;
mod generator;
mod looped;
mod notation;
mod parts;
mod rebuild;
mod rng;
mod shape;
mod shrink;
mod size;

pub use coverage::Coverage;
pub use generator::generate;
pub use looped::looped;
pub use notation::program;
pub use rebuild::rebuild;
pub use rng::Rng;
pub use shape::{Idioms, Shape};
pub use shrink::shrink;
pub use size::interleavings_bound;
