//! The registers of x86: seventeen families, each with a name for every width.

use teetotal_program::Width;

/// A register as an instruction names it: some low part of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::litmus) struct Register {
    pub(in crate::litmus) family: Family,
    pub(in crate::litmus) width: Width,
}

/// A register of 64 bits with all its parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::litmus) struct Family(u8);

/// For each family its names, from 64 bits to 8.
const NAMES: [[&str; 4]; 17] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
    // The instruction pointer stays what the initial state says; it has no name for 8 bits.
    ["rip", "eip", "ip", "rip"],
];

const WIDTHS: [Width; 4] = [Width::W64, Width::W32, Width::W16, Width::W8];

impl Register {
    /// The register called `name`, in any case.
    pub(in crate::litmus) fn named(name: &str) -> Option<Register> {
        for (family, names) in NAMES.iter().enumerate() {
            if let Some(at) = names.iter().position(|known| known.eq_ignore_ascii_case(name)) {
                return Some(Register { family: Family(family as u8), width: WIDTHS[at] });
            }
        }
        None
    }

    /// Its name in lowercase.
    pub(in crate::litmus) fn name(self) -> &'static str {
        let at = WIDTHS.iter().position(|width| *width == self.width).expect("every width is listed");
        NAMES[usize::from(self.family.0)][at]
    }
}

impl Family {
    /// The accumulator, which `cmpxchg` uses.
    pub(in crate::litmus) const ACCUMULATOR: Family = Family(0);

    /// What outcomes call it in tests whose registers have this width.
    pub(in crate::litmus) fn name(self, full: Width) -> String {
        let names = NAMES[usize::from(self.0)];
        if full == Width::W64 { names[0].to_owned() } else { names[1].to_uppercase() }
    }
}

/// All names of registers.
pub(in crate::litmus) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flatten().copied()
}
