//! The local variables of a thread.
//!
//! Each name is one register for the whole thread, as conditions have it.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::c::inference::Inference;
use crate::litmus::c::syntax::{Declarator, Statement, Thread};
use crate::litmus::locations::Locations;
use crate::litmus::syntax::{Entry, Initial, Located, Named, Place};
use crate::litmus::types::CType;

/// Their types by name.
pub(super) type Variables = BTreeMap<String, CType>;

/// The local variables that `thread` or the initial state declares, and those that it assigns to without that.
pub(super) fn variables(
    thread: &Thread,
    entries: &[&Entry],
    locations: &Locations,
    diagnostics: &mut Diagnostics,
) -> Variables {
    let mut scope = Scope { open: vec![Vec::new()], known: Variables::new(), diagnostics };
    let parameters = thread.parameters.iter().map(|parameter| parameter.name.it.as_str());
    scope.open[0].extend(parameters);
    thread.body.iter().for_each(|statement| scope.statement(&statement.it));
    let mut known = scope.known;
    for entry in entries {
        let Place::Register(_, Named::Local(name)) = &entry.place.it else { continue };
        if !known.contains_key(name) {
            known.insert(name.clone(), type_of_entry(entry, locations));
        }
    }
    let parameters =
        thread.parameters.iter().map(|parameter| (parameter.name.it.as_str(), parameter.pointee)).collect();
    let mut inference = Inference { known, parameters, locations };
    inference.statements(&thread.body);
    inference.known
}

/// Without a type, a variable that holds an address at first is a pointer, and any other an `int`.
fn type_of_entry(entry: &Entry, locations: &Locations) -> CType {
    let pointee = entry.values.first().and_then(|value| match &value.it {
        Initial::AddressOf(name, _) => locations.symbols.get(name),
        Initial::Number(_) => None,
    });
    let pointer = pointee.map(|symbol| CType::integer(symbol.ty).pointer(1));
    entry.ty.or(pointer).unwrap_or(CType::INT)
}

struct Scope<'a, 'd> {
    /// The names in each block that is open, from the outermost on; the first are the parameters.
    open: Vec<Vec<&'a str>>,
    known: Variables,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Scope<'a, '_> {
    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Declaration(declarators) => declarators.iter().for_each(|declared| self.declare(declared)),
            Statement::Block(statements) => self.block(statements.iter()),
            Statement::If { then, otherwise, .. } => {
                self.block([then.as_ref()]);
                self.block(otherwise.as_deref());
            }
            Statement::While { body, .. } | Statement::DoWhile { body, .. } => self.block([body.as_ref()]),
            Statement::For { before, body, .. } => self.block([before.as_ref(), body.as_ref()]),
            _ => {}
        }
    }

    fn block(&mut self, statements: impl IntoIterator<Item = &'a Located<Statement>>) {
        self.open.push(Vec::new());
        statements.into_iter().for_each(|statement| self.statement(&statement.it));
        self.open.pop();
    }

    fn declare(&mut self, declared: &'a Declarator) {
        let (name, span) = (&declared.name.it, declared.name.span);
        if self.open.iter().flatten().any(|open| open == name) {
            let twice = Diagnostic::new(span, format!("`{name}` is declared already"));
            self.diagnostics.add(twice.help("a thread has one variable of each name; give this one another"));
        } else if self.known.get(name).is_some_and(|ty| *ty != declared.ty) {
            let twice = Diagnostic::new(span, format!("`{name}` is declared with two types in this thread"));
            self.diagnostics.add(twice.help("a thread has one variable of each name; give this one another"));
        }
        if let Some(innermost) = self.open.last_mut() {
            innermost.push(name);
        }
        self.known.insert(name.clone(), declared.ty);
    }
}
