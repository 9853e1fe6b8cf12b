//! A model as it is written, with names resolved.

use teetotal_program::Span;

/// Something and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub(super) it: T,
    pub(super) span: Span,
}

/// A whole model.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) globals: Vec<Variable>,
    /// In the order of the text; `init` is one.
    pub(super) proctypes: Vec<Proctype>,
}

/// A variable or an array of them.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Kind,
    pub(super) length: Option<u32>,
    /// One for each element; all zero for a variable of a process, which is set when its declaration is reached.
    pub(super) initial: Vec<i64>,
}

/// An integer type: how many bits, and whether they have a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl Kind {
    pub(super) const BIT: Kind = Kind { bits: 1, signed: false };
    pub(super) const BYTE: Kind = Kind { bits: 8, signed: false };
    pub(super) const SHORT: Kind = Kind { bits: 16, signed: true };
    pub(super) const INT: Kind = Kind { bits: 32, signed: true };

    /// The smallest and the largest value.
    pub(super) fn range(self) -> (i64, i64) {
        if self.signed { (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) }
    }

    /// `value` as it is held.
    pub(super) fn wrap(self, value: i64) -> i64 {
        let unused = 64 - self.bits;
        let raised = (value as u64) << unused;
        if self.signed { (raised as i64) >> unused } else { (raised >> unused) as i64 }
    }
}

/// A kind of process.
#[derive(Debug)]
pub(super) struct Proctype {
    pub(super) name: Located<String>,
    /// How many run from the beginning.
    pub(super) active: u32,
    /// How many of its variables are parameters; they come first.
    pub(super) n_parameters: usize,
    pub(super) locals: Vec<Variable>,
    pub(super) body: Vec<Statement>,
}

/// A variable by its number, among all shared ones or among those of its process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Global(usize),
    Local(usize),
}

/// A variable, or an element of an array.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: Name,
    pub(super) index: Option<Box<Expr>>,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) it: Term,
    pub(super) span: Span,
    /// How many expressions are inside each other.
    pub(super) depth: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Term {
    Number(i64),
    Read(Place),
    /// `_pid`.
    Pid,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// The second where the first is not zero, else the third.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Not,
    Negate,
    Complement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A statement with the labels before it.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) labels: Vec<Located<String>>,
    pub(super) it: Action,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Waits until the expression is not zero.
    Guard(Expr),
    Assign(Place, Expr),
    Assert(Expr),
    /// `skip`, `printf` and the like.
    Skip,
    Else,
    Goto(Located<String>),
    Break,
    If(Vec<Vec<Statement>>),
    Do(Vec<Vec<Statement>>),
    Atomic(Vec<Statement>),
    DStep(Vec<Statement>),
    Block(Vec<Statement>),
    Run(Located<String>, Vec<Expr>),
    Fence,
    /// Waits until all buffers are empty.
    Sync,
    /// Swaps in a value and gives what was there.
    Exchange {
        at: Place,
        new: Expr,
        into: Option<Place>,
    },
    /// Writes `new` over `old`; gives whether it did or, without a place to put that, waits until it does.
    CompareExchange {
        at: Place,
        old: Expr,
        new: Expr,
        into: Option<Place>,
    },
}

impl Expr {
    /// A number that stands where `span` says.
    pub(super) fn number(value: i64, span: Span) -> Expr {
        Expr { it: Term::Number(value), span, depth: 1 }
    }

    /// Calls `visit` with each read of a shared variable, in the order of the text.
    pub(super) fn shared(&self, visit: &mut dyn FnMut(&Place)) {
        match &self.it {
            Term::Number(_) | Term::Pid => {}
            Term::Read(place) => {
                place.shared_index(visit);
                if matches!(place.name, Name::Global(_)) {
                    visit(place);
                }
            }
            Term::Unary(_, inner) => inner.shared(visit),
            Term::Binary(_, left, right) => [left, right].into_iter().for_each(|part| part.shared(visit)),
            Term::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| part.shared(visit)),
        }
    }

    /// Whether it is `!` of another.
    pub(super) fn is_negation(&self) -> bool {
        matches!(self.it, Term::Unary(Unary::Not, _))
    }

    /// How many expressions it is made of.
    pub(super) fn size(&self) -> usize {
        1 + match &self.it {
            Term::Number(_) | Term::Pid => 0,
            Term::Read(place) => place.index.as_ref().map_or(0, |index| index.size()),
            Term::Unary(_, inner) => inner.size(),
            Term::Binary(_, left, right) => left.size() + right.size(),
            Term::Conditional(a, b, c) => a.size() + b.size() + c.size(),
        }
    }

    /// How often it reads shared variables.
    pub(super) fn n_shared(&self) -> usize {
        let mut count = 0;
        self.shared(&mut |_| count += 1);
        count
    }

    /// Its value if it needs no variable; `read` gives what is known of those of the process.
    pub(super) fn constant(&self, read: &dyn Fn(usize) -> Option<i64>, pid: Option<i64>) -> Option<i64> {
        match &self.it {
            Term::Number(value) => Some(*value),
            Term::Pid => pid,
            Term::Read(Place { name: Name::Local(local), index: None, .. }) => read(*local),
            Term::Read(_) => None,
            Term::Unary(op, inner) => Some(op.apply(inner.constant(read, pid)?)),
            Term::Binary(op, left, right) => match (op, left.constant(read, pid), right.constant(read, pid)) {
                (Binary::And, Some(0), _) | (Binary::And, _, Some(0)) => Some(0),
                (Binary::Or, Some(known), _) | (Binary::Or, _, Some(known)) if known != 0 => Some(1),
                (op, left, right) => op.apply(left?, right?),
            },
            Term::Conditional(condition, then, otherwise) => {
                let taken = if condition.constant(read, pid)? != 0 { then } else { otherwise };
                taken.constant(read, pid)
            }
        }
    }
}

impl Place {
    /// As [`Expr::shared`], of the index alone.
    pub(super) fn shared_index(&self, visit: &mut dyn FnMut(&Place)) {
        if let Some(index) = &self.index {
            index.shared(visit);
        }
    }
}

impl Unary {
    /// The value on integers of 32 bits.
    pub(super) fn apply(self, value: i64) -> i64 {
        match self {
            Unary::Not => i64::from(value == 0),
            Unary::Negate => Kind::INT.wrap(-value),
            Unary::Complement => !value,
        }
    }
}

impl Binary {
    /// The value on integers of 32 bits; nothing where it divides by zero.
    pub(super) fn apply(self, left: i64, right: i64) -> Option<i64> {
        let shift = (right & 63) as u32;
        let value = match self {
            Binary::Or => i64::from(left != 0 || right != 0),
            Binary::And => i64::from(left != 0 && right != 0),
            Binary::BitOr => left | right,
            Binary::BitXor => left ^ right,
            Binary::BitAnd => left & right,
            Binary::Equal => i64::from(left == right),
            Binary::NotEqual => i64::from(left != right),
            Binary::Less => i64::from(left < right),
            Binary::LessOrEqual => i64::from(left <= right),
            Binary::Greater => i64::from(left > right),
            Binary::GreaterOrEqual => i64::from(left >= right),
            Binary::ShiftLeft => left.wrapping_shl(shift),
            Binary::ShiftRight => left.wrapping_shr(shift),
            Binary::Add => left.wrapping_add(right),
            Binary::Subtract => left.wrapping_sub(right),
            Binary::Multiply => left.wrapping_mul(right),
            Binary::Divide => left.checked_div(right)?,
            Binary::Remainder => left.checked_rem(right)?,
        };
        Some(Kind::INT.wrap(value))
    }
}
