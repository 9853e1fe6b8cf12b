//! Reads operands, in the order and with the signs of either assembler.

use teetotal_program::Width;

use crate::diagnostics::Diagnostic;
use crate::litmus::lexer::Kind;
use crate::litmus::parser::Parser;
use crate::litmus::syntax::{Flavor, Located};
use crate::litmus::x86::register::Register;
use crate::litmus::x86::syntax::{Operand, Reference};

impl Parser<'_, '_> {
    pub(super) fn operand(&mut self) -> Option<Located<Operand>> {
        let start = self.peek();
        let it = self.operand_here()?;
        let (mut span, end) = (start.span, self.peek().span);
        // The end of the operand is near where the next token begins; a snippet needs no more.
        if end.line == span.line && self.peek().kind != Kind::End {
            span.length = span.length.max(self.previous_end().saturating_sub(span.column));
        }
        Some(Located { it, span })
    }

    fn operand_here(&mut self) -> Option<Operand> {
        let token = self.peek();
        if self.eat("$") {
            let word = self.peek();
            if word.kind == Kind::Word {
                self.next();
                return Some(Operand::AddressOf(word.text.to_owned()));
            }
            return self.number().map(|number| Operand::Number(number.it));
        }
        if self.eat("%") {
            return self.register().map(Operand::Register);
        }
        if token.is("[") || token.is("(") {
            return self.reference(None);
        }
        match token.kind {
            Kind::Word => self.word_operand(),
            _ if self.flavor == Flavor::X86 => self.number().map(|number| Operand::Number(number.it)),
            _ => self.displaced(),
        }
    }

    /// A register, a name, or a width before a place in memory.
    fn word_operand(&mut self) -> Option<Operand> {
        let token = self.peek();
        if let Some(width) = pointer_width(token.text) {
            self.next();
            if self.peek().text.eq_ignore_ascii_case("ptr") {
                self.next();
            }
            return self.reference(Some(width));
        }
        if Register::named(token.text).is_some() {
            if self.flavor == Flavor::X86_64 {
                let bare = Diagnostic::new(token.span, format!("the register `{}` lacks its `%`", token.text));
                self.diagnostics.add(bare.help(format!("write `%{}`", token.text)));
            }
            return self.register().map(Operand::Register);
        }
        let mut reference = Reference { bare: true, ..Reference::default() };
        self.sum(&mut reference)?;
        if self.peek().is("(") {
            reference.bare = false;
            self.parenthesized(&mut reference)?;
        }
        Some(Operand::Memory(reference))
    }

    /// A number before parentheses, as in `8(%rbx)`.
    fn displaced(&mut self) -> Option<Operand> {
        let number = self.number()?;
        if !self.peek().is("(") {
            let bare = Diagnostic::new(number.span, "a number on its own is an address here");
            self.diagnostics.add(bare.help(format!("write `${}` for the number", number.it as i64)));
            return None;
        }
        let mut reference = Reference { offset: number.it, ..Reference::default() };
        self.parenthesized(&mut reference)?;
        Some(Operand::Memory(reference))
    }

    fn reference(&mut self, width: Option<Width>) -> Option<Operand> {
        let mut reference = Reference { width, ..Reference::default() };
        if self.eat("[") {
            self.sum(&mut reference)?;
            self.require("]")?;
        } else if self.peek().is("(") {
            self.parenthesized(&mut reference)?;
        } else {
            self.sum(&mut reference)?;
        }
        Some(Operand::Memory(reference))
    }

    /// `(x)`, `(%base)`, `(%base,%index,8)` or `(,%index,8)`.
    fn parenthesized(&mut self, reference: &mut Reference) -> Option<()> {
        self.require("(")?;
        if !self.peek().is(",") {
            self.sum(reference)?;
        }
        if self.eat(",") {
            self.require("%")?;
            let index = self.register()?;
            let scale = if self.eat(",") { self.small(8)? } else { 1 };
            reference.registers.push((index, u64::from(scale)));
        }
        self.require(")")
    }

    /// Names, numbers and registers, joined by `+` and `-`.
    fn sum(&mut self, reference: &mut Reference) -> Option<()> {
        let mut negative = self.eat("-");
        loop {
            let token = self.peek();
            let percent = self.eat("%");
            if percent && self.peek().text.eq_ignore_ascii_case("rip") {
                // Relative to the instruction pointer, a name means itself.
                self.next();
            } else if percent || Register::named(token.text).is_some() {
                let register = self.register()?;
                let scale = if self.eat("*") { u64::from(self.small(8)?) } else { 1 };
                reference.registers.push((register, if negative { scale.wrapping_neg() } else { scale }));
            } else if token.kind == Kind::Number {
                let number = self.number()?.it;
                let number = if negative { number.wrapping_neg() } else { number };
                if self.eat("*") {
                    self.eat("%");
                    let register = self.register()?;
                    reference.registers.push((register, number));
                } else {
                    reference.offset = reference.offset.wrapping_add(number);
                }
            } else {
                let name = self.word("a location or a register")?;
                if reference.symbol.is_some() || negative {
                    let message = "an address has at most one location in it, and adds it";
                    self.diagnostics.add(Diagnostic::new(name.span, message));
                    return None;
                }
                reference.symbol = Some(name.it.to_owned());
            }
            if reference.registers.len() > 2 {
                return self.expected("an address of at most two registers");
            }
            negative = self.peek().is("-");
            if !negative && !self.peek().is("+") {
                return Some(());
            }
            reference.bare = false;
            self.next();
        }
    }

    fn register(&mut self) -> Option<Register> {
        let name = self.word("a register")?;
        let register = self.named_register(&name)?;
        if register.width > self.flavor.full() {
            let wide = Diagnostic::new(name.span, format!("`{}` has 64 bits, registers of `X86` have 32", name.it));
            self.diagnostics.add(wide.help("write `X86_64` in the first line, or use the register of 32 bits"));
            return None;
        }
        Some(register)
    }
}

fn pointer_width(word: &str) -> Option<Width> {
    let words = [("byte", Width::W8), ("word", Width::W16), ("dword", Width::W32), ("qword", Width::W64)];
    words.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, width)| *width)
}
