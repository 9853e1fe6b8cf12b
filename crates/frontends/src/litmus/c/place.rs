//! What can be read and written: local variables, and places in memory.

use teetotal_program::ir::{Address, BinaryOp, Expr, Instruction, UnaryOp};
use teetotal_program::{Loc, Order, Reg, Span, Type, Width};

use crate::litmus::c::lower::Lowering;
use crate::litmus::c::operators::moved;
use crate::litmus::c::syntax::{Expression, Form};
use crate::litmus::c::values::{Value, cast, stored};
use crate::litmus::types::CType;

/// What an expression stands for where it can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Lvalue {
    Local(Reg, CType),
    Memory(Place),
}

/// A place in memory, and the type that the code gives it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) ty: CType,
    /// The type of the location itself, where it is known.
    pub(super) held: Option<Type>,
}

impl Place {
    /// A number that the location holds, as the code sees it.
    pub(super) fn seen(&self, raw: Expr) -> Expr {
        let ty = self.ty.value();
        match self.held {
            Some(held) => cast(raw, held, ty),
            None if ty.width == Width::W64 => raw,
            None => Expr::Unary(UnaryOp::Cast(ty), Box::new(raw)),
        }
    }

    /// Whether the code sees what it holds as it is.
    fn is_seen_as_held(&self) -> bool {
        self.seen(Expr::Old) == Expr::Old
    }
}

impl Lowering<'_, '_> {
    /// What an expression stands for on the left of an assignment.
    pub(super) fn place(&mut self, expression: &Expression) -> Option<Lvalue> {
        let span = expression.span;
        match &expression.it {
            Form::Name(name) => {
                if let Some(&ty) = self.variables.get(name) {
                    return Some(Lvalue::Local(self.t.reg(name), ty));
                }
                if self.parameters.contains_key(name.as_str()) {
                    let help = format!("write `*{name}` for what it points to");
                    return self.refuse_with(span, format!("`{name}` is a pointer to a shared location"), &help);
                }
                self.unknown(name, span)
            }
            Form::Target(pointer) => self.behind(pointer).map(Lvalue::Memory),
            Form::Element(array, index) => self.element(array, index, span).map(Lvalue::Memory),
            _ => self.refuse(span, "this is neither a local variable nor a place in memory"),
        }
    }

    /// The place that a pointer points to.
    pub(super) fn behind(&mut self, pointer: &Expression) -> Option<Place> {
        let span = pointer.span;
        match &pointer.it {
            Form::Name(name) if !self.variables.contains_key(name) && self.parameters.contains_key(name.as_str()) => {
                self.parameter(name, span)
            }
            Form::AddressOf(inner) => match &inner.it {
                Form::Name(_) => self.address_of_name(inner, span),
                _ => match self.place(inner)? {
                    Lvalue::Memory(place) => Some(place),
                    Lvalue::Local(..) => self.refuse_address_of_local(span),
                },
            },
            _ => {
                let value = self.value(pointer)?;
                self.at_address(value, span)
            }
        }
    }

    /// `&x`: a parameter is a pointer already, and a local variable has no address.
    fn address_of_name(&mut self, inner: &Expression, span: Span) -> Option<Place> {
        let Form::Name(name) = &inner.it else { return None };
        if self.variables.contains_key(name) {
            return self.refuse_address_of_local(span);
        }
        if self.parameters.contains_key(name.as_str()) {
            let help = format!("write `{name}` for the address of the location `{name}`");
            return self.refuse_with(span, format!("`{name}` is a pointer already"), &help);
        }
        self.unknown(name, inner.span)
    }

    fn refuse_address_of_local<T>(&mut self, span: Span) -> Option<T> {
        self.refuse_with(
            span,
            "local variables have no address",
            "only the second argument of a compare-exchange may be the address of one",
        )
    }

    fn parameter(&mut self, name: &str, span: Span) -> Option<Place> {
        let ty = *self.parameters.get(name)?;
        let symbol = self.locations.symbols.get(name)?;
        let (base, held) = (symbol.base, symbol.ty);
        if held.width != ty.value().width {
            // This was said when the parameters of all threads were compared.
            return if self.diagnostics.is_empty() { self.mixed(span) } else { None };
        }
        Some(Place { address: base.into(), ty, held: Some(held) })
    }

    fn mixed<T>(&mut self, span: Span) -> Option<T> {
        self.refuse_with(
            span,
            "the location has another width than this access",
            "accesses of mixed size are not supported",
        )
    }

