//! Values of registers, numbers and locations at the width of an instruction.
//!
//! A register of `X86` holds 32 bits extended by their sign, one of `X86_64` holds 64 bits.
//! Writing 32 of 64 bits clears the upper half; writing 8 or 16 bits keeps the rest.

use teetotal_program::ir::{Address, Expr, Instruction, UnaryOp, Update};
use teetotal_program::{Order, Reg, Span, Type, Width};

use crate::litmus::locations::fits;
use crate::litmus::syntax::Located;
use crate::litmus::x86::lower::Lowering;
use crate::litmus::x86::opcode::Test;
use crate::litmus::x86::register::Register;
use crate::litmus::x86::syntax::Operand;

/// An expression, and the type that its value is wrapped to, if that is known.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) ty: Option<Type>,
}

impl From<Expr> for Typed {
    fn from(expr: Expr) -> Self {
        Typed { expr, ty: None }
    }
}

impl From<Reg> for Typed {
    fn from(reg: Reg) -> Self {
        Expr::from(reg).into()
    }
}

impl Typed {
    /// For a place that wraps what it gets to `width`.
    pub(super) fn stored(self, width: Width) -> Expr {
        match self.expr {
            Expr::Unary(UnaryOp::Cast(ty), inner) if ty.width >= width => *inner,
            expr => expr,
        }
    }

    /// Wrapped to `ty`.
    pub(super) fn cast(self, ty: Type) -> Expr {
        match self.expr {
            Expr::Const(value) => Expr::Const(ty.wrap(value)),
            expr if self.ty == Some(ty) || ty.width == Width::W64 => expr,
            expr => Expr::Unary(UnaryOp::Cast(ty), Box::new(expr)),
        }
    }

    /// Extended by its sign from `width`.
    pub(super) fn signed(self, width: Width) -> Expr {
        self.cast(Type { width, signed: true })
    }
}

impl Lowering<'_, '_> {
    /// What `register` holds, extended by its sign.
    pub(super) fn read(&mut self, register: Register) -> Typed {
        let whole = Expr::from(self.family(register.family));
        let ty = Type { width: register.width, signed: true };
        if register.width == self.flavor.full() {
            return Typed { expr: whole, ty: Some(ty) };
        }
        Typed { expr: Typed::from(whole).cast(ty), ty: Some(ty) }
    }

    /// The value of any operand; one in memory is loaded.
    pub(super) fn value(&mut self, operand: &Located<Operand>, width: Width) -> Option<Typed> {
        match &operand.it {
            Operand::Register(register) => Some(self.read(*register)),
            Operand::Number(number) if !fits(*number, width) => {
                self.refuse(operand.span, format!("this number does not fit into {} bits", width.bits()))
            }
            Operand::Number(number) => {
                let ty = Type { width, signed: true };
                Some(Typed { expr: Expr::Const(ty.wrap(*number)), ty: Some(ty) })
            }
            Operand::AddressOf(name) => {
                let address = self.locations.address(name, 0)?;
                Some(Expr::Const(address).into())
            }
            Operand::Memory(reference) => {
                let (from, ty) = self.address(reference, width, operand.span)?;
                let to = self.scratch();
                self.t.push(Instruction::Load { to, from, order: Order::Plain });
                Some(Typed { expr: to.into(), ty })
            }
        }
    }

    /// The type of a register that a write of its whole or its lower half leaves behind.
    fn whole_type(&self, register: Register) -> Option<Type> {
        let full = self.flavor.full();
        match register.width {
            width if width == full => Some(Type { width, signed: true }),
            Width::W32 => Some(Type::U32),
            _ => None,
        }
    }

    pub(super) fn write_register(&mut self, register: Register, value: Typed) {
        let to = self.family(register.family);
        let value = match self.whole_type(register) {
            Some(ty) if value.ty == Some(ty) => value.expr,
            Some(ty) => Typed::from(value.stored(register.width)).cast(ty),
            None => {
                let mask = Type { width: register.width, signed: false };
                let kept = to.bit_and(!mask.wrap(u64::MAX));
                kept.bit_or(Typed::from(value.stored(register.width)).cast(mask))
            }
        };
        self.t.set(to, value);
    }

