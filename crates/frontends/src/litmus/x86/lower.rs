//! Lowers the code of each thread, one instruction after the other.

use std::collections::{BTreeMap, BTreeSet};

use teetotal_program::ir::{Builder, Instruction, Label, ThreadBuilder, Update};
use teetotal_program::{Order, Reg, Span, Width};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::locations::Locations;
use crate::litmus::question;
use crate::litmus::syntax::{Flavor, Located, Named, Place, Test};
use crate::litmus::x86::access;
use crate::litmus::x86::flags::Flags;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::register::{Family, Register};
use crate::litmus::x86::syntax::{Line, Operand, Reference, Statement};
use crate::suggest::nearest;

/// One thread in the making.
#[derive(Debug)]
pub(super) struct Lowering<'a, 'b> {
    pub(super) t: &'a mut ThreadBuilder<'b>,
    pub(super) flavor: Flavor,
    pub(super) locations: &'a Locations,
    /// What the registers hold at the beginning that do not hold 0.
    pub(super) initial: BTreeMap<Family, u64>,
    /// The registers that some instruction of the thread writes.
    pub(super) written: BTreeSet<Family>,
    /// Only where some instruction asks them.
    pub(super) flags: Option<Flags>,
    labels: BTreeMap<&'a str, Label>,
    end: Label,
    scratch: Option<Reg>,
    pub(super) diagnostics: &'a mut Diagnostics,
}

/// Lowers every thread of `test`.
pub(in crate::litmus) fn threads(
    test: &Test,
    threads: &[Vec<Line>],
    locations: &Locations,
    builder: &mut Builder,
    diagnostics: &mut Diagnostics,
) {
    let places = question::named(test);
    for (index, lines) in threads.iter().enumerate() {
        let initial = initial_registers(test, index, locations, diagnostics);
        let statements = || lines.iter().filter_map(|line| line.instruction.as_ref());
        builder.thread(&format!("P{index}"), |t| {
            let flags = Flags::asked_by(statements().filter_map(|statement| statement.opcode.test()), t);
            let written = statements().flat_map(access::written).collect();
            let end = t.label();
            let (labels, scratch, flavor) = (BTreeMap::new(), None, test.flavor);
            let mut lowering =
                Lowering { t, flavor, locations, initial, written, flags, labels, end, scratch, diagnostics };
            lowering.prepare(lines);
            for place in &places {
                if let Place::Register(thread, Named::Register(register)) = &place.it
                    && *thread == index
                {
                    lowering.family(register.family);
                }
            }
            lines.iter().for_each(|line| lowering.line(line));
            lowering.t.place(end);
        });
    }
    for entry in &test.init {
        if let Place::Register(thread, _) = entry.place.it
            && thread >= threads.len()
        {
            diagnostics.add(question::no_thread(test, thread, entry.place.span));
        }
    }
}

