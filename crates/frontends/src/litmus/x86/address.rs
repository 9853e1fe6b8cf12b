//! Lowers places in memory, to one location wherever it is known beforehand.

use teetotal_program::ir::{Address, Expr, UnaryOp};
use teetotal_program::{Span, Type, Width};

use crate::diagnostics::Diagnostic;
use crate::litmus::syntax::Located;
use crate::litmus::x86::lower::Lowering;
use crate::litmus::x86::register::Register;
use crate::litmus::x86::syntax::{Operand, Reference};

/// An address as a fixed part and registers with their factors.
struct Sum {
    fixed: u64,
    /// Only those that the thread writes; the others are part of what is fixed.
    moving: Vec<(Register, u64)>,
}

impl Lowering<'_, '_> {
    /// The place that `reference` names, and its type where it is known; an access of another width is refused.
    pub(super) fn address(
        &mut self,
        reference: &Reference,
        width: Width,
        span: Span,
    ) -> Option<(Address, Option<Type>)> {
        let sum = self.sum(reference)?;
        let loc = self.locations.layout.location(sum.fixed);
        if sum.moving.is_empty() {
            let Some(loc) = loc else { return self.no_location(reference, span) };
            let (name, symbol) = self.locations.owner(loc);
            if symbol.ty.width != width {
                if reference.symbol.as_deref() == Some(name) {
                    // This was said when the widths of all accesses by name were compared.
                    return None;
                }
                let (name, bits) = (name.to_owned(), symbol.ty.width.bits());
                return self.mixed(&name, bits, width, span);
            }
            return Some((loc.into(), Some(symbol.ty)));
        }
        if let (Some(loc), [(register, factor)]) = (loc, &sum.moving[..]) {
            let (_, symbol) = self.locations.owner(loc);
            if symbol.is_array && symbol.ty.width == width && *factor == width.bytes() {
                let (base, length, ty) = (symbol.base, symbol.length, symbol.ty);
                let index = self.index(*register, loc.0 - base.0);
                return Some((Address::Indexed { base, length, index }, Some(ty)));
            }
        }
        if let Some((other, name)) = self.locations.taken.iter().find(|(other, _)| **other != width) {
            let (name, bits) = (name.clone(), other.bits());
            return self.mixed(&name, bits, width, span);
        }
        let expr = self.sum_expr(&sum);
        Some((Address::Computed(expr), None))
    }

    fn index(&mut self, register: Register, first: u32) -> Expr {
        let index = self.whole(register);
        if first == 0 { index } else { index.plus(u64::from(first)) }
    }

    /// `lea`: the address itself.
    pub(super) fn address_of(&mut self, to: &Located<Operand>, from: &Located<Operand>) -> Option<()> {
        let (Operand::Register(target), Operand::Memory(reference)) = (&to.it, &from.it) else {
            return self.refuse(from.span, "`lea` puts the address of a place in memory into a register");
        };
        let sum = self.sum(reference)?;
        let value = self.sum_expr(&sum);
        self.write_register(*target, value.into());
        Some(())
    }

    fn sum(&mut self, reference: &Reference) -> Option<Sum> {
        let mut fixed = reference.offset;
        if let Some(name) = &reference.symbol {
            fixed = fixed.wrapping_add(self.locations.address(name, 0)?);
        }
        let mut moving = Vec::new();
        for &(register, factor) in &reference.registers {
            if self.written.contains(&register.family) {
                moving.push((register, factor));
            } else {
                let held = self.initial.get(&register.family).copied().unwrap_or(0);
                fixed = fixed.wrapping_add(held.wrapping_mul(factor));
            }
        }
        Some(Sum { fixed, moving })
    }

    fn sum_expr(&mut self, sum: &Sum) -> Expr {
        let mut total: Option<Expr> = None;
        for &(register, factor) in &sum.moving {
            let value = self.whole(register);
            let value = if factor == 1 { value } else { value.times(factor) };
            total = Some(match total {
                Some(total) => total.plus(value),
                None => value,
            });
        }
        match total {
            Some(total) if sum.fixed == 0 => total,
            Some(total) => total.plus(sum.fixed),
            None => Expr::Const(sum.fixed),
        }
    }

    /// A register in an address: a narrower one counts without a sign.
    fn whole(&mut self, register: Register) -> Expr {
        let whole = Expr::from(self.family(register.family));
        if register.width == self.flavor.full() {
            return whole;
        }
        Expr::Unary(UnaryOp::Cast(Type { width: register.width, signed: false }), Box::new(whole))
    }

    fn mixed<T>(&mut self, name: &str, bits: u32, width: Width, span: Span) -> Option<T> {
        let message = format!("`{name}` has {bits} bits, this access may use {} of it", width.bits());
        self.diagnostics.add(Diagnostic::new(span, message).help("accesses of mixed size are not supported"));
        None
    }

    fn no_location<T>(&mut self, reference: &Reference, span: Span) -> Option<T> {
        let diagnostic = match &reference.symbol {
            Some(name) => {
                let length = self.locations.symbols.get(name).map_or(0, |symbol| symbol.length);
                let message = format!("no location begins {} bytes after `{name}`", reference.offset as i64);
                let elements = if length == 1 { "1 element".to_owned() } else { format!("{length} elements") };
                Diagnostic::new(span, message).help(format!("`{name}` has {elements}"))
            }
            None => Diagnostic::new(span, "this is not the address of a location")
                .help("let the register hold one at the beginning: `0:rbx=x`"),
        };
        self.diagnostics.add(diagnostic);
        None
    }
}