    /// Makes of a register into which a location of type `ty` was loaded what a write leaves behind.
    pub(super) fn adjust(&mut self, register: Register, ty: Option<Type>) {
        let whole = self.whole_type(register);
        if let Some(whole) = whole.filter(|&whole| ty != Some(whole) && whole.width != Width::W64) {
            let to = self.family(register.family);
            self.t.set(to, Typed::from(to).cast(whole));
        }
    }

    /// Writes to a register or stores to memory.
    pub(super) fn write(&mut self, to: &Located<Operand>, value: Typed, width: Width) -> Option<()> {
        match &to.it {
            Operand::Register(register) => self.write_register(*register, value),
            Operand::Memory(reference) => {
                let (to, _) = self.address(reference, width, to.span)?;
                self.t.push(Instruction::Store { to, value: value.stored(width), order: Order::Plain });
            }
            _ => return self.refuse_destination(to.span),
        }
        Some(())
    }

    pub(super) fn refuse_destination<T>(&mut self, span: Span) -> Option<T> {
        self.refuse(span, "the destination is neither a register nor a location")
    }

    /// Reads and writes in one locked step; gives what was there.
    pub(super) fn rmw(&mut self, at: Address, ty: Option<Type>, update: Update) -> Typed {
        let old = self.scratch();
        self.t.push(Instruction::Rmw { old, at, update, order: Order::SeqCst });
        Typed { expr: old.into(), ty }
    }

    pub(super) fn movement(&mut self, to: &Located<Operand>, from: &Located<Operand>, width: Width) -> Option<()> {
        if let (Operand::Register(register), Operand::Memory(reference)) = (&to.it, &from.it)
            && self.whole_type(*register).is_some()
        {
            let (from, ty) = self.address(reference, width, from.span)?;
            let target = self.family(register.family);
            self.t.push(Instruction::Load { to: target, from, order: Order::Plain });
            self.adjust(*register, ty);
            return Some(());
        }
        self.only_one_in_memory(to, from)?;
        let value = self.value(from, width)?;
        self.write(to, value, width)
    }

    pub(super) fn only_one_in_memory(&mut self, to: &Located<Operand>, from: &Located<Operand>) -> Option<()> {
        match (&to.it, &from.it) {
            (Operand::Memory(_), Operand::Memory(_)) => {
                self.refuse(to.span, "an instruction has at most one operand in memory")
            }
            _ => Some(()),
        }
    }

    /// `movzx` and its kin.
    pub(super) fn extension(
        &mut self,
        to: &Located<Operand>,
        from: &Located<Operand>,
        signed: bool,
        said: Option<Width>,
    ) -> Option<()> {
        let Operand::Register(target) = to.it else { return self.refuse_destination(to.span) };
        let width = match &from.it {
            Operand::Register(source) => source.width,
            Operand::Memory(reference) => {
                let named = reference.symbol.as_ref().and_then(|name| self.locations.symbols.get(name));
                let known = said.or(reference.width).or(named.map(|symbol| symbol.ty.width));
                match known {
                    Some(width) => width,
                    None => return self.refuse(from.span, "the number of bits to load is not specified"),
                }
            }
            _ => return self.refuse(from.span, "a number is not extended"),
        };
        if width >= target.width || said.is_some_and(|said| said != width) {
            return self.refuse(from.span, format!("{} bits are not what this extends", width.bits()));
        }
        let value = self.value(from, width)?;
        let extended = value.cast(Type { width, signed });
        self.write_register(target, extended.into());
        Some(())
    }

    /// `cmov`: loads in any case.
    pub(super) fn conditional(
        &mut self,
        to: &Located<Operand>,
        from: &Located<Operand>,
        test: Test,
        width: Width,
    ) -> Option<()> {
        let Operand::Register(register) = to.it else { return self.refuse_destination(to.span) };
        let (then, kept) = (self.value(from, width)?.signed(width), self.read(register).expr);
        let condition = self.asked(test);
        self.write_register(register, Expr::Select(Box::new(condition), Box::new(then), Box::new(kept)).into());
        Some(())
    }
}
