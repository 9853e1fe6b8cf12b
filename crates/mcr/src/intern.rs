//! Small numbers for values, and for several values together, so that states are short and quickly compared.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rustc_hash::FxHasher;
use teetotal_program::Value;

/// Numbers things in the order in which they come.
pub(super) struct Interned<T> {
    numbers: HashMap<T, u32, BuildHasherDefault<FxHasher>>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { numbers: HashMap::default() }
    }
}

impl<T: std::hash::Hash + Eq> Interned<T> {
    /// The number of `thing`.
    pub(super) fn number(&mut self, thing: T) -> u32 {
        let next = u32::try_from(self.numbers.len()).expect("fewer than 2^32 different values are written");
        *self.numbers.entry(thing).or_insert(next)
    }

    /// The number of `thing`, if it has one.
    pub(super) fn find(&self, thing: &T) -> Option<u32> {
        self.numbers.get(thing).copied()
    }
}

/// Values by number; 0 is the value 0.
pub(super) struct Values {
    interned: Interned<Value>,
    values: Vec<Value>,
}

impl Values {
    pub(super) fn new() -> Self {
        let mut new = Values { interned: Interned::default(), values: Vec::new() };
        new.number(0);
        new
    }

    pub(super) fn number(&mut self, value: Value) -> u32 {
        let number = self.interned.number(value);
        if number as usize == self.values.len() {
            self.values.push(value);
        }
        number
    }

    pub(super) fn value(&self, number: u32) -> Value {
        self.values[number as usize]
    }
}