    /// `array[index]`.
    fn element(&mut self, array: &Expression, index: &Expression, span: Span) -> Option<Place> {
        if let Form::Name(name) = &array.it
            && !self.variables.contains_key(name)
            && self.parameters.contains_key(name.as_str())
        {
            let place = self.parameter(name, array.span)?;
            let symbol = self.locations.symbols.get(name)?;
            let (base, length) = (symbol.base, symbol.length);
            let index = self.number(index)?;
            let address = match index {
                Expr::Const(index) if index < u64::from(length) => Address::Static(Loc(base.0 + index as u32)),
                Expr::Const(index) => {
                    return self.refuse(span, format!("`{name}` has no element {}", index as i64));
                }
                index => Address::Indexed { base, length, index },
            };
            return Some(Place { address, ..place });
        }
        let pointer = self.held_value(array, &[index])?;
        let count = Value { expr: self.number(index)?, ty: CType::integer(Type::I64) };
        if !pointer.ty.is_pointer() {
            return self.refuse(array.span, "this is neither an array nor a pointer");
        }
        self.at_address(moved(BinaryOp::Add, pointer, count), span)
    }

    fn number(&mut self, index: &Expression) -> Option<Expr> {
        let value = self.value(index)?;
        if value.ty.is_pointer() {
            return self.refuse(index.span, "an index is a number");
        }
        Some(value.expr)
    }

    /// The place at an address that was computed.
    fn at_address(&mut self, pointer: Value, span: Span) -> Option<Place> {
        let Some(ty) = pointer.ty.pointee().or_else(|| self.only_type()) else {
            let help = "declare what holds an address as a pointer: `int *r0;`";
            return self.refuse_with(span, "this is a number, and locations have different types", help);
        };
        let width = ty.value().width;
        let Expr::Const(address) = pointer.expr else {
            return Some(Place { address: Address::Computed(pointer.expr), ty, held: self.only_type_of(width) });
        };
        let Some(loc) = self.locations.layout.location(address) else {
            return self.refuse(span, "this is not the address of a location");
        };
        let held = self.locations.owner(loc).1.ty;
        if held.width != width {
            return self.mixed(span);
        }
        Some(Place { address: loc.into(), ty, held: Some(held) })
    }

    /// The type of all locations of this width, if it is the same.
    fn only_type_of(&self, width: Width) -> Option<Type> {
        let mut types = self.locations.symbols.values().map(|symbol| symbol.ty).filter(|ty| ty.width == width);
        let first = types.next()?;
        types.all(|ty| ty == first).then_some(first)
    }

    /// The type of all locations, if it is the same: a number that is an address can lead to nothing else.
    fn only_type(&self) -> Option<CType> {
        let width = self.only_width()?;
        self.only_type_of(width).map(CType::integer)
    }

    /// The width of all locations, if it is the same.
    pub(super) fn only_width(&self) -> Option<Width> {
        let mut widths = self.locations.symbols.values().map(|symbol| symbol.ty.width);
        let first = widths.next()?;
        widths.all(|width| width == first).then_some(first)
    }

    /// The address of a place as a value.
    pub(super) fn address_of(&mut self, inner: &Expression, span: Span) -> Option<Value> {
        match &inner.it {
            Form::Target(pointer) => self.value(pointer),
            Form::Name(_) => self.address_of_name(inner, span).and(None),
            _ => match self.place(inner)? {
                Lvalue::Local(..) => self.refuse_address_of_local(span),
                Lvalue::Memory(Place { address, ty, .. }) => {
                    let expr = self.address_value(&address);
                    Some(Value { expr, ty: ty.pointer(1) })
                }
            },
        }
    }

    fn address_value(&mut self, address: &Address) -> Expr {
        let of = |loc: Loc, locations: &crate::litmus::locations::Locations| locations.layout.address(loc);
        match address {
            Address::Static(loc) => {
                let owner = self.locations.owner(*loc).0.to_owned();
                self.locations.take_address(&owner);
                Expr::Const(of(*loc, self.locations))
            }
            Address::Indexed { base, index, .. } => {
                let (owner, symbol) = self.locations.owner(*base);
                let (owner, size) = (owner.to_owned(), symbol.ty.width.bytes());
                self.locations.take_address(&owner);
                index.clone().times(size).plus(of(*base, self.locations))
            }
            Address::Computed(expr) => expr.clone(),
        }
    }

    /// Loads into `to` if what is there fits as it is, else into a temporary.
    pub(super) fn load(&mut self, place: &Place, order: Order, to: Option<(Reg, CType)>, span: Span) -> Value {
        let register = self.receiver(place, to);
        self.push(span, Instruction::Load { to: register, from: place.address.clone(), order });
        Value { expr: place.seen(register.into()), ty: place.ty }
    }

    /// The register for what is read from `place`.
    pub(super) fn receiver(&mut self, place: &Place, to: Option<(Reg, CType)>) -> Reg {
        let fitting = to.filter(|(_, ty)| ty.value() == place.ty.value() && ty.truth == place.ty.truth);
        match fitting.filter(|_| place.is_seen_as_held()) {
            Some((register, _)) => register,
            None => self.temporary(),
        }
    }

    /// Stores a value; gives what was stored.
    pub(super) fn store(&mut self, place: &Place, value: Value, order: Order, span: Span) -> Option<Value> {
        let expr = self.converted(value, place.ty, span)?;
        let value = stored(expr.clone(), place.ty.value().width);
        self.push(span, Instruction::Store { to: place.address.clone(), value, order });
        Some(Value { expr, ty: place.ty })
    }
}
