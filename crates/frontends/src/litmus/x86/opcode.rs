//! The instructions that are understood, by their mnemonics.

use teetotal_program::ir::{Expr, FetchOp};
use teetotal_program::{Order, Width};

/// What an instruction does, whatever its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Opcode {
    Move,
    /// Moves to a wider place; the width of the source where the mnemonic says it.
    Extend {
        signed: bool,
        from: Option<Width>,
    },
    Exchange,
    ExchangeAdd,
    CompareExchange,
    /// Two operands, the result replaces the first.
    Combine(FetchOp),
    /// One operand that is replaced.
    Change(Change),
    Shift(Shift),
    Compare,
    Test,
    Jump,
    Branch(Test),
    /// Sets a byte to 0 or 1.
    Set(Test),
    MoveIf(Test),
    /// Computes an address without using it.
    AddressOf,
    Fence(Order),
    Nothing,
    Return,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Change {
    Increment,
    Decrement,
    Negate,
    Complement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Shift {
    Left,
    Right,
    RightSigned,
}

/// A question to the flags, and whether it is to be denied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) struct Test {
    pub(in crate::litmus) flag: Flag,
    pub(in crate::litmus) denied: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) enum Flag {
    Zero,
    Negative,
    Overflow,
    Less,
    LessOrEqual,
    Below,
    BelowOrEqual,
}

const PLAIN: &[(&str, Opcode)] = &[
    ("mov", Opcode::Move),
    ("movabs", Opcode::Move),
    ("xchg", Opcode::Exchange),
    ("xadd", Opcode::ExchangeAdd),
    ("cmpxchg", Opcode::CompareExchange),
    ("add", Opcode::Combine(FetchOp::Add)),
    ("sub", Opcode::Combine(FetchOp::Subtract)),
    ("and", Opcode::Combine(FetchOp::And)),
    ("or", Opcode::Combine(FetchOp::Or)),
    ("xor", Opcode::Combine(FetchOp::Xor)),
    ("inc", Opcode::Change(Change::Increment)),
    ("dec", Opcode::Change(Change::Decrement)),
    ("neg", Opcode::Change(Change::Negate)),
    ("not", Opcode::Change(Change::Complement)),
    ("shl", Opcode::Shift(Shift::Left)),
    ("sal", Opcode::Shift(Shift::Left)),
    ("shr", Opcode::Shift(Shift::Right)),
    ("sar", Opcode::Shift(Shift::RightSigned)),
    ("cmp", Opcode::Compare),
    ("test", Opcode::Test),
    ("lea", Opcode::AddressOf),
    ("nop", Opcode::Nothing),
    ("ret", Opcode::Return),
];

/// Those that take no suffix.
const FIXED: &[(&str, Opcode)] = &[
    ("jmp", Opcode::Jump),
    ("mfence", Opcode::Fence(Order::SeqCst)),
    ("sfence", Opcode::Fence(Order::Release)),
    ("lfence", Opcode::Fence(Order::Acquire)),
    ("endbr64", Opcode::Nothing),
    ("endbr32", Opcode::Nothing),
    ("pause", Opcode::Nothing),
    ("movzx", Opcode::Extend { signed: false, from: None }),
    ("movsx", Opcode::Extend { signed: true, from: None }),
    ("movsxd", Opcode::Extend { signed: true, from: Some(Width::W32) }),
];

const TESTS: &[(&str, Flag, bool)] = &[
    ("e", Flag::Zero, false),
    ("z", Flag::Zero, false),
    ("ne", Flag::Zero, true),
    ("nz", Flag::Zero, true),
    ("s", Flag::Negative, false),
    ("ns", Flag::Negative, true),
    ("o", Flag::Overflow, false),
    ("no", Flag::Overflow, true),
    ("l", Flag::Less, false),
    ("nge", Flag::Less, false),
    ("ge", Flag::Less, true),
    ("nl", Flag::Less, true),
    ("le", Flag::LessOrEqual, false),
    ("ng", Flag::LessOrEqual, false),
    ("g", Flag::LessOrEqual, true),
    ("nle", Flag::LessOrEqual, true),
    ("b", Flag::Below, false),
    ("c", Flag::Below, false),
    ("nae", Flag::Below, false),
    ("ae", Flag::Below, true),
    ("nb", Flag::Below, true),
    ("nc", Flag::Below, true),
    ("be", Flag::BelowOrEqual, false),
    ("na", Flag::BelowOrEqual, false),
    ("a", Flag::BelowOrEqual, true),
    ("nbe", Flag::BelowOrEqual, true),
];

impl Opcode {
    /// The instruction called `mnemonic`, in any case, and the width that its suffix says.
    pub(in crate::litmus) fn named(mnemonic: &str) -> Option<(Opcode, Option<Width>)> {
        let mnemonic = mnemonic.to_ascii_lowercase();
        let plain = |name: &str| PLAIN.iter().find(|(known, _)| *known == name).map(|(_, opcode)| *opcode);
        if let Some(opcode) = plain(&mnemonic) {
            return Some((opcode, None));
        }
        if let Some((_, opcode)) = FIXED.iter().find(|(known, _)| *known == mnemonic) {
            return Some((*opcode, None));
        }
        if let Some(found) = extension(&mnemonic).or_else(|| tested(&mnemonic)) {
            return Some(found);
        }
        let (stem, width) = strip_suffix(&mnemonic)?;
        let conditional = || tested(stem).filter(|(opcode, _)| matches!(opcode, Opcode::MoveIf(_)));
        let opcode = plain(stem).or_else(|| conditional().map(|(opcode, _)| opcode))?;
        Some((opcode, Some(width)))
    }