fn initial_registers(
    test: &Test,
    index: usize,
    locations: &Locations,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<Family, u64> {
    let mut initial = BTreeMap::new();
    for entry in &test.init {
        let Place::Register(thread, Named::Register(Register { family, width })) = &entry.place.it else { continue };
        let value = entry.values.first().filter(|_| *thread == index);
        if let Some(value) = value.and_then(|value| locations.initial(value, diagnostics)) {
            initial.insert(*family, question::register_constant(test.flavor, *width, value));
        }
    }
    initial
}

impl<'a> Lowering<'a, '_> {
    /// Declares labels and the registers that hold something at the beginning.
    fn prepare(&mut self, lines: &'a [Line]) {
        for label in lines.iter().flat_map(|line| &line.labels) {
            let made = self.t.label();
            if self.labels.insert(&label.it, made).is_some() {
                let twice = format!("the label `{}` is defined twice in this thread", label.it);
                self.diagnostics.add(Diagnostic::new(label.span, twice));
            }
        }
        for (family, value) in self.initial.clone() {
            let register = self.family(family);
            self.t.initial(register, value);
        }
    }

    fn line(&mut self, line: &Line) {
        for label in &line.labels {
            if let Some(&label) = self.labels.get(label.it.as_str()) {
                self.t.place(label);
            }
        }
        if let Some(statement) = &line.instruction {
            self.t.at(Some(statement.span));
            if self.statement(statement).is_none() && self.diagnostics.is_empty() {
                // Whatever is not lowered is refused: a program that lacks an instruction would be another one.
                self.diagnostics.add(Diagnostic::new(statement.span, "these operands do not fit this instruction"));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        let width = self.width(statement)?;
        let operands = &statement.operands[..];
        match (statement.opcode, operands) {
            (Opcode::Nothing, _) => {}
            (Opcode::Return, _) => self.t.jump(self.end),
            (Opcode::Fence(order), _) => self.t.push(Instruction::Fence { order }),
            (Opcode::Jump, [to]) => {
                let label = self.label(to)?;
                self.t.jump(label);
            }
            (Opcode::Branch(test), [to]) => {
                let label = self.label(to)?;
                let condition = self.asked(test);
                self.t.branch(condition, label);
            }
            (Opcode::Move, [to, from]) => self.movement(to, from, width)?,
            (Opcode::Extend { signed, from: said }, [to, from]) => self.extension(to, from, signed, said)?,
            (Opcode::Exchange, [one, other]) => self.exchange(one, other, width)?,
            (Opcode::AddressOf, [to, from]) => self.address_of(to, from)?,
            (Opcode::Set(test), [to]) => {
                let value = self.asked(test);
                self.write(to, value.into(), width)?;
            }
            (Opcode::MoveIf(test), [to, from]) => self.conditional(to, from, test, width)?,
            (_, operands) => self.arithmetic(statement, operands, width)?,
        }
        Some(())
    }

    /// The width on which an instruction works; registers of another width are refused.
    fn width(&mut self, statement: &Statement) -> Option<Width> {
        if matches!(statement.opcode, Opcode::Extend { .. } | Opcode::Jump | Opcode::Branch(_) | Opcode::Nothing) {
            return Some(self.flavor.full());
        }
        let in_memory = |operand: &Located<Operand>| match &operand.it {
            Operand::Memory(Reference { width: Some(width), .. }) => Some(*width),
            Operand::Memory(Reference { symbol: Some(name), .. }) => Some(self.locations.symbols.get(name)?.ty.width),
            _ => None,
        };
        let said = access::operation_width(statement).or_else(|| statement.operands.iter().find_map(in_memory));
        let width = said.unwrap_or(self.flavor.full());
        if width > self.flavor.full() {
            let wide = Diagnostic::new(statement.span, "tests for `X86` have no operations on 64 bits");
            self.diagnostics.add(wide.help("write `X86_64` in the first line, and the source before the destination"));
            return None;
        }
        let n_checked = if matches!(statement.opcode, Opcode::Shift(_)) { 1 } else { 2 };
        for operand in statement.operands.iter().take(n_checked) {
            if let Operand::Register(register) = operand.it
                && register.width != width
            {
                let (here, there) = (register.width.bits(), width.bits());
                let message = format!("this register has {here} bits, the instruction works on {there}");
                self.diagnostics.add(Diagnostic::new(operand.span, message));
                return None;
            }
        }
        Some(width)
    }

    fn label(&mut self, operand: &Located<Operand>) -> Option<Label> {
        let Operand::Memory(Reference { symbol: Some(name), bare: true, .. }) = &operand.it else {
            return self.refuse(operand.span, "a jump goes to a label of its thread");
        };
        let label = self.labels.get(name.as_str()).copied();
        if label.is_none() && !self.diagnostics.is_full() {
            let unknown = Diagnostic::new(operand.span, format!("this thread has no label `{name}`"));
            self.diagnostics.add(unknown.meant(nearest(name, self.labels.keys().copied())));
        }
        label
    }

    fn exchange(&mut self, one: &Located<Operand>, other: &Located<Operand>, width: Width) -> Option<()> {
        let (memory, register) = match (&one.it, &other.it) {
            (Operand::Register(a), Operand::Register(b)) => {
                let (a, b) = (*a, *b);
                let scratch = self.scratch();
                let kept = self.read(a);
                self.t.set(scratch, kept.expr);
                let moved = self.read(b);
                self.write_register(a, moved);
                self.write_register(b, scratch.into());
                return Some(());
            }
            (Operand::Memory(memory), Operand::Register(register))
            | (Operand::Register(register), Operand::Memory(memory)) => (memory, *register),
            _ => return self.refuse(one.span, "`xchg` exchanges a register with a register or a location"),
        };
        let (at, ty) = self.address(memory, width, one.span)?;
        let value = self.read(register).stored(width);
        if register.width == self.flavor.full() {
            let old = self.family(register.family);
            self.t.push(Instruction::Rmw { old, at, update: Update::Exchange(value), order: Order::SeqCst });
            self.adjust(register, ty);
        } else {
            let old = self.rmw(at, ty, Update::Exchange(value));
            self.write_register(register, old);
        }
        Some(())
    }

    /// The register of the program for a family.
    pub(super) fn family(&mut self, family: Family) -> Reg {
        self.t.reg(&family.name(self.flavor.full()))
    }

    /// A register for what an instruction keeps for itself.
    pub(super) fn scratch(&mut self) -> Reg {
        let scratch = self.scratch.unwrap_or_else(|| self.t.temporary());
        self.scratch = Some(scratch);
        scratch
    }

    pub(super) fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.diagnostics.add(Diagnostic::new(span, message));
        None
    }
}
