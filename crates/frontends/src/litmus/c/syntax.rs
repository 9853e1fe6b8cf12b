//! The code of a test for C as it is written.

use teetotal_program::ir::BinaryOp;
use teetotal_program::{Span, Type};

use crate::litmus::syntax::Located;
use crate::litmus::types::CType;

/// A function, which is a thread.
#[derive(Debug)]
pub(in crate::litmus) struct Thread {
    pub(super) span: Span,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Vec<Located<Statement>>,
}

/// A pointer to the shared location of the same name.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: Located<String>,
    pub(super) pointee: CType,
}

#[derive(Debug)]
pub(super) enum Statement {
    Empty,
    Block(Vec<Located<Statement>>),
    Declaration(Vec<Declarator>),
    Expression(Expression),
    If {
        condition: Expression,
        then: Box<Located<Statement>>,
        otherwise: Option<Box<Located<Statement>>>,
    },
    While {
        condition: Expression,
        body: Box<Located<Statement>>,
    },
    DoWhile {
        body: Box<Located<Statement>>,
        condition: Expression,
    },
    For {
        before: Box<Located<Statement>>,
        condition: Option<Expression>,
        step: Option<Expression>,
        body: Box<Located<Statement>>,
    },
    Label(String),
    Goto(String),
    Break,
    Continue,
    Return,
    /// With its text.
    Assert(Expression, String),
}

/// A local variable in its declaration.
#[derive(Debug)]
pub(super) struct Declarator {
    pub(super) name: Located<String>,
    pub(super) ty: CType,
    pub(super) value: Option<Expression>,
}

/// An expression, and how deep it is nested.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) it: Form,
    pub(super) span: Span,
    pub(super) depth: usize,
}

#[derive(Debug)]
pub(super) enum Form {
    Number(u64, Type),
    Name(String),
    Prefix(Prefix, Box<Expression>),
    /// What a pointer points to.
    Target(Box<Expression>),
    AddressOf(Box<Expression>),
    Element(Box<Expression>, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Conditional(Box<[Expression; 3]>),
    /// Plain, or with an operator.
    Assign(Option<Operator>, Box<Expression>, Box<Expression>),
    Step {
        place: Box<Expression>,
        up: bool,
        /// Whether its value is what was there before.
        gives_old: bool,
    },
    Call(String, Vec<Expression>),
    Cast(CType, Box<Expression>),
    /// A cast to `void`.
    Nothing(Box<Expression>),
    Sequence(Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefix {
    Plus,
    Minus,
    Complement,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    /// The operators that give a number; those for signed numbers stand for both kinds.
    Arithmetic(BinaryOp),
    Shift {
        left: bool,
    },
    Compare(Comparison),
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Expression {
    /// The expressions inside it.
    pub(super) fn parts(&self) -> Vec<&Expression> {
        match &self.it {
            Form::Number(..) | Form::Name(_) => Vec::new(),
            Form::Prefix(_, inner)
            | Form::Target(inner)
            | Form::AddressOf(inner)
            | Form::Cast(_, inner)
            | Form::Nothing(inner)
            | Form::Step { place: inner, .. } => vec![inner],
            Form::Element(left, right)
            | Form::Binary(_, left, right)
            | Form::Assign(_, left, right)
            | Form::Sequence(left, right) => vec![left, right],
            Form::Conditional(parts) => parts.iter().collect(),
            Form::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Whether it is more than a computation on local variables.
    pub(super) fn acts(&self) -> bool {
        let acts = matches!(
            self.it,
            Form::Target(_) | Form::Element(..) | Form::Assign(..) | Form::Step { .. } | Form::Call(..)
        );
        acts || self.parts().into_iter().any(Expression::acts)
    }

    /// Whether it may change a local variable.
    pub(super) fn changes_locals(&self) -> bool {
        let changes = matches!(self.it, Form::Assign(..) | Form::Step { .. } | Form::AddressOf(_));
        changes || self.parts().into_iter().any(Expression::changes_locals)
    }
}
