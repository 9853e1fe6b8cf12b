//! The instructions of a test for x86 as they are written.

use teetotal_program::{Span, Width};

use crate::litmus::syntax::Located;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::register::Register;

/// The labels and the instruction of a cell.
#[derive(Debug)]
pub(in crate::litmus) struct Line {
    pub(super) labels: Vec<Located<String>>,
    pub(super) instruction: Option<Statement>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) span: Span,
    pub(super) locked: bool,
    pub(super) opcode: Opcode,
    /// The width that the mnemonic says.
    pub(super) suffix: Option<Width>,
    /// The destination first.
    pub(super) operands: Vec<Located<Operand>>,
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Register(Register),
    Number(u64),
    AddressOf(String),
    Memory(Reference),
}

/// A place in memory: the sum of its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    pub(super) symbol: Option<String>,
    pub(super) offset: u64,
    /// Registers, each with its factor.
    pub(super) registers: Vec<(Register, u64)>,
    /// As `DWORD PTR` says.
    pub(super) width: Option<Width>,
    /// Whether it is a bare name, which may be a label as well.
    pub(super) bare: bool,
}
