//! Addresses: how an instruction names a location, and which number the address of a location is.

use crate::ir::expr::{EvalError, Expr};
use crate::ir::program::LocationInfo;
use crate::names::{Loc, Value};
use crate::subject::{Failure, LocSet};

/// The location that an instruction uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Address {
    /// Always the same one.
    Static(Loc),
    /// An element of the array of `length` locations from `base` on.
    Indexed { base: Loc, length: u32, index: Expr },
    /// The location whose address is this value.
    Computed(Expr),
}

impl Address {
    /// The location with these registers, or what is wrong with it at `instruction`.
    #[inline]
    pub(super) fn resolve(&self, map: &AddressMap, registers: &[Value], instruction: u32) -> Result<Loc, Failure> {
        match self {
            Address::Static(loc) => Ok(*loc),
            Address::Indexed { base, length, index } => {
                let index = eval(index, registers, instruction)?;
                if index < u64::from(*length) {
                    Ok(Loc(base.0 + index as u32))
                } else {
                    Err(Failure::BadIndex { instruction })
                }
            }
            Address::Computed(address) => {
                let address = eval(address, registers, instruction)?;
                map.location(address).ok_or(Failure::BadAddress { instruction })
            }
        }
    }

    /// Every location that it may name.
    pub(super) fn range(&self) -> LocSet {
        match self {
            Address::Static(loc) => LocSet::of(*loc),
            Address::Indexed { base, length, .. } => LocSet::run(*base, *length),
            Address::Computed(_) => LocSet::ALL,
        }
    }
}

fn eval(expr: &Expr, registers: &[Value], instruction: u32) -> Result<Value, Failure> {
    expr.eval(registers, 0).map_err(|EvalError::DivisionByZero| Failure::DivisionByZero { instruction })
}

impl From<Loc> for Address {
    fn from(loc: Loc) -> Self {
        Address::Static(loc)
    }
}

/// The addresses of all locations: numbers of bytes, aligned to the width, elements of an array side by side.
///
/// The first is at [`AddressMap::BASE`], so that 0 is no location's and the low bits can carry marks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AddressMap {
    addresses: Vec<Value>,
    /// For each eight bytes from `BASE` on, the first location that begins there or later.
    first_at_or_after: Vec<u32>,
}

impl AddressMap {
    /// The address of the first location.
    pub const BASE: Value = 0x1000;

    /// Lays out `locations` in order; one that starts an array or stands alone begins at a multiple of eight bytes.
    pub(super) fn new(locations: &[LocationInfo]) -> Self {
        let mut addresses = Vec::with_capacity(locations.len());
        let mut first_at_or_after = Vec::new();
        let mut next = Self::BASE;
        for (index, location) in locations.iter().enumerate() {
            if location.element.is_none_or(|element| element == 0) {
                next = next.next_multiple_of(8);
            }
            let slot = ((next - Self::BASE) / 8) as usize;
            while first_at_or_after.len() <= slot {
                first_at_or_after.push(index as u32);
            }
            addresses.push(next);
            next += location.ty.width.bytes();
        }
        AddressMap { addresses, first_at_or_after }
    }

    /// The address of `loc`.
    #[must_use]
    pub fn address(&self, loc: Loc) -> Value {
        self.addresses[loc.index()]
    }

    /// The location that begins at `address`, if one does.
    #[must_use]
    pub fn location(&self, address: Value) -> Option<Loc> {
        let slot = usize::try_from(address.checked_sub(Self::BASE)? / 8).ok()?;
        let first = *self.first_at_or_after.get(slot)? as usize;
        let candidates = &self.addresses[first..self.addresses.len().min(first + 8)];
        candidates.iter().position(|&a| a == address).map(|offset| Loc::at(first + offset))
    }
}