    /// How the instruction is written, in lowercase: the first of its names, with the suffix for `width`.
    pub(in crate::litmus) fn mnemonic(self, width: Option<Width>) -> String {
        let test = |test: Test| {
            let found = TESTS.iter().find(|&&(_, flag, denied)| (flag, denied) == (test.flag, test.denied));
            found.expect("every flag can be asked and denied").0
        };
        let suffix = width.map_or("", suffix);
        match self {
            Opcode::Branch(asked) => format!("j{}", test(asked)),
            Opcode::Set(asked) => format!("set{}", test(asked)),
            Opcode::MoveIf(asked) => format!("cmov{}{suffix}", test(asked)),
            Opcode::Extend { signed, from: Some(from) } if width.is_some() => {
                format!("mov{}{}{suffix}", if signed { "s" } else { "z" }, self::suffix(from))
            }
            _ => {
                let named = PLAIN.iter().map(|row| (row, suffix)).chain(FIXED.iter().map(|row| (row, "")));
                let found = named.into_iter().find(|((_, opcode), _)| *opcode == self);
                let ((name, _), suffix) = found.expect("every other instruction has a row");
                format!("{name}{suffix}")
            }
        }
    }

    /// The names to choose from where one is misspelled.
    pub(in crate::litmus) fn names() -> impl Iterator<Item = &'static str> {
        PLAIN
            .iter()
            .chain(FIXED)
            .map(|(name, _)| *name)
            .chain(["movb", "movw", "movl", "movq", "je", "jne", "jl", "jg"])
    }

    /// How many operands it takes, or `None` for any number.
    pub(in crate::litmus) fn n_operands(self) -> Option<usize> {
        match self {
            Opcode::Nothing | Opcode::Return => None,
            Opcode::Fence(_) => Some(0),
            Opcode::Change(_) | Opcode::Jump | Opcode::Branch(_) | Opcode::Set(_) => Some(1),
            _ => Some(2),
        }
    }

    /// Whether `lock` may stand before it where its destination is in memory.
    pub(in crate::litmus) fn is_lockable(self) -> bool {
        matches!(
            self,
            Opcode::Exchange | Opcode::ExchangeAdd | Opcode::CompareExchange | Opcode::Combine(_) | Opcode::Change(_)
        )
    }

    /// What it asks the flags, if it does.
    pub(in crate::litmus) fn test(self) -> Option<Test> {
        match self {
            Opcode::Branch(test) | Opcode::Set(test) | Opcode::MoveIf(test) => Some(test),
            _ => None,
        }
    }

    /// Whether its operand is a label.
    pub(in crate::litmus) fn jumps(self) -> bool {
        matches!(self, Opcode::Jump | Opcode::Branch(_))
    }
}

/// `combine` of two expressions.
pub(in crate::litmus) fn combined(op: FetchOp, left: Expr, right: Expr) -> Expr {
    match op {
        FetchOp::Subtract => left.minus(right),
        FetchOp::And => left.bit_and(right),
        FetchOp::Or => left.bit_or(right),
        FetchOp::Xor => left.bit_xor(right),
        _ => left.plus(right),
    }
}

const SUFFIXES: [(&str, Width); 4] = [("b", Width::W8), ("w", Width::W16), ("l", Width::W32), ("q", Width::W64)];

fn strip_suffix(mnemonic: &str) -> Option<(&str, Width)> {
    SUFFIXES.iter().find_map(|&(suffix, width)| Some((mnemonic.strip_suffix(suffix)?, width)))
}

fn suffix(width: Width) -> &'static str {
    SUFFIXES.iter().find(|(_, known)| *known == width).expect("every width has a suffix").0
}

/// `movzbl`, `movslq` and their kin.
fn extension(mnemonic: &str) -> Option<(Opcode, Option<Width>)> {
    let (widths, signed) = match (mnemonic.strip_prefix("movz"), mnemonic.strip_prefix("movs")) {
        (Some(widths), _) => (widths, false),
        (_, Some(widths)) => (widths, true),
        _ => return None,
    };
    let (from, to) = strip_suffix(widths)?;
    let (rest, from) = strip_suffix(from)?;
    (rest.is_empty() && from < to).then_some((Opcode::Extend { signed, from: Some(from) }, Some(to)))
}

/// `je`, `sete`, `cmove` and their kin.
fn tested(mnemonic: &str) -> Option<(Opcode, Option<Width>)> {
    let test = |code: &str| {
        let found = TESTS.iter().find(|(known, ..)| *known == code);
        found.map(|&(_, flag, denied)| Test { flag, denied })
    };
    let opcode = if let Some(code) = mnemonic.strip_prefix("cmov") {
        Opcode::MoveIf(test(code)?)
    } else if let Some(code) = mnemonic.strip_prefix("set") {
        return Some((Opcode::Set(test(code)?), Some(Width::W8)));
    } else {
        Opcode::Branch(test(mnemonic.strip_prefix('j')?)?)
    };
    Some((opcode, None))
}
