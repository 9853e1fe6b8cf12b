//! Numbers for the names in a trace.

use rustc_hash::FxHashMap;

/// Which name has which number, in the order in which they appear.
#[derive(Debug, Default)]
pub(super) struct Registry {
    numbers: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl Registry {
    /// The number of a name that is known.
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of a name; one that is new gets the next.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        match self.get(name) {
            Some(number) => number,
            None => self.add(name),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// A name as text.
    pub(super) fn name(&self, number: usize) -> String {
        self.names.get(number).map_or_else(String::new, |name| shown(name))
    }
}

/// Bytes of a trace as text for people.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
