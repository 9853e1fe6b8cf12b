//! What an instruction does to its operands: how wide they are, and which it writes.

use teetotal_program::Width;

use crate::litmus::syntax::Flavor;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::register::{Family, Register};
use crate::litmus::x86::syntax::{Operand, Reference, Statement};

/// How wide the access to `reference` is, if the instruction says it.
pub(in crate::litmus) fn width(statement: &Statement, reference: &Reference, flavor: Flavor) -> Option<Width> {
    if let Opcode::Extend { from, .. } = statement.opcode {
        return from.or(reference.width);
    }
    let said = statement.suffix.or(reference.width).or_else(|| register_width(statement));
    // The 32-bit assembler of the format has one size for everything else.
    if flavor == Flavor::X86 { said.or(Some(Width::W32)) } else { said }
}

/// The width on which the instruction works as its operands say it.
pub(in crate::litmus) fn operation_width(statement: &Statement) -> Option<Width> {
    statement.suffix.or_else(|| register_width(statement))
}

/// The width of the register operands; the count of a shift does not matter.
fn register_width(statement: &Statement) -> Option<Width> {
    let operands = match statement.opcode {
        Opcode::Shift(_) => &statement.operands[..statement.operands.len().min(1)],
        _ => &statement.operands[..],
    };
    operands.iter().find_map(|operand| match operand.it {
        Operand::Register(register) => Some(register.width),
        _ => None,
    })
}

/// The registers that the instruction writes.
pub(in crate::litmus) fn written(statement: &Statement) -> impl Iterator<Item = Family> {
    let register = |at: usize| match statement.operands.get(at).map(|operand| &operand.it) {
        Some(Operand::Register(Register { family, .. })) => Some(*family),
        _ => None,
    };
    let (first, second) = match statement.opcode {
        Opcode::Compare | Opcode::Test | Opcode::Jump | Opcode::Branch(_) => (None, None),
        Opcode::Fence(_) | Opcode::Nothing | Opcode::Return => (None, None),
        Opcode::Exchange | Opcode::ExchangeAdd => (register(0), register(1)),
        Opcode::CompareExchange => (register(0), Some(Family::ACCUMULATOR)),
        _ => (register(0), None),
    };
    first.into_iter().chain(second)
}
