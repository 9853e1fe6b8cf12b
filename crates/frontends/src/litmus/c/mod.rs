//! Tests for C: a function for each thread, with the operations of C11 and of the Linux kernel.
//!
//! `library` is the table of functions, and says what each of them is.

mod call;
mod condition;
mod declarations;
mod exchange;
mod expression;
mod function;
mod inference;
mod library;
mod locations;
mod lower;
mod operators;
mod place;
mod scope;
mod statement;
mod syntax;
mod values;

pub(super) use lower::threads;
pub(super) use syntax::Thread;
