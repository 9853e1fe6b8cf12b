//! The types of local variables that are assigned to without a declaration, as tests for the kernel often do.
//!
//! Such a variable has the type of what is first assigned to it in the text.

use std::collections::BTreeMap;

use teetotal_program::Type;

use crate::litmus::c::library::{self, Action, Argument, Gives};
use crate::litmus::c::scope::Variables;
use crate::litmus::c::syntax::{Expression, Form, Operator, Statement};
use crate::litmus::locations::Locations;
use crate::litmus::syntax::Located;
use crate::litmus::types::CType;

/// What is known of names in a thread.
pub(super) struct Inference<'a> {
    pub(super) known: Variables,
    /// What each parameter points to.
    pub(super) parameters: BTreeMap<&'a str, CType>,
    pub(super) locations: &'a Locations,
}

impl Inference<'_> {
    pub(super) fn statements(&mut self, statements: &[Located<Statement>]) {
        statements.iter().for_each(|statement| self.statement(&statement.it));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Block(statements) => self.statements(statements),
            Statement::Declaration(declarators) => {
                declarators.iter().filter_map(|declarator| declarator.value.as_ref()).for_each(|e| self.expression(e));
            }
            Statement::Expression(expression) | Statement::Assert(expression, _) => self.expression(expression),
            Statement::If { condition, then, otherwise } => {
                self.expression(condition);
                self.statement(&then.it);
                otherwise.iter().for_each(|otherwise| self.statement(&otherwise.it));
            }
            Statement::While { condition, body } | Statement::DoWhile { body, condition } => {
                self.expression(condition);
                self.statement(&body.it);
            }
            Statement::For { before, condition, step, body } => {
                self.statement(&before.it);
                condition.iter().chain(step).for_each(|expression| self.expression(expression));
                self.statement(&body.it);
            }
            Statement::Empty
            | Statement::Label(_)
            | Statement::Goto(_)
            | Statement::Break
            | Statement::Continue
            | Statement::Return => {}
        }
    }

    /// Takes in every assignment inside `expression`.
    fn expression(&mut self, expression: &Expression) {
        expression.parts().into_iter().for_each(|part| self.expression(part));
        if let Form::Assign(None, to, value) = &expression.it
            && let Form::Name(name) = &to.it
            && !self.is_known(name)
        {
            let ty = self.type_of(value);
            self.known.insert(name.clone(), ty);
        }
    }

    /// Whether a name stands for something; that of a location does, though a thread may lack the parameter.
    fn is_known(&self, name: &str) -> bool {
        self.known.contains_key(name)
            || self.parameters.contains_key(name)
            || self.locations.symbols.contains_key(name)
            || library::function(name).is_some()
    }

    fn type_of(&self, expression: &Expression) -> CType {
        match &expression.it {
            Form::Number(_, ty) => CType::integer(*ty),
            Form::Name(name) => match (self.known.get(name), self.parameters.get(name.as_str())) {
                (Some(ty), _) => *ty,
                (None, Some(pointee)) => pointee.pointer(1),
                (None, None) => CType::INT,
            },
            Form::Target(inner) | Form::Element(inner, _) => self.type_of(inner).pointee().unwrap_or(CType::INT),
            Form::AddressOf(inner) => self.type_of(inner).pointer(1),
            Form::Cast(ty, _) => *ty,
            Form::Assign(_, to, _) => self.type_of(to),
            Form::Step { place, .. } => self.type_of(place),
            Form::Sequence(_, last) => self.type_of(last),
            Form::Conditional(parts) => self.wider(&parts[1], &parts[2]),
            Form::Binary(Operator::Arithmetic(_), left, right) => self.wider(left, right),
            Form::Binary(Operator::Shift { .. }, left, _) => self.type_of(left),
            Form::Call(name, arguments) => self.type_of_call(name, arguments),
            Form::Binary(..) | Form::Prefix(..) | Form::Nothing(_) => CType::INT,
        }
    }

    /// The pointer of two types if there is one, else the type of the wider number.
    fn wider(&self, left: &Expression, right: &Expression) -> CType {
        let (left, right) = (self.type_of(left), self.type_of(right));
        let rank = |ty: CType| (ty.is_pointer(), ty.value().width);
        if rank(left) >= rank(right) { left } else { right }
    }

    /// What is read from a location has its type, and everything else is an `int`.
    fn type_of_call(&self, name: &str, arguments: &[Expression]) -> CType {
        let Some(called) = library::function(name) else { return CType::INT };
        let gives_content = matches!(
            called.does,
            Action::Load
                | Action::Exchange
                | Action::CompareAndSwap
                | Action::Update(_, _, Gives::Old | Gives::New)
                | Action::AddUnless(Gives::Old)
        );
        let content = called.takes.iter().zip(arguments).find_map(|(kind, argument)| match kind {
            Argument::Place => Some(self.type_of(argument)),
            Argument::Pointer => self.type_of(argument).pointee(),
            _ => None,
        });
        let content = content.filter(|_| gives_content).unwrap_or(CType::INT);
        if content.is_pointer() || content.base.width > Type::I32.width { content } else { CType::INT }
    }
}
