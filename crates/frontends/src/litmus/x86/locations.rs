//! What the instructions of x86 say of locations: which there are, and how wide.

use teetotal_program::{Span, Width};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::locations::Drafts;
use crate::litmus::syntax::Flavor;
use crate::litmus::x86::access;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::syntax::{Line, Operand, Reference, Statement};

impl Drafts {
    /// Takes in the code of every thread.
    pub(in crate::litmus) fn instructions(
        &mut self,
        threads: &[Vec<Line>],
        flavor: Flavor,
        diagnostics: &mut Diagnostics,
    ) {
        for statement in threads.iter().flatten().filter_map(|line| line.instruction.as_ref()) {
            self.statement(statement, flavor, diagnostics);
        }
    }

    fn statement(&mut self, statement: &Statement, flavor: Flavor, diagnostics: &mut Diagnostics) {
        if statement.opcode.jumps() || statement.opcode == Opcode::Nothing {
            return;
        }
        for operand in &statement.operands {
            match &operand.it {
                Operand::AddressOf(name) => self.draft(name).address_taken = true,
                Operand::Memory(Reference { symbol: Some(name), .. }) if statement.opcode == Opcode::AddressOf => {
                    self.draft(name).address_taken = true;
                }
                Operand::Memory(reference) if statement.opcode != Opcode::AddressOf => {
                    let width = access::width(statement, reference, flavor);
                    self.access(reference.symbol.as_deref(), width, operand.span, diagnostics);
                }
                _ => {}
            }
        }
    }

    fn access(&mut self, name: Option<&str>, width: Option<Width>, span: Span, diagnostics: &mut Diagnostics) {
        let Some(name) = name else {
            self.computed = self.computed.or(width);
            return;
        };
        let draft = self.draft(name);
        let Some(width) = width else { return };
        let array = draft.length.and(draft.declared).map(|ty| ty.width);
        let before = draft.accessed.or(array);
        if let Some(before) = before.filter(|before| *before != width) {
            let (now, then) = (width.bits(), before.bits());
            let mixed = format!("`{name}` is used with {now} bits here and with {then} elsewhere");
            diagnostics.add(Diagnostic::new(span, mixed).help("accesses of mixed size are not supported"));
        }
        draft.accessed = draft.accessed.or(Some(width));
    }
}
