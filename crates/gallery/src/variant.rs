//! How a program of the gallery varies: with or without its fences and assertions, and how its threads wait.

use std::fmt::Display;

use teetotal_program::Order;
use teetotal_program::Reg;
use teetotal_program::condition::{Condition, Formula};
use teetotal_program::ir::{Address, Builder, Expr, Instruction, Program, ThreadBuilder};

/// Which version of a program is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// Whether full fences stand where the C sources have them under `-DFENCED`.
    pub fenced: bool,
    /// Whether assertions are checked; without them, as under `-DNOASSERT`, their loads stay.
    pub asserts: bool,
    pub waiting: Waiting,
}

/// What becomes of a loop that spins until something holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Waiting {
    /// The thread waits; only the turn in which the loop ends is an event.
    Await,
    /// An execution that would spin is discarded, which is what Nidhugg and GenMC do with such loops.
    Assume,
    /// It spins, and executions may be endless.
    Loop,
}

impl Variant {
    /// Without fences, with assertions; threads wait.
    pub const PLAIN: Variant = Variant { fenced: false, asserts: true, waiting: Waiting::Await };
    /// With fences and assertions; threads wait.
    pub const FENCED: Variant = Variant { fenced: true, ..Variant::PLAIN };

    /// The same without assertions.
    #[must_use]
    pub fn unchecked(self) -> Variant {
        Variant { asserts: false, ..self }
    }

    /// The same with another way to wait.
    #[must_use]
    pub fn with_waiting(self, waiting: Waiting) -> Variant {
        Variant { waiting, ..self }
    }

    /// The name of a program in this version and of this size.
    pub(super) fn name(self, name: &str, size: impl Display) -> String {
        if self.fenced { format!("{name}-fenced-{size}") } else { format!("{name}-{size}") }
    }

    /// A full fence, in the fenced version.
    #[track_caller]
    pub(super) fn fence(self, t: &mut ThreadBuilder<'_>) {
        if self.fenced {
            t.fence();
        }
    }

    /// An assertion, in the version with assertions.
    #[track_caller]
    pub(super) fn assert(self, t: &mut ThreadBuilder<'_>, condition: impl Into<Expr>, message: &str) {
        if self.asserts {
            t.assert(condition, message);
        }
    }

    /// A demand on final states, in the version with assertions.
    pub(super) fn demand(self, p: &mut Builder, formula: Formula) {
        if self.asserts {
            p.condition(Condition::ForAll(formula));
        }
    }

    /// Reads `from` into `to` again and again until `until` is true of it.
    #[track_caller]
    pub(super) fn spin(self, t: &mut ThreadBuilder<'_>, to: Reg, from: impl Into<Address>, until: impl Into<Expr>) {
        let (from, until) = (from.into(), until.into());
        match self.waiting {
            Waiting::Await => t.push(Instruction::Await { loads: vec![(to, from)], until }),
            Waiting::Assume => {
                fetch(t, to, from);
                t.assume(until);
            }
            Waiting::Loop => t.repeat(|t, labels| {
                fetch(t, to, from);
                t.branch(until, labels.exit);
            }),
        }
    }
}

/// Loads into a register, plain.
#[track_caller]
pub(super) fn fetch(t: &mut ThreadBuilder<'_>, to: Reg, from: impl Into<Address>) {
    t.push(Instruction::Load { to, from: from.into(), order: Order::Plain });
}

/// The program, which is well formed because it stands in the gallery.
pub(super) fn finish(p: Builder) -> Program {
    p.build().expect("the programs of the gallery are well formed")
}
