//! A litmus test as it is written, before names are resolved.

use teetotal_program::condition::Comparison;
use teetotal_program::{Span, Type, Width};

use crate::litmus::opcode::Opcode;
use crate::litmus::register::Register;

/// Which machine a test is for, and so how its instructions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavor {
    /// Destination first, registers of 32 bits.
    X86,
    /// Destination last, registers of 64 bits.
    X86_64,
}

impl Flavor {
    /// The width of its registers.
    pub(super) fn full(self) -> Width {
        match self {
            Flavor::X86 => Width::W32,
            Flavor::X86_64 => Width::W64,
        }
    }
}

/// Something with its place.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub(super) it: T,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) flavor: Flavor,
    pub(super) header: Span,
    pub(super) init: Vec<Entry>,
    pub(super) threads: Vec<Vec<Line>>,
    /// What `locations` names.
    pub(super) shown: Vec<Located<Place>>,
    pub(super) quantifier: Option<Quantifier>,
    pub(super) proposition: Proposition,
}

/// One entry of the initial state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) ty: Option<Type>,
    pub(super) place: Located<Place>,
    /// The number of elements of an array.
    pub(super) length: Option<u32>,
    pub(super) values: Vec<Located<Initial>>,
}

/// A value in the initial state.
#[derive(Clone, Debug)]
pub(super) enum Initial {
    Number(u64),
    AddressOf(String, u32),
}

/// What a condition or the initial state can name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Register(usize, Register),
    Memory(String, Option<u32>),
}

/// The labels and the instruction of a cell.
#[derive(Debug)]
pub(super) struct Line {
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantifier {
    Exists,
    NotExists,
    ForAll,
}

#[derive(Debug)]
pub(super) enum Proposition {
    True,
    Compare(Located<Place>, Comparison, Located<Side>),
    Not(Box<Proposition>),
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
}

/// The right side of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Side {
    Number(u64),
    /// What a register or `[x]` holds.
    Place(Place),
    /// A name on its own, which is an address.
    Name(String),
}
