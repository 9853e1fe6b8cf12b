//! Searches of programs, in one program, which is quicker to build than one for each file.

mod bounded;
mod checkpoint;
mod classics;
mod coarse;
mod dpor;
mod endless;
mod exclusive;
mod gallery;
mod limits;
mod machines;
mod matrix;
mod mcr;
mod minimize;
mod races;
mod reduction;
mod robustness;
mod sampling;
mod symbolic;
mod tokens;
