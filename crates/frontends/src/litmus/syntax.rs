//! A litmus test as it is written, before names are resolved.

use teetotal_program::condition::Comparison;
use teetotal_program::{Span, Width};

use crate::litmus::types::CType;
use crate::litmus::x86::Register;
use crate::litmus::{c, x86};

/// Which machine or language a test is for, and so how its code is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavor {
    /// Destination first, registers of 32 bits.
    X86,
    /// Destination last, registers of 64 bits.
    X86_64,
    /// Functions of C, with what C11 and the Linux kernel have for concurrency.
    C,
}

impl Flavor {
    /// The width of its registers and addresses.
    pub(super) fn full(self) -> Width {
        match self {
            Flavor::X86 => Width::W32,
            Flavor::X86_64 | Flavor::C => Width::W64,
        }
    }

    /// The width of a location of which nothing is said.
    pub(super) fn usual(self) -> Width {
        match self {
            Flavor::X86 | Flavor::C => Width::W32,
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
    pub(super) code: Code,
    /// What `locations` names.
    pub(super) shown: Vec<Located<Place>>,
    pub(super) quantifier: Option<Quantifier>,
    pub(super) proposition: Proposition,
    /// What a final state must satisfy to count.
    pub(super) filter: Option<Proposition>,
}

/// What the threads do.
#[derive(Debug)]
pub(super) enum Code {
    X86(Vec<Vec<x86::Line>>),
    C(Vec<c::Thread>),
}

impl Test {
    pub(super) fn n_threads(&self) -> usize {
        match &self.code {
            Code::X86(threads) => threads.len(),
            Code::C(threads) => threads.len(),
        }
    }
}

/// One entry of the initial state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) ty: Option<CType>,
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
    Register(usize, Named),
    Memory(String, Option<u32>),
}

/// What a thread keeps to itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Register(Register),
    /// A local variable of C.
    Local(String),
}

impl Named {
    /// What outcomes call it.
    pub(super) fn shown(&self, flavor: Flavor) -> String {
        match self {
            Named::Register(register) => register.family.name(flavor.full()),
            Named::Local(name) => name.clone(),
        }
    }
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
