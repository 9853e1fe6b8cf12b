//! Conditions on final states, and the terms that an outcome shows.

use crate::names::{Loc, Reg, ThreadId, Value};

/// Something that has a value in a final state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    Register(ThreadId, Reg),
    Memory(Loc),
}

/// Where the values of a final state are looked up.
pub trait FinalState {
    /// What `term` holds.
    fn value(&self, term: Term) -> Value;
}

/// A formula over a final state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    True,
    Compare(Operand, Comparison, Operand),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

/// One side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    Term(Term),
    Constant(Value),
}

/// How two operands are compared; the order is that of signed numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A question or a demand about the final states of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// Asks whether some final state satisfies the formula.
    Exists(Formula),
    /// Demands that none does.
    NotExists(Formula),
    /// Demands that all do.
    ForAll(Formula),
}

impl Formula {
    /// `term = value`.
    #[must_use]
    pub fn equal(term: Term, value: Value) -> Formula {
        Formula::Compare(Operand::Term(term), Comparison::Equal, Operand::Constant(value))
    }

    /// Calls `each` with every term in it.
    pub fn for_each_term(&self, each: &mut dyn FnMut(Term)) {
        match self {
            Formula::True => {}
            Formula::Compare(left, _, right) => [left, right].into_iter().for_each(|operand| match operand {
                Operand::Term(term) => each(*term),
                Operand::Constant(_) => {}
            }),
            Formula::Not(inner) => inner.for_each_term(each),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| part.for_each_term(each)),
        }
    }

    /// Whether it holds of `state`.
    pub fn holds(&self, state: &dyn FinalState) -> bool {
        match self {
            Formula::True => true,
            Formula::Compare(left, comparison, right) => comparison.holds(left.value(state), right.value(state)),
            Formula::Not(inner) => !inner.holds(state),
            Formula::And(parts) => parts.iter().all(|part| part.holds(state)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }
}

impl Condition {
    /// The formula inside.
    #[must_use]
    pub fn formula(&self) -> &Formula {
        match self {
            Condition::Exists(formula) | Condition::NotExists(formula) | Condition::ForAll(formula) => formula,
        }
    }

    /// Whether `state` breaks the demand. A question is never broken.
    pub fn is_broken_by(&self, state: &dyn FinalState) -> bool {
        match self {
            Condition::Exists(_) => false,
            Condition::NotExists(formula) => formula.holds(state),
            Condition::ForAll(formula) => !formula.holds(state),
        }
    }
}

impl Operand {
    fn value(self, state: &dyn FinalState) -> Value {
        match self {
            Operand::Term(term) => state.value(term),
            Operand::Constant(value) => value,
        }
    }
}

impl Comparison {
    fn holds(self, left: Value, right: Value) -> bool {
        let (left, right) = (left as i64, right as i64);
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }
}
