//! Values and their conversions, as the types of C say.

use teetotal_program::ir::{Expr, UnaryOp};
use teetotal_program::{Order, Reg, Span, Type, Width};

use crate::diagnostics::Diagnostic;
use crate::litmus::c::library;
use crate::litmus::c::lower::Lowering;
use crate::litmus::c::place::Lvalue;
use crate::litmus::c::syntax::{Expression, Form, Operator, Prefix};
use crate::litmus::types::CType;
use crate::suggest::nearest;

/// An expression, which gives a number that its type can hold.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) expr: Expr,
    pub(super) ty: CType,
}

impl Value {
    /// Of what is 0 or 1.
    pub(super) fn of_truth(expr: Expr) -> Self {
        Value { expr: folded(expr), ty: CType::INT }
    }

    /// Whether it is a constant that stands for no location.
    pub(super) fn is_null(&self) -> bool {
        self.expr == Expr::Const(0) && !self.ty.is_pointer()
    }
}

/// An expression of constants as a constant.
pub(super) fn folded(expr: Expr) -> Expr {
    let mut constant = true;
    expr.walk(&mut |part| constant &= !matches!(part, Expr::Reg(_) | Expr::Old));
    let value = if constant { expr.eval(&[], 0).ok() } else { None };
    value.map_or(expr, Expr::Const)
}

/// `expr`, which is as `from` holds it, as `to` holds it.
pub(super) fn cast(expr: Expr, from: Type, to: Type) -> Expr {
    let widens = from.width < to.width || (from.width == to.width && from.signed == to.signed);
    let keeps = to.width == Width::W64 || (widens && (from.signed == to.signed || to.signed));
    if keeps { expr } else { folded(Expr::Unary(UnaryOp::Cast(to), Box::new(expr))) }
}

/// For a location of this width, which wraps what it gets.
pub(super) fn stored(mut expr: Expr, width: Width) -> Expr {
    loop {
        match expr {
            Expr::Unary(UnaryOp::Cast(ty), inner) if ty.width >= width => expr = *inner,
            expr => return expr,
        }
    }
}

impl Lowering<'_, '_> {
    pub(super) fn value(&mut self, expression: &Expression) -> Option<Value> {
        self.value_into(expression, None)
    }

