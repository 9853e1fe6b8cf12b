//! Integer types of locations: values wrap at the width of the access.

use crate::names::Value;

/// How many bits a location has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Width {
    W8,
    W16,
    W32,
    #[default]
    W64,
}

impl Width {
    /// The number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// The number of bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }
}

/// An integer type. Registers hold 64 bits; a value of a narrower type is extended by its sign.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    pub width: Width,
    pub signed: bool,
}

impl Type {
    pub const U8: Type = Type { width: Width::W8, signed: false };
    pub const U16: Type = Type { width: Width::W16, signed: false };
    pub const U32: Type = Type { width: Width::W32, signed: false };
    pub const U64: Type = Type { width: Width::W64, signed: false };
    pub const I8: Type = Type { width: Width::W8, signed: true };
    pub const I16: Type = Type { width: Width::W16, signed: true };
    pub const I32: Type = Type { width: Width::W32, signed: true };
    pub const I64: Type = Type { width: Width::W64, signed: true };

    /// `value` as this type holds it, extended to 64 bits.
    #[must_use]
    pub fn wrap(self, value: Value) -> Value {
        let unused = 64 - self.width.bits();
        let raised = value << unused;
        if self.signed { ((raised as i64) >> unused) as Value } else { raised >> unused }
    }

    /// `value` in decimal, negative where the type is signed and the value is.
    #[must_use]
    pub fn show(self, value: Value) -> String {
        if self.signed { (value as i64).to_string() } else { value.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_at_the_width_and_extend_by_the_sign() {
        assert_eq!(Type::U8.wrap(0x1ff), 0xff);
        assert_eq!(Type::I8.wrap(0xff), u64::MAX);
        assert_eq!(Type::I32.show(Type::I32.wrap(0xffff_fffe)), "-2");
        assert_eq!(Type::U32.wrap(u64::MAX), 0xffff_ffff);
        assert_eq!(Type::U64.wrap(u64::MAX), u64::MAX);
        assert_eq!(Type::I64.wrap(7), 7);
    }
}
