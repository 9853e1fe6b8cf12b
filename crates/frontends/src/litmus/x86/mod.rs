//! Tests for x86 with 32 and with 64 bits: a table of instructions with a column for each thread.

pub(super) mod access;
mod address;
mod arithmetic;
mod flags;
mod locations;
mod lower;
pub(super) mod opcode;
mod operand;
pub(super) mod register;
pub(super) mod syntax;
mod table;
mod values;

pub(super) use lower::threads;
pub(super) use register::{Register, names};
pub(super) use syntax::Line;
