//! The instructions of a test for x86 as they are written.

use teetotal_program::{Span, Width};

use crate::litmus::syntax::Located;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::register::Register;

/// The labels and the instruction of a cell.
#[derive(Debug)]
pub(in crate::litmus) struct Line {
    pub(in crate::litmus) labels: Vec<Located<String>>,
    pub(in crate::litmus) instruction: Option<Statement>,
}

#[derive(Debug)]
pub(in crate::litmus) struct Statement {
    pub(in crate::litmus) span: Span,
    pub(in crate::litmus) locked: bool,
    pub(in crate::litmus) opcode: Opcode,
    /// The width that the mnemonic says.
    pub(in crate::litmus) suffix: Option<Width>,
    /// The destination first.
    pub(in crate::litmus) operands: Vec<Located<Operand>>,
}

#[derive(Clone, Debug)]
pub(in crate::litmus) enum Operand {
    Register(Register),
    Number(u64),
    AddressOf(String),
    Memory(Reference),
}

/// A place in memory: the sum of its parts.
#[derive(Clone, Debug, Default)]
pub(in crate::litmus) struct Reference {
    pub(in crate::litmus) symbol: Option<String>,
    pub(in crate::litmus) offset: u64,
    /// Registers, each with its factor.
    pub(in crate::litmus) registers: Vec<(Register, u64)>,
    /// As `DWORD PTR` says.
    pub(in crate::litmus) width: Option<Width>,
    /// Whether it is a bare name, which may be a label as well.
    pub(in crate::litmus) bare: bool,
}