    /// The value of an expression; one that is read from memory goes to the register `to` if it fits there as it is.
    pub(super) fn value_into(&mut self, expression: &Expression, to: Option<(Reg, CType)>) -> Option<Value> {
        let span = expression.span;
        match &expression.it {
            Form::Number(value, ty) => Some(Value { expr: Expr::Const(*value), ty: CType::integer(*ty) }),
            Form::Name(name) => self.named(name, span),
            Form::Prefix(prefix, inner) => {
                let inner = self.value(inner)?;
                self.prefixed(*prefix, inner, span)
            }
            Form::Target(_) | Form::Element(..) => match self.place(expression)? {
                Lvalue::Local(register, ty) => Some(Value { expr: register.into(), ty }),
                Lvalue::Memory(place) => Some(self.load(&place, Order::Plain, to, span)),
            },
            Form::AddressOf(inner) => self.address_of(inner, span),
            Form::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
                self.logical(*operator, expression, [left, right])
            }
            Form::Binary(operator, left, right) => {
                let left = self.held_value(left, &[right])?;
                let right = self.value(right)?;
                self.binary(*operator, left, right, span)
            }
            Form::Conditional(parts) => self.conditional(parts, span),
            Form::Assign(..) => self.assignment(expression),
            Form::Step { place, up, gives_old } => self.step(place, *up, *gives_old, span),
            Form::Call(name, arguments) => match self.call(name, arguments, span, to)? {
                Some(value) => Some(value),
                None => self.refuse(span, format!("`{name}` returns no value")),
            },
            Form::Cast(ty, inner) => {
                let value = self.value(inner)?;
                let expr = self.converted(value, *ty, span)?;
                Some(Value { expr, ty: *ty })
            }
            Form::Nothing(_) => self.refuse(span, "this has no value"),
            Form::Sequence(first, second) => {
                self.effect(first)?;
                self.value_into(second, to)
            }
        }
    }

    /// The value of `expression` as it is before any of `later` is computed.
    pub(super) fn held_value(&mut self, expression: &Expression, later: &[&Expression]) -> Option<Value> {
        let value = self.value(expression)?;
        if matches!(value.expr, Expr::Const(_)) || !later.iter().any(|later| later.changes_locals()) {
            return Some(value);
        }
        let kept = self.temporary();
        self.t.set(kept, value.expr);
        Some(Value { expr: kept.into(), ty: value.ty })
    }

    fn named(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some(&ty) = self.variables.get(name) {
            return Some(Value { expr: self.t.reg(name).into(), ty });
        }
        if let Some(pointee) = self.parameters.get(name).copied() {
            let address = self.locations.address(name, 0)?;
            self.locations.take_address(name);
            return Some(Value { expr: Expr::Const(address), ty: pointee.pointer(1) });
        }
        self.unknown(name, span)
    }

    /// Says that nothing is called `name`.
    pub(super) fn unknown<T>(&mut self, name: &str, span: Span) -> Option<T> {
        if self.diagnostics.is_full() {
            return None;
        }
        let thread = self.thread;
        let message = if library::function(name).is_some() {
            format!("`{name}` is a function")
        } else {
            format!("`{name}` is declared nowhere in thread {thread}")
        };
        let unknown = Diagnostic::new(span, message);
        let names = self.variables.keys().map(String::as_str).chain(self.parameters.keys().copied());
        self.diagnostics.add(if self.locations.symbols.contains_key(name) {
            unknown.help(format!("add it to the parameters: `P{thread}(int *{name})`"))
        } else {
            match nearest(name, names) {
                Some(meant) => unknown.meant(Some(meant)),
                None => unknown.help(format!("declare a local variable: `int {name};`")),
            }
        });
        None
    }

    fn prefixed(&mut self, prefix: Prefix, inner: Value, span: Span) -> Option<Value> {
        if prefix == Prefix::Not {
            return Some(Value::of_truth(inner.expr.negated()));
        }
        if inner.ty.is_pointer() {
            return self.refuse(span, "this operator takes a number, not a pointer");
        }
        let ty = crate::litmus::c::operators::promoted(inner.ty.base);
        let expr = match prefix {
            Prefix::Minus => Expr::Unary(UnaryOp::Negate, Box::new(inner.expr)),
            Prefix::Complement => Expr::Unary(UnaryOp::Complement, Box::new(inner.expr)),
            Prefix::Plus | Prefix::Not => inner.expr,
        };
        let wraps = prefix != Prefix::Plus && ty.width != Width::W64;
        let expr = if wraps { Expr::Unary(UnaryOp::Cast(ty), Box::new(expr)) } else { expr };
        Some(Value { expr: folded(expr), ty: CType::integer(ty) })
    }

    /// `value` as the type `to` holds it.
    pub(super) fn converted(&mut self, value: Value, to: CType, span: Span) -> Option<Expr> {
        let from = value.ty;
        if to.is_truth() && !from.is_truth() {
            return Some(folded(value.expr.ne(0)));
        }
        match (from.is_pointer(), to.is_pointer()) {
            (true, true) if !from.agrees_with(to) => {
                self.refuse(span, "this pointer leads to something of another type than is wanted here")
            }
            (false, true) if !value.is_null() && self.only_width() != to.pointee().map(|ty| ty.value().width) => self
                .refuse_with(
                    span,
                    "where a number leads to as a pointer is not known, as locations differ in width",
                    "declare what holds an address as a pointer: `int *r0;`",
                ),
            _ => Some(cast(value.expr, from.value(), to.value())),
        }
    }
}
