//! The intermediate representation: what text front ends lower to.
//!
//! A [`Program`] is data: locations, threads, instructions with their places in a source.
//! [`Interpreter`] runs it as a [`crate::Subject`], [`Builder`] writes it in Rust, [`printer`] shows it.

mod address;
mod builder;
mod control;
mod expr;
mod fencing;
mod footprint;
mod forgotten;
mod frame;
mod instruction;
mod interpreter;
pub mod printer;
mod program;
mod validate;

pub use address::{Address, AddressMap};
pub use builder::{Array, Builder, Label, LoopLabels, ThreadBuilder};
pub use expr::{BinaryOp, EvalError, Expr, UnaryOp};
pub use instruction::{FetchOp, Guard, Instruction, Update};
pub use interpreter::Interpreter;
pub use program::{Language, LocationInfo, Place, Program, RegisterInfo, ThreadCode};
pub use validate::ProgramError;
