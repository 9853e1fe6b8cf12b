//! Writes instructions with their operands, in the order and with the signs of either assembler.

use teetotal_program::Width;

use crate::litmus::printer::{register, signed};
use crate::litmus::syntax::Flavor;
use crate::litmus::x86::syntax::{Operand, Reference, Statement};

/// One instruction as its assembler writes it.
pub(super) fn statement(statement: &Statement, flavor: Flavor) -> String {
    let mnemonic = statement.opcode.mnemonic(statement.suffix);
    let mut written = if statement.locked { format!("lock {mnemonic}") } else { mnemonic };
    if flavor == Flavor::X86 {
        written.make_ascii_uppercase();
    }
    let mut operands: Vec<String> = statement.operands.iter().map(|given| operand(&given.it, flavor)).collect();
    if flavor == Flavor::X86_64 {
        operands.reverse();
    }
    if !operands.is_empty() {
        written.push(' ');
        written.push_str(&operands.join(","));
    }
    written
}

fn operand(operand: &Operand, flavor: Flavor) -> String {
    match operand {
        Operand::Register(named) if flavor == Flavor::X86_64 => format!("%{}", register(*named, flavor)),
        Operand::Register(named) => register(*named, flavor),
        Operand::Number(number) => format!("${}", signed(*number)),
        Operand::AddressOf(name) => format!("${name}"),
        Operand::Memory(reference) => place(reference, flavor),
    }
}

fn place(reference: &Reference, flavor: Flavor) -> String {
    match (&reference.symbol, reference.bare, reference.width) {
        (Some(name), true, None) => name.clone(),
        (_, _, Some(width)) => format!("{} PTR [{}]", size(width), sum(reference, flavor)),
        (_, _, None) if flavor == Flavor::X86 => format!("[{}]", sum(reference, flavor)),
        _ => displaced(reference).unwrap_or_else(|| format!("({})", sum(reference, flavor))),
    }
}

fn size(width: Width) -> &'static str {
    match width {
        Width::W8 => "BYTE",
        Width::W16 => "WORD",
        Width::W32 => "DWORD",
        Width::W64 => "QWORD",
    }
}

/// `t+8(%rbx,%rcx,8)`: for addresses with a base or an index, unless they are relative to the instruction pointer.
fn displaced(reference: &Reference) -> Option<String> {
    let named = |at: usize| format!("%{}", reference.registers[at].0.name());
    if reference.registers.iter().any(|(register, _)| register.name() == "rip") {
        return None;
    }
    let registers = match reference.registers.iter().map(|(_, factor)| *factor).collect::<Vec<_>>()[..] {
        [1] => named(0),
        [scale @ 0..=8] => format!(",{},{scale}", named(0)),
        [1, 1] => format!("{},{}", named(0), named(1)),
        [1, scale @ 0..=8] => format!("{},{},{scale}", named(0), named(1)),
        _ => return None,
    };
    let offset = match (&reference.symbol, reference.offset as i64) {
        (_, 0) => String::new(),
        (Some(_), offset) => format!("{offset:+}"),
        (None, offset) => offset.to_string(),
    };
    Some(format!("{}{offset}({registers})", reference.symbol.as_deref().unwrap_or_default()))
}

/// `t+EBX*4-8`: name, registers and number, whatever there is.
fn sum(reference: &Reference, flavor: Flavor) -> String {
    let mut out = reference.symbol.clone().unwrap_or_default();
    for &(named, factor) in &reference.registers {
        let name = register(named, flavor);
        let plus = if out.is_empty() { "" } else { "+" };
        match factor as i64 {
            1 => out.push_str(&format!("{plus}{name}")),
            factor @ 0..=8 => out.push_str(&format!("{plus}{name}*{factor}")),
            factor if factor < 0 => out.push_str(&format!("{factor}*{name}")),
            factor => out.push_str(&format!("{plus}{factor}*{name}")),
        }
    }
    match reference.offset as i64 {
        offset if out.is_empty() => out.push_str(&offset.to_string()),
        0 => {}
        offset => out.push_str(&format!("{offset:+}")),
    }
    out
}
